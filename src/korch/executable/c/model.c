// The public functions of a linked model (korch.h) over the tables and kernels above.

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KORCH_WATCH 250e-6  // seconds between two looks at a thread's own time
enum { KORCH_ERROR_BYTES = 512, KORCH_HUGE_PAGE = 1 << 21, KORCH_COPY_CHUNK = 1 << 18 };

typedef struct {
    char *base;
    size_t bytes;
} korch_mapping;

struct korch_model {
    pthread_mutex_t turn;
    int threads, guarded;
    char *arena, *staging;  // staging: aligned stand-ins for the caller's buffers, untouched (and free) until needed
    const char *weights;
    korch_mapping arena_mapping, staging_mapping;
    const void *pointers[KORCH_PLACE_COUNT + 1];
    void *states[KORCH_STEP_COUNT + 1];
    const void *inputs[KORCH_INPUT_COUNT + 1];
    void *outputs[KORCH_OUTPUT_COUNT + 1];
    korch_host host;
    void *context;
    int stretch_ends[KORCH_STEP_COUNT + 1];
    int opened;  // steps whose kernels are initialised
    char error[KORCH_ERROR_BYTES];
};

// What OpenMP keeps for each calling thread: how many threads its regions have, and whether they may get fewer.
typedef struct {
    int threads, dynamic;
} korch_setting;

static korch_setting korch_setting_now(void) {
#ifdef _OPENMP
    return (korch_setting){omp_get_max_threads(), omp_get_dynamic()};
#else
    return (korch_setting){1, 0};
#endif
}

static void korch_use(korch_setting s) {
#ifdef _OPENMP
    if (omp_get_max_threads() != s.threads) omp_set_num_threads(s.threads);
    if (omp_get_dynamic() != s.dynamic) omp_set_dynamic(s.dynamic);
#else
    (void)s;
#endif
}

// Lets regions have `threads` threads, and no fewer: libraries share their work out before they know who comes, and the
// part of a thread that does not come would stay undone. The result is for `korch_use` behind.
static korch_setting korch_use_threads(int threads) {
    korch_setting before = korch_setting_now();
    korch_use((korch_setting){threads, 0});
    return before;
}

// Of the threads that are asked for, those that OpenMP would start.
static int korch_allowed_threads(int threads) {
#ifdef _OPENMP
    return KORCH_MIN(threads, omp_get_thread_limit());
#else
    return threads;
#endif
}

static void korch_say(char *error, size_t bytes, const char *format, ...) {
    if (!error || !bytes) return;
    va_list args;
    va_start(args, format);
    vsnprintf(error, bytes, format, args);
    va_end(args);
}

// Whether KORCH_GUARD is set: the arena lies between guard pages, and is filled with NaN before each run. A kernel that
// goes beyond it ends the process; reads of uninitialised memory show in the outputs.
static int korch_is_guarded(void) {
    const char *set = getenv("KORCH_GUARD");
    return set && *set && strcmp(set, "0");
}

// Zeroed memory that ends where a guard page begins. NULL if there is no room.
static char *korch_map_guarded(size_t bytes, korch_mapping *mapping) {
    const size_t page = sysconf(_SC_PAGESIZE), alignment = KORCH_BUFFER_ALIGNMENT;
    const size_t used = (bytes + alignment - 1) / alignment * alignment, whole = (used + page - 1) / page * page;
    char *base = mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return NULL;
    *mapping = (korch_mapping){base, whole + 2 * page};
    return mprotect(base + page, whole, PROT_READ | PROT_WRITE) ? NULL : base + page + whole - used;
}

