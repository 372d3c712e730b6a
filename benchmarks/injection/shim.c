// Preloaded: asks a hook before each call of the C library that may fail, and fails with the error that it returns.
//
// The hook is Python's (hook.py). It is asked in one process only, never in its forks, and not about what it calls
// itself. Calls on files count only below one folder, so that imports and libraries of the system never fail.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

typedef int (*hook_function)(const char *kind, const char *path);

static hook_function hook;
static pid_t owner;
static char root[4096];
static __thread int inside;
static __thread const char *refusal;

void faults_arm(hook_function function, const char *folder) {
    snprintf(root, sizeof root, "%s", folder);
    owner = getpid();
    hook = function;
}

static int asked(const char *kind, const char *path) {
    if (!hook || inside || getpid() != owner) return 0;
    int saved = errno;
    inside = 1;
    int error = hook(kind, path);
    inside = 0;
    errno = error ? error : saved;
    return error;
}

static int below(const char *path) { return path && *root && !strncmp(path, root, strlen(root)); }

static int path_fails(const char *kind, const char *path) { return hook && below(path) && asked(kind, path); }

static int file_fails(const char *kind, int file) {
    if (!hook || inside || file < 0) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    int saved = errno;
    ssize_t n = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (n < 0) return 0;
    path[n] = 0;
    return path_fails(kind, path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define REAL(name)                              \
    static __typeof__(&name) real;              \
    if (!real) real = NEXT(name)

#define OPENS(name)                                                                                 \
    int name(const char *path, int flags, ...) {                                                    \
        REAL(name);                                                                                 \
        va_list rest;                                                                               \
        va_start(rest, flags);                                                                      \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                     \
        va_end(rest);                                                                               \
        if (path_fails(flags & (O_WRONLY | O_RDWR | O_CREAT) ? "open" : "read", path)) return -1;   \
        return real(path, flags, mode);                                                             \
    }
OPENS(open)
OPENS(open64)

#define ON_FILE(kind, type, name, parameters, ...)        \
    type name parameters {                                \
        REAL(name);                                       \
        return file_fails(kind, file) ? -1 : real(__VA_ARGS__); \
    }
ON_FILE("write", ssize_t, write, (int file, const void *data, size_t n), file, data, n)
ON_FILE("write", ssize_t, pwrite, (int file, const void *data, size_t n, off_t at), file, data, n, at)
ON_FILE("write", ssize_t, pwrite64, (int file, const void *data, size_t n, off64_t at), file, data, n, at)
ON_FILE("write", ssize_t, writev, (int file, const struct iovec *data, int n), file, data, n)
ON_FILE("write", int, ftruncate, (int file, off_t size), file, size)
ON_FILE("write", int, ftruncate64, (int file, off64_t size), file, size)
ON_FILE("fsync", int, fsync, (int file), file)
ON_FILE("fsync", int, fdatasync, (int file), file)
ON_FILE("lock", int, flock, (int file, int operation), file, operation)

ON_FILE("write", ssize_t, sendfile, (int file, int from, off_t *at, size_t n), file, from, at, n)
ON_FILE("write", ssize_t, sendfile64, (int file, int from, off64_t *at, size_t n), file, from, at, n)

int rename(const char *from, const char *to) {
    REAL(rename);
    return path_fails("rename", to) ? -1 : real(from, to);
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    return path_fails("mkdir", path) ? -1 : real(path, mode);
}

int chmod(const char *path, mode_t mode) {
    REAL(chmod);
    return path_fails("chmod", path) ? -1 : real(path, mode);
}

pid_t fork(void) {
    REAL(fork);
    return asked("fork", "") ? -1 : real();
}

int pipe2(int files[2], int flags) {
    REAL(pipe2);
    return asked("pipe", "") ? -1 : real(files, flags);
}

int socketpair(int domain, int type, int protocol, int files[2]) {
    REAL(socketpair);
    return asked("pipe", "") ? -1 : real(domain, type, protocol, files);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data) {
    REAL(pthread_create);
    int error = asked("thread", "");
    return error ? error : real(thread, attributes, run, data);
}

#define MAPS(name, offset)                                                                     \
    void *name(void *place, size_t size, int protection, int flags, int file, offset at) {     \
        REAL(name);                                                                            \
        int anonymous = file < 0 && flags & MAP_NORESERVE;                                     \
        if (anonymous ? asked("mmap", "") : file_fails("mmap", file)) return MAP_FAILED;       \
        return real(place, size, protection, flags, file, at);                                 \
    }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

void *dlopen(const char *path, int mode) {
    REAL(dlopen);
    if (path_fails("load", path)) {
        refusal = "cannot allocate memory";
        return NULL;
    }
    return real(path, mode);
}

char *dlerror(void) {
    REAL(dlerror);
    const char *text = refusal;
    refusal = NULL;
    return text ? (char *)text : real();
}
