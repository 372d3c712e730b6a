// The functions of korch_shapes.h over the table of programs above; those of korch.h call the program's library.

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KORCH_FUNCTIONS(X)                                                                                             \
    X(int, korch_run, (korch_model * m, const void *const *in, void *const *out), (m->own, in, out))                   \
    X(const char *, korch_error, (const korch_model *m), (m->own))                                                     \
    X(int, korch_input_count, (const korch_model *m), (m->own))                                                        \
    X(int, korch_output_count, (const korch_model *m), (m->own))                                                       \
    X(const char *, korch_input_name, (const korch_model *m, int i), (m->own, i))                                      \
    X(const char *, korch_output_name, (const korch_model *m, int i), (m->own, i))                                     \
    X(const char *, korch_input_dtype, (const korch_model *m, int i), (m->own, i))                                     \
    X(const char *, korch_output_dtype, (const korch_model *m, int i), (m->own, i))                                    \
    X(const int64_t *, korch_input_shape, (const korch_model *m, int i, int *rank), (m->own, i, rank))                 \
    X(const int64_t *, korch_output_shape, (const korch_model *m, int i, int *rank), (m->own, i, rank))                \
    X(size_t, korch_input_bytes, (const korch_model *m, int i), (m->own, i))                                           \
    X(size_t, korch_output_bytes, (const korch_model *m, int i), (m->own, i))                                          \
    X(size_t, korch_arena_bytes, (const korch_model *m), (m->own))                                                     \
    X(int, korch_step_count, (const korch_model *m), (m->own))                                                         \
    X(int, korch_profile,                                                                                              \
      (korch_model * m, const void *const *in, void *const *out, double *seconds, int runs),                           \
      (m->own, in, out, seconds, runs))                                                                                \
    X(int, korch_profile_lost,                                                                                         \
      (korch_model * m, const void *const *in, void *const *out, double *seconds, double *lost, int runs),             \
      (m->own, in, out, seconds, lost, runs))                                                                          \
    X(int, korch_host_step_count, (const korch_model *m), (m->own))                                                    \
    X(int, korch_iterate,                                                                                              \
      (korch_model * m, const korch_loop *loop, const void **in, void **out, int64_t first, int64_t last, int64_t *done, \
       int *more),                                                                                                     \
      (m->own, loop, in, out, first, last, done, more))                                                                \
    X(void, korch_set_host, (korch_model * m, korch_host host, void *context), (m->own, host, context))

#define KORCH_FIELD(result, name, parameters, arguments) result(*name) parameters;

// A program: the model that its own library has opened, and the functions of that library.
struct korch_model {
    void *library;
    korch_model *own;
    void (*korch_close)(korch_model *);
    KORCH_FUNCTIONS(KORCH_FIELD)
};

#define KORCH_CALL(result, name, parameters, arguments)                                                                \
    result name parameters { return m->name arguments; }
KORCH_FUNCTIONS(KORCH_CALL)

struct korch_shapes {
    char *folder;
    int threads;
    pthread_mutex_t lock;
    void *pool;  // of packed constants: that of the first library
    korch_model programs[KORCH_PROGRAMS];
};

static void korch_say(char *error, size_t bytes, const char *format, ...) {
    if (!error || !bytes) return;
    va_list args;
    va_start(args, format);
    vsnprintf(error, bytes, format, args);
    va_end(args);
}

static char *korch_path(const korch_shapes *shapes, const char *name) {
    size_t bytes = strlen(shapes->folder) + strlen(name) + 2;
    char *path = malloc(bytes);
    if (path) snprintf(path, bytes, "%s/%s", shapes->folder, name);
    return path;
}

// Finds a function of a library; 1 where it has none of the name.
static int korch_look_up(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return !found;
}

static void korch_share_pool(korch_shapes *shapes, void *library) {
    void *(*get)(void);
    void (*set)(void *);
    if (korch_look_up(library, "korch_get_pool_1", &get) || korch_look_up(library, "korch_set_pool_1", &set)) return;
    if (!shapes->pool) shapes->pool = get();
    set(shapes->pool);
}

static int korch_load(korch_shapes *shapes, int number, char *error, size_t n) {
    korch_model *m = &shapes->programs[number];
    const korch_program *program = &korch_programs[number];
    char *file = korch_path(shapes, program->library), *weights = korch_path(shapes, program->weights);
    korch_model *(*open)(const char *, int, char *, size_t) = NULL;
    int missing = 0;
    if (!m->library && file) m->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!file || !weights) {
        korch_say(error, n, "no memory for a path");
    } else if (!m->library) {
        korch_say(error, n, "cannot load %s: %s", file, dlerror());
    } else {
#define KORCH_FIND(result, name, parameters, arguments) missing |= korch_look_up(m->library, #name, &m->name);
        KORCH_FUNCTIONS(KORCH_FIND)
        missing |= korch_look_up(m->library, "korch_close", &m->korch_close);
        missing |= korch_look_up(m->library, "korch_open", &open);
        if (missing) korch_say(error, n, "%s is no model of this version", file);
        korch_share_pool(shapes, m->library);
        if (!missing) m->own = open(weights, shapes->threads, error, n);
    }
    free(file);
    free(weights);
    return !m->own;
}

static int korch_fits(const korch_program *program, const int64_t *const *lengths) {
    for (int i = 0; i < KORCH_INPUTS; ++i)
        for (int k = 0; k < korch_ranks[i]; ++k)
            if (program->shapes[i][k] != lengths[i][k]) return 0;
    return 1;
}

korch_model *korch_shapes_find(korch_shapes *shapes, const int64_t *const *lengths, char *error, size_t error_bytes) {
    korch_say(error, error_bytes, "%s", "");
    int number = 0;
    while (number < KORCH_PROGRAMS && !korch_fits(&korch_programs[number], lengths)) ++number;
    if (number == KORCH_PROGRAMS) return NULL;
    pthread_mutex_lock(&shapes->lock);
    korch_model *m = &shapes->programs[number];
    int status = m->own ? 0 : korch_load(shapes, number, error, error_bytes);
    pthread_mutex_unlock(&shapes->lock);
    return status ? NULL : m;
}

korch_shapes *korch_shapes_open(const char *folder, int threads, char *error, size_t error_bytes) {
    korch_say(error, error_bytes, "%s", "");
    korch_shapes *shapes = calloc(1, sizeof *shapes);
    char *own = strdup(folder);
    if (!shapes || !own) {
        korch_say(error, error_bytes, "no memory for the model");
        free(shapes);
        free(own);
        return NULL;
    }
    shapes->folder = own;
    shapes->threads = threads;
    pthread_mutex_init(&shapes->lock, NULL);
    return shapes;
}

int korch_shapes_count(const korch_shapes *shapes) {
    (void)shapes;
    return KORCH_PROGRAMS;
}

void korch_shapes_close(korch_shapes *shapes) {
    if (!shapes) return;
    for (int i = 0; i < KORCH_PROGRAMS; ++i)  // libraries stay loaded: OpenMP's threads may still be in them
        if (shapes->programs[i].own) shapes->programs[i].korch_close(shapes->programs[i].own);
    pthread_mutex_destroy(&shapes->lock);
    free(shapes->folder);
    free(shapes);
}