// Zeroed pages at a multiple of a huge page; only what is touched takes memory. NULL if there is no room.
static char *korch_map(size_t bytes, korch_mapping *mapping) {
    size_t whole = (bytes + 2 * (size_t)KORCH_HUGE_PAGE) / KORCH_HUGE_PAGE * KORCH_HUGE_PAGE;
    size_t reserve = whole + KORCH_HUGE_PAGE;
    char *base = mmap(NULL, reserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return NULL;
    size_t skip = -(uintptr_t)base % KORCH_HUGE_PAGE;
    if (skip) munmap(base, skip);
    if (reserve - skip > whole) munmap(base + skip + whole, reserve - skip - whole);
#ifdef MADV_HUGEPAGE
    const size_t huge = (bytes + KORCH_HUGE_PAGE / 2) / KORCH_HUGE_PAGE * KORCH_HUGE_PAGE;  // less would be half empty
    if (huge) madvise(base + skip, huge, MADV_HUGEPAGE);
#endif
    *mapping = (korch_mapping){base + skip, whole};
    return base + skip;
}

// Lets go of the weights' pages: who reads some again fetches them back from the file.
static void korch_unload_weights(const korch_model *m) {
    madvise((void *)m->weights, KORCH_WEIGHTS_BYTES, MADV_DONTNEED);
}

static int korch_map_weights(korch_model *m, const char *path, char *error, size_t n) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return korch_say(error, n, "cannot open the weights %s: %s", path, strerror(errno)), 1;
    struct stat about;
    int status = fstat(file, &about);
    if (status || (uint64_t)about.st_size != KORCH_WEIGHTS_BYTES) {
        close(file);
        return korch_say(error, n, "the weights %s have %lld bytes; this model's have %lld", path,
                         status ? -1LL : (long long)about.st_size, (long long)KORCH_WEIGHTS_BYTES), 1;
    }
    void *data = mmap(NULL, KORCH_WEIGHTS_BYTES, PROT_READ, MAP_PRIVATE, file, 0);
    int reason = errno;
    close(file);
    if (data == MAP_FAILED) return korch_say(error, n, "cannot map the weights %s: %s", path, strerror(reason)), 1;
    m->weights = data;
    if (korch_checksum(data, KORCH_WEIGHTS_BYTES) != KORCH_WEIGHTS_CHECKSUM)
        return korch_say(error, n, "the weights %s are not this model's, or damaged", path), 1;
    korch_unload_weights(m);
    return 0;
}

static int korch_allocate(korch_model *m, char *error, size_t n) {
    char *(*map)(size_t, korch_mapping *) = m->guarded ? korch_map_guarded : korch_map;
    m->arena = map(KORCH_ARENA_BYTES, &m->arena_mapping);
    size_t staged = 0;
    for (int i = 0; i < KORCH_INPUT_COUNT; ++i) staged += korch_inputs[i].bytes + KORCH_BUFFER_ALIGNMENT;
    for (int i = 0; i < KORCH_OUTPUT_COUNT; ++i) staged += korch_outputs[i].bytes + KORCH_BUFFER_ALIGNMENT;
    m->staging = map(staged, &m->staging_mapping);
    if (m->arena && m->staging) return 0;
    return korch_say(error, n, "no memory for an arena of %lld bytes", (long long)KORCH_ARENA_BYTES), 1;
}

static int korch_init_step(korch_model *m, int number, char *error, size_t n) {
    const korch_step *step = &korch_steps[number];
    if (step->work != KORCH_KERNEL || !korch_kernels[step->kernel].init) return 0;
    const void *constants[KORCH_MOST_READS + 1];
    for (int i = 0; i < step->reads; ++i)
        constants[i] = korch_places[step->first + i].room == KORCH_WEIGHTS ? m->pointers[step->first + i] : NULL;
    int status = korch_kernels[step->kernel].init(&m->states[number], constants);
    if (status) korch_say(error, n, "the kernel of step %d (%s) failed to start: status %d", number,
                          korch_step_names[number], status);
    return status;
}

// The pointers that no run changes.
static void korch_point(korch_model *m) {
    for (int i = 0; i < KORCH_PLACE_COUNT; ++i) {
        const korch_place *p = &korch_places[i];
        if (p->room == KORCH_ARENA) m->pointers[i] = m->arena + p->at;
        if (p->room == KORCH_WEIGHTS) m->pointers[i] = m->weights + p->at;
    }
}

