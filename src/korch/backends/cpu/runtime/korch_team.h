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
#include <time.h>
#include <unistd.h>
#endif

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

/* Returns when all threads of the region have come. */
static inline void korch_meet(korch_meeting *m) {
#ifdef _OPENMP
  const int threads = korch_team_threads();
  const unsigned round = atomic_load_explicit(&m->round, memory_order_relaxed);
  if (atomic_fetch_add_explicit(&m->here, 1, memory_order_acq_rel) == threads - 1) {
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
#else
  (void)m;
#endif
}
#endif
