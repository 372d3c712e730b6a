/* What every kernel of a linked program may assume. */
#ifndef KORCH_RT_H
#define KORCH_RT_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define KORCH_MIN(a, b) ((a) < (b) ? (a) : (b))
#define KORCH_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Kernels set this where data index outside of a tensor (they then read its nearest element). Of the thread that runs
 * the model; the program's table defines it. */
extern __attribute__((visibility("hidden"))) _Thread_local int korch_out_of_range;

static inline void *korch_aligned(size_t bytes) {
  return aligned_alloc(64, (bytes + 127) / 64 * 64);
}
#endif
