/* Where the threads of a parallel region wait for each other, in a quarter of the time of OpenMP's barrier. */
#ifndef KORCH_TEAM_H
#define KORCH_TEAM_H
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#include <time.h>

enum { KORCH_SPINS = 512 };  // some 10 microseconds; then others may have the processor
#ifndef KORCH_TAKEN
#define KORCH_TAKEN 200000  // nanoseconds for which the processor must have been with others to go to sleep
#endif

typedef struct {
  _Alignas(64) atomic_int here;
  _Alignas(64) atomic_uint round;
  atomic_int asleep;
} korch_meeting;

static inline int korch_thread_number(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

static inline double korch_seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static inline double korch_now(void) { return korch_seconds_of(CLOCK_MONOTONIC); }
static inline double korch_own_time(void) { return korch_seconds_of(CLOCK_THREAD_CPUTIME_ID); }

/* Seconds of the wall clock and of the thread's own: a thread loses its processor for the difference. */
typedef struct {
  double wall, own;
} korch_times;
static inline korch_times korch_times_now(void) { return (korch_times){korch_now(), korch_own_time()}; }

#define KORCH_SLACK 3e-6  // seconds by which the two clocks may differ, as they are read one after the other

/* The share of the time since then in which this thread did not have its processor. */
static inline double korch_lost_since(korch_times then) {
  const korch_times now = korch_times_now();
  const double wall = now.wall - then.wall, lost = wall - (now.own - then.own) - KORCH_SLACK;
  return lost > 0 ? lost / wall : 0;
}

/* A test compiles programs with KORCH_DELAY, which holds up a random thread now and then. */
#ifdef KORCH_DELAY
#include <stdlib.h>
static inline void korch_delay(void) {
  static _Thread_local unsigned seed;
  if (!seed) seed = 1 + (unsigned)(size_t)&seed;
  const struct timespec pause = {0, (long)(1e9 * (KORCH_DELAY))};
  if (rand_r(&seed) % 8 == 0) nanosleep(&pause, NULL);
}
#else
static inline void korch_delay(void) {}
#endif

/* Of the region: fewer than it asked for where OpenMP is limited (OMP_THREAD_LIMIT, OMP_DYNAMIC). */
static inline int korch_team_threads(void) {
#ifdef _OPENMP
  return omp_get_num_threads();
#else
  return 1;
#endif
}

/* Lets others have the processor. Where they keep it for long, waits until the round is over: a thread that sleeps has
   its processor back as soon as it is woken, one that yields only when the others' time is up. */
static inline void korch_yield(korch_meeting *m, unsigned round) {
#ifdef __linux__
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  sched_yield();
  clock_gettime(CLOCK_MONOTONIC, &after);
  if ((after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec < KORCH_TAKEN) return;
  atomic_fetch_add(&m->asleep, 1);
  while (atomic_load(&m->round) == round) syscall(SYS_futex, &m->round, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
  atomic_fetch_sub(&m->asleep, 1);
#else
  (void)m, (void)round;
  sched_yield();
#endif
}

static inline void korch_next_round(korch_meeting *m, unsigned round) {
  atomic_store(&m->round, round + 1);
#ifdef __linux__
  if (atomic_load(&m->asleep)) syscall(SYS_futex, &m->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
#endif
}

/* Returns when all threads of the region have come. `at`, if it is not NULL, is when the last one came: all have ended
   what they did before, and none has begun what comes next, wherever a thread loses its processor. */
static inline void korch_meet_at(korch_meeting *m, double *at) {
#ifdef _OPENMP
  const int threads = korch_team_threads();
  const unsigned round = atomic_load_explicit(&m->round, memory_order_relaxed);
  korch_delay();
  if (atomic_fetch_add_explicit(&m->here, 1, memory_order_acq_rel) == threads - 1) {
    if (at) *at = korch_now();
    atomic_store_explicit(&m->here, 0, memory_order_relaxed);
    korch_next_round(m, round);
    return;
  }
  for (int spins = 0; atomic_load_explicit(&m->round, memory_order_acquire) == round; ++spins) {
    if (spins >= KORCH_SPINS) korch_yield(m, round);
#if defined(__x86_64__) || defined(__i386__)
    else __builtin_ia32_pause();
#endif
  }
  korch_delay();
#else
  (void)m;
  if (at) *at = korch_now();
#endif
}
static inline void korch_meet(korch_meeting *m) { korch_meet_at(m, NULL); }
#endif