static int korch_prepare(korch_model *m, const char *weights_path, char *error, size_t n) {
    m->guarded = korch_is_guarded();
    if (korch_map_weights(m, weights_path, error, n) || korch_allocate(m, error, n)) return 1;
    korch_point(m);
    korch_setting before = korch_use_threads(m->threads);
    int status = 0;
    for (; !status && m->opened < KORCH_STEP_COUNT; m->opened += !status) {
        status = korch_init_step(m, m->opened, error, n);
        korch_unload_weights(m);  // kernel by kernel: what is packed must never lie here twice as a whole
    }
    korch_use(before);
#ifdef __GLIBC__
    if (korch_freed) malloc_trim(0);  // else the heap keeps what was packed in vain
#endif
    return status;
}

static void korch_release(korch_model *m) {
    for (int i = 0; i < m->opened; ++i)
        if (korch_steps[i].work == KORCH_KERNEL && korch_kernels[korch_steps[i].kernel].free)
            korch_kernels[korch_steps[i].kernel].free(m->states[i]);
    if (m->arena_mapping.base) munmap(m->arena_mapping.base, m->arena_mapping.bytes);
    if (m->staging_mapping.base) munmap(m->staging_mapping.base, m->staging_mapping.bytes);
    if (m->weights) munmap((void *)m->weights, KORCH_WEIGHTS_BYTES);
    pthread_mutex_destroy(&m->turn);
    free(m);
#ifdef __GLIBC__
    malloc_trim(0);  // else it keeps packed weights between what others still hold
#endif
}

static korch_callers korch_callers_of(int number) {
    const korch_step *step = &korch_steps[number];
    if (step->work == KORCH_KERNEL) return korch_kernels[step->kernel].callers;
    return step->work == KORCH_IDLE ? KORCH_SINGLE : KORCH_OPENS;
}

// For each step, where the stretch ends that a team can run from there without leaving its parallel region.
static void korch_find_stretches(korch_model *m) {
    for (int i = KORCH_STEP_COUNT - 1, end = 0; i >= 0; --i) {
        korch_callers callers = korch_callers_of(i);
        if (callers == KORCH_OPENS) end = 0;
        if (callers == KORCH_TEAM && !end) end = i + 1;
        m->stretch_ends[i] = end ? end : i;
    }
}

korch_model *korch_open(const char *weights_path, int threads, char *error, size_t error_bytes) {
    korch_say(error, error_bytes, "");
    korch_model *m = calloc(1, sizeof *m);
    if (!m) return korch_say(error, error_bytes, "no memory for the model"), NULL;
    pthread_mutex_init(&m->turn, NULL);
    m->threads = korch_allowed_threads(threads > 0 ? threads : KORCH_THREADS);
    korch_find_stretches(m);
    if (!korch_prepare(m, weights_path, error, error_bytes)) return m;
    korch_release(m);
    return NULL;
}

void korch_close(korch_model *m) {
    if (m) korch_release(m);
}

static void korch_move(void *to, const void *from, size_t bytes) {
#pragma omp parallel for schedule(static) if (bytes > 2 * KORCH_COPY_CHUNK)
    for (size_t at = 0; at < bytes; at += KORCH_COPY_CHUNK)
        memcpy((char *)to + at, (const char *)from + at, KORCH_MIN(bytes - at, (size_t)KORCH_COPY_CHUNK));
}

static char *korch_next_stage(char **at, size_t bytes) {
    char *stage = *at;
    *at += (bytes + KORCH_BUFFER_ALIGNMENT - 1) / KORCH_BUFFER_ALIGNMENT * KORCH_BUFFER_ALIGNMENT;
    return stage;
}

