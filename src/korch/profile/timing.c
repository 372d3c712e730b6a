/* Times one entry of a compiled program. Samples are seconds of one run. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef void (*korch_run)(void *state, const void *const *in, void *out, void *workspace);

static double korch_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Warm: each of `count` samples is the mean of `calls` runs, one behind the other. */
void korch_time(korch_run run, void *state, const void *const *in, void *out, void *workspace, int calls, int count,
                double *samples) {
  for (int i = 0; i < count; i++) {
    double start = korch_now();
    for (int j = 0; j < calls; j++) run(state, in, out, workspace);
    samples[i] = (korch_now() - start) / calls;
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
   leaves nothing else in the caches, and then the `warm` buffers. */
void korch_time_cold(korch_run run, void *state, const void *const *in, void *out, void *workspace, int count,
                     double *samples, const char *scrub, size_t scrub_size, const char *const *warm,
                     const size_t *warm_sizes, int warm_count) {
  for (int i = 0; i < count; i++) {
    uint64_t sum = korch_touch(scrub, scrub_size);
    for (int j = 0; j < warm_count; j++) sum += korch_touch(warm[j], warm_sizes[j]);
    korch_touched = sum;
    double start = korch_now();
    run(state, in, out, workspace);
    samples[i] = korch_now() - start;
  }
}
