/* Times one entry of a compiled program. Samples are seconds of one run. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "korch_rt.h"
#include "korch_team.h"

typedef struct {
  void (*run)(void *state, const void *const *in, void *out, void *workspace);
  void *state;
  const void *const *in;
  void *out, *workspace;
  void (*join)(korch_share *);  /* not NULL: every thread of a team calls this, then `run`; else one calls `run` */
} korch_call;

static double korch_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double korch_one(const korch_call *c, int calls) {
  double start = korch_now();
  for (int j = 0; j < calls; j++) c->run(c->state, c->in, c->out, c->workspace);
  return korch_now() - start;
}

static int korch_team_size(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/* As in a program, where a team stays together from one kernel to the next. The time begins with whoever begins first:
   others that lose their processor just then may find nothing left to do, as threads help each other. */
static double korch_team(const korch_call *c, int calls) {
  korch_meeting meeting = {0};
  const int size = korch_team_size();
  korch_share shares[size];
  memset(shares, 0, sizeof shares);
  double begins[size], start = 0, end = 0;
  memset(begins, 0, sizeof begins);
#pragma omp parallel
  {
    c->join(shares);
    korch_meet(&meeting);
    begins[korch_thread_number()] = korch_now();
    for (int j = 0; j < calls; j++) {
      c->run(c->state, c->in, c->out, c->workspace);
      korch_meet(&meeting);
    }
    if (korch_thread_number() == 0) end = korch_now();
  }
  for (int i = 0; i < size; i++)
    if (begins[i] && (!start || begins[i] < start)) start = begins[i];
  return end - start;
}

static double korch_seconds(const korch_call *c, int calls) {
  return c->join ? korch_team(c, calls) : korch_one(c, calls);
}

void korch_once(const korch_call *c) { korch_seconds(c, 1); }

/* On one thread of a team that never comes: it takes the turns of all others, too. */
void korch_alone(const korch_call *c) {
  korch_share shares[korch_team_size()];
  memset(shares, 0, sizeof shares);
  c->join(shares);
  korch_one(c, 1);
}

/* Warm: each of `count` samples is the mean of `calls` runs, one behind the other. */
void korch_time(const korch_call *c, int calls, int count, double *samples) {
  for (int i = 0; i < count; i++) samples[i] = korch_seconds(c, calls) / calls;
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
void korch_time_cold(const korch_call *c, int count, double *samples, const char *scrub, size_t scrub_size,
                     const char *const *warm, const size_t *warm_sizes, int warm_count) {
  for (int i = 0; i < count; i++) {
    uint64_t sum = korch_touch(scrub, scrub_size);
    for (int j = 0; j < warm_count; j++) sum += korch_touch(warm[j], warm_sizes[j]);
    korch_touched = sum;
    samples[i] = korch_seconds(c, 1);
  }
}