// Takes the caller's buffers, or aligned stand-ins for those that kernels cannot use.
static int korch_bind(korch_model *m, const void *const *inputs, void *const *outputs) {
    char *stage = m->staging;
    for (int i = 0; i < KORCH_INPUT_COUNT; ++i) {
        char *aligned = korch_next_stage(&stage, korch_inputs[i].bytes);
        if (korch_inputs[i].bytes && !inputs[i])
            return korch_say(m->error, sizeof m->error, "input %s is NULL", korch_inputs[i].name), 1;
        int usable = inputs[i] && (uintptr_t)inputs[i] % KORCH_INPUT_ALIGNMENT == 0;
        if (!usable) korch_move(aligned, inputs[i], korch_inputs[i].bytes);
        m->inputs[i] = usable ? inputs[i] : aligned;
    }
    for (int i = 0; i < KORCH_OUTPUT_COUNT; ++i) {
        char *aligned = korch_next_stage(&stage, korch_outputs[i].bytes);
        if (korch_outputs[i].bytes && !outputs[i])
            return korch_say(m->error, sizeof m->error, "output %s is NULL", korch_outputs[i].name), 1;
        m->outputs[i] = outputs[i] && (uintptr_t)outputs[i] % KORCH_BUFFER_ALIGNMENT == 0 ? outputs[i] : aligned;
    }
    for (int k = 0; k < KORCH_PORT_USE_COUNT; ++k) {
        const korch_place *p = &korch_places[korch_port_uses[k]];
        m->pointers[korch_port_uses[k]] = p->room == KORCH_INPUT ? m->inputs[p->at] : m->outputs[p->at];
    }
    return 0;
}

static const void *korch_where(const korch_model *m, korch_place p) {
    switch (p.room) {
        case KORCH_ARENA: return m->arena + p.at;
        case KORCH_WEIGHTS: return m->weights + p.at;
        case KORCH_INPUT: return m->inputs[p.at];
        default: return m->outputs[p.at];
    }
}

// The copies that aliases of inputs and of other outputs need, and those out of stand-ins.
static void korch_finish(korch_model *m, void *const *outputs) {
    for (int i = 0; i < KORCH_COPY_COUNT; ++i)
        korch_move(m->outputs[korch_copies[i].output], korch_where(m, korch_copies[i].from), korch_copies[i].bytes);
    for (int i = 0; i < KORCH_OUTPUT_COUNT; ++i)
        if (m->outputs[i] != outputs[i] && outputs[i]) korch_move(outputs[i], m->outputs[i], korch_outputs[i].bytes);
}

static int korch_run_host(korch_model *m, int number, const void *const *in, void *out) {
    if (!m->host)
        return korch_say(m->error, sizeof m->error, "step %d (%s) needs a host: call korch_set_host", number,
                         korch_step_names[number]), 1;
    int status = m->host(m->context, number, in, out);
    if (status) korch_say(m->error, sizeof m->error, "the host failed in step %d (%s): status %d", number,
                          korch_step_names[number], status);
    return status;
}

static int korch_refuse_index(korch_model *m, int number) {
    return korch_say(m->error, sizeof m->error, "step %d (%s) was given an index outside of the axis that it indexes",
                     number, korch_step_names[number]), 1;
}

// The first step of a stretch in which a call of a library failed, or an index was outside of its axis (status 0),
// whichever thread found that.
typedef struct {
    int found, status, number;
} korch_fault;

static void korch_note_fault(korch_fault *fault, int number) {
    if (!korch_failure && !korch_out_of_range) return;
#pragma omp critical(korch_fault)
    if (!fault->found || number < fault->number) *fault = (korch_fault){1, korch_failure, number};
    korch_failure = korch_out_of_range = 0;
}

static int korch_refuse(korch_model *m, korch_fault fault) {
    if (!fault.status) return korch_refuse_index(m, fault.number);
    return korch_say(m->error, sizeof m->error, "the library that runs step %d (%s) failed: status %d", fault.number,
                     korch_step_names[fault.number], fault.status), 1;
}

static void korch_run_kernel(korch_model *m, int number) {
    const korch_step *step = &korch_steps[number];
    const void *const *in = m->pointers + step->first;
    if (step->work == KORCH_KERNEL)
        korch_kernels[step->kernel].run(m->states[number], in, (void *)in[step->reads], m->arena + step->workspace);
}

