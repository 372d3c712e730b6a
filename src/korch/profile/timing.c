/* Times one entry of a compiled program. Samples are seconds of one run. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#ifdef __linux__
#include <sys/resource.h>
#endif

#include "korch_rt.h"
#include "korch_team.h"

typedef struct {
  void (*run)(void *state, const void *const *in, void *out, void *workspace);
  void *state;
  const void *const *in;
  void *out, *workspace;
  void (*join)(korch_share *);  /* not NULL: every thread of a team calls this, then `run`; else one calls `run` */
} korch_call;

/* Seconds of the calls, and the largest share of that time in which a thread did not have its processor. */
typedef struct {
  double seconds, lost;
} korch_sample;

/* How often the process had to make way for another: of threads that a library has started nothing else is known. */
static long korch_switches(void) {
#ifdef __linux__
  struct rusage use;
  return getrusage(RUSAGE_SELF, &use) ? 0 : use.ru_nivcsw;
#else
  return 0;
#endif
}

#define KORCH_LONG 5e-3  // seconds from which on a sample on a quiet machine has switches, too: these so many a second
#define KORCH_SWITCH_RATE 20

static int korch_crowded(long switches, double seconds) {
  return switches > (seconds < KORCH_LONG ? 0 : 1 + KORCH_SWITCH_RATE * seconds);
}

static korch_sample korch_one(const korch_call *c, int calls) {
  const long switches = korch_switches();
  const korch_times before = korch_times_now();
  const double start = korch_now();
  for (int j = 0; j < calls; j++) c->run(c->state, c->in, c->out, c->workspace);
  const double end = korch_now(), lost = korch_lost_since(before);
  return (korch_sample){end - start, korch_crowded(korch_switches() - switches, end - start) ? 1 : lost};
}

static int korch_team_size(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/* As in a program, where a team stays together from one kernel to the next. From before the first thread begins to when
   the last has ended: threads help each other, so one that is held up may find nothing left to do. */
static korch_sample korch_team(const korch_call *c, int calls) {
  korch_meeting meeting = {0};
  const int size = korch_team_size();
  korch_share shares[size];
  memset(shares, 0, sizeof shares);
  double start = 0, end = 0, lost = 0;
#pragma omp parallel reduction(max : lost)
  {
    c->join(shares);
    const korch_times before = korch_times_now();
    korch_meet_at(&meeting, &start);
    for (int j = 0; j < calls; j++) {
      korch_delay();
      c->run(c->state, c->in, c->out, c->workspace);
      korch_meet_at(&meeting, j + 1 < calls ? NULL : &end);
    }
    lost = korch_lost_since(before);
  }
  return (korch_sample){end - start, lost};
}

static korch_sample korch_sampled(const korch_call *c, int calls) {
  return c->join ? korch_team(c, calls) : korch_one(c, calls);
}

void korch_once(const korch_call *c) { korch_sampled(c, 1); }

/* On one thread of a team that never comes: it takes the turns of all others, too. */
void korch_alone(const korch_call *c) {
  korch_share shares[korch_team_size()];
  memset(shares, 0, sizeof shares);
  c->join(shares);
  korch_one(c, 1);
}

/* On a team with a static schedule, each thread its own turns: to each, all others are at work on a later loop. */
void korch_static(const korch_call *c) {
  enum { LATER = 1 << 14 };  // more loops than a kernel has
#pragma omp parallel
  {
    korch_share shares[korch_team_size()];
    memset(shares, 0, sizeof shares);
    for (int i = 0; i < korch_team_size(); i++)
      if (i != korch_thread_number()) atomic_init(&shares[i].left, korch_left_of(LATER, 0, 0));
    c->join(shares);
    c->run(c->state, c->in, c->out, c->workspace);
  }
}

/* Warm: each of `count` samples is the mean of `calls` runs, one after the other. */
void korch_time(const korch_call *c, int calls, int count, korch_sample *samples) {
  for (int i = 0; i < count; i++) {
    samples[i] = korch_sampled(c, calls);
    samples[i].seconds /= calls;
  }
}

static uint64_t korch_touch(const char *bytes, size_t size) {
  uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (size_t at = 0; at < size; at += 64) sum += (unsigned char)bytes[at];
  return sum;
}

volatile uint64_t korch_touched;

/* Cold weights, warm activations, as in a whole program: before each of `count` runs all of `scrub` is read, which
   leaves nothing else in the caches, and then the `warm` buffers: activations that do not outgrow the caches. */
void korch_time_cold(const korch_call *c, int count, korch_sample *samples, const char *scrub, size_t scrub_size,
                     const char *const *warm, const size_t *warm_sizes, int warm_count) {
  for (int i = 0; i < count; i++) {
    uint64_t sum = korch_touch(scrub, scrub_size);
    for (int j = 0; j < warm_count; j++) sum += korch_touch(warm[j], warm_sizes[j]);
    korch_touched = sum;
    samples[i] = korch_sampled(c, 1);
  }
}