// Where a run that is profiled writes when each step ended, and for each step the largest share of the time around it in
// which a thread did not have its processor; NULL where nobody asks. A step begins when the one before has ended.
typedef struct {
    double *ends, *lost;
} korch_clock;

static double *korch_end_of(const korch_clock *clock, int step) { return clock->ends ? &clock->ends[step] : NULL; }

static void korch_tick(const korch_clock *clock, int step) {
    if (clock->ends) clock->ends[step] = korch_now();
}

// Of one thread: when it last looked how much of the time it had its processor, and the first step since then.
typedef struct {
    korch_times then;
    int step;
} korch_watch;

static korch_watch korch_watch_from(const korch_clock *clock, int step) {
    korch_watch watch = {{0, 0}, step};
    if (clock->lost) watch.then = korch_times_now();
    return watch;
}

// Looks again behind `step` where that is worth while: a look takes a microsecond.
static void korch_look(const korch_clock *clock, korch_watch *watch, int step, int last) {
    if (!clock->lost || (!last && korch_now() - watch->then.wall < KORCH_WATCH)) return;
    const double lost = korch_lost_since(watch->then);
#pragma omp critical(korch_lost)
    for (int i = watch->step; i <= step; ++i)
        if (lost > clock->lost[i]) clock->lost[i] = lost;
    *watch = korch_watch_from(clock, step + 1);
}

// Steps `from` to `to` - 1. One thread takes the kernels for one; the others need not wait before the next of these.
// Kernels have parts for KORCH_THREADS threads: fewer share them out, more would find none.
static int korch_run_team(korch_model *m, int from, int to, const korch_clock *clock) {
    korch_meeting meeting = {0};
    korch_fault fault = {0};
    korch_share shares[KORCH_THREADS] = {0};
#pragma omp parallel num_threads(m->threads < KORCH_THREADS ? m->threads : KORCH_THREADS)
    {
        korch_shares = shares;
        korch_watch watch = korch_watch_from(clock, from);
        for (int i = from; i < to; ++i) {
            int team = korch_callers_of(i) == KORCH_TEAM, first = korch_thread_number() == 0;
            korch_delay();
            if (team || first) korch_run_kernel(m, i);
            korch_note_fault(&fault, i);
            if (team || korch_callers_of(i + 1) == KORCH_TEAM) korch_meet_at(&meeting, korch_end_of(clock, i));
            else if (first) korch_tick(clock, i);
            korch_look(clock, &watch, i, i + 1 == to);
        }
    }
    return fault.found ? korch_refuse(m, fault) : 0;
}

static int korch_run_alone(korch_model *m, int number) {
    const korch_step *step = &korch_steps[number];
    const void *const *in = m->pointers + step->first;
    if (step->work == KORCH_HOST) return korch_run_host(m, number, in, (void *)in[step->reads]);
    korch_fault fault = {0};
    korch_run_kernel(m, number);
    korch_note_fault(&fault, number);
    return fault.found ? korch_refuse(m, fault) : 0;
}

static int korch_run_steps(korch_model *m, const korch_clock *clock) {
    for (int i = 0; i < KORCH_STEP_COUNT;) {
        int end = m->stretch_ends[i];
        if (end > i) {
            if (korch_run_team(m, i, end, clock)) return 1;
            i = end;
        } else {
            korch_watch watch = korch_watch_from(clock, i);
            if (korch_run_alone(m, i)) return 1;
            korch_tick(clock, i);
            korch_look(clock, &watch, i++, 1);
        }
    }
    return 0;
}

static void korch_poison(korch_model *m) {
    memset(m->arena, 0xff, KORCH_ARENA_BYTES);
    for (int i = 0; i < KORCH_OUTPUT_COUNT; ++i)
        if (m->outputs[i]) memset(m->outputs[i], 0xff, korch_outputs[i].bytes);
}

static int korch_run_once(korch_model *m, const void *const *inputs, void *const *outputs, const korch_clock *clock) {
    double start = clock->ends ? korch_now() : 0;
    if (korch_bind(m, inputs, outputs)) return 1;
    if (m->guarded) korch_poison(m);
    double before = clock->ends ? korch_now() : 0;
    if (korch_run_steps(m, clock)) return 1;
    if (KORCH_STEP_COUNT) korch_tick(clock, KORCH_STEP_COUNT - 1);  // behind the team's end, which it takes too
    korch_finish(m, outputs);
    for (int i = 0; clock->ends && i < KORCH_STEP_COUNT; ++i) {
        const double end = clock->ends[i];
        clock->ends[i] = end - before;
        before = end;
    }
    if (clock->ends) clock->ends[KORCH_STEP_COUNT] = korch_now() - start;
    return 0;
}

// `seconds`, `lost`: of each step of each run, and behind them of the run as a whole; or NULL.
static int korch_run_many(korch_model *m, const void *const *inputs, void *const *outputs, double *seconds,
                          double *lost, int runs) {
    pthread_mutex_lock(&m->turn);
    korch_setting before = korch_use_threads(m->threads);
    int status = 0;
    m->error[0] = 0;
    for (int r = 0; !status && r < runs; ++r) {
        const size_t at = (size_t)r * (KORCH_STEP_COUNT + 1);
        const korch_clock clock = {seconds ? seconds + at : NULL, lost ? lost + at : NULL};
        for (int i = 0; lost && i <= KORCH_STEP_COUNT; ++i) clock.lost[i] = 0;
        status = korch_run_once(m, inputs, outputs, &clock);
    }
    korch_use(before);
    pthread_mutex_unlock(&m->turn);
    return status;
}

int korch_run(korch_model *m, const void *const *inputs, void *const *outputs) {
    return korch_run_many(m, inputs, outputs, NULL, NULL, 1);
}

int korch_profile(korch_model *m, const void *const *inputs, void *const *outputs, double *seconds, int runs) {
    return korch_run_many(m, inputs, outputs, seconds, NULL, runs);
}

int korch_profile_lost(korch_model *m, const void *const *inputs, void *const *outputs, double *seconds, double *lost,
                       int runs) {
    return korch_run_many(m, inputs, outputs, seconds, lost, runs);
}

void korch_set_host(korch_model *m, korch_host host, void *context) {
    pthread_mutex_lock(&m->turn);
    m->host = host;
    m->context = context;
    pthread_mutex_unlock(&m->turn);
}

int korch_host_step_count(const korch_model *m) {
    (void)m;
    int count = 0;
    for (int i = 0; i < KORCH_STEP_COUNT; ++i) count += korch_steps[i].work == KORCH_HOST;
    return count;
}

#define KORCH_PORT(kind, count)                                                                                  \
    int korch_##kind##_count(const korch_model *m) { return (void)m, count; }                                    \
    const char *korch_##kind##_name(const korch_model *m, int i) { return (void)m, korch_##kind##s[i].name; }    \
    const char *korch_##kind##_dtype(const korch_model *m, int i) { return (void)m, korch_##kind##s[i].dtype; }  \
    size_t korch_##kind##_bytes(const korch_model *m, int i) { return (void)m, korch_##kind##s[i].bytes; }       \
    const int64_t *korch_##kind##_shape(const korch_model *m, int i, int *rank) {                                \
        (void)m;                                                                                                 \
        if (rank) *rank = korch_##kind##s[i].rank;                                                               \
        return korch_##kind##s[i].shape;                                                                         \
    }
KORCH_PORT(input, KORCH_INPUT_COUNT)
KORCH_PORT(output, KORCH_OUTPUT_COUNT)

const char *korch_error(const korch_model *m) { return m->error; }
size_t korch_arena_bytes(const korch_model *m) { return (void)m, KORCH_ARENA_BYTES; }
int korch_step_count(const korch_model *m) { return (void)m, KORCH_STEP_COUNT + 1; }
