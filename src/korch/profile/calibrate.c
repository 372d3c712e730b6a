/* What this machine can do at best: float32 multiply-adds, moving bytes, starting a kernel. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_thread_num(void) { return 0; }
static int omp_get_num_threads(void) { return 1; }
#endif

#if defined(__AVX512F__)
enum { WIDTH = 64 };
#elif defined(__AVX__)
enum { WIDTH = 32 };
#else
enum { WIDTH = 16 };
#endif
typedef float vec __attribute__((vector_size(WIDTH)));
enum { LANES = WIDTH / sizeof(float), CHAINS = 12 };

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Enough independent chains of multiply-adds, in registers, to fill the pipelines. */
static void multiply_add(long steps, float *sink) {
  vec acc[CHAINS];
  for (int i = 0; i < CHAINS; i++)
    for (int j = 0; j < LANES; j++) acc[i][j] = i + j;
  vec a = acc[0] * 0.0f + 0.999f, b = acc[0] * 0.0f + 1e-3f;
  for (long s = 0; s < steps; s++) {
    __asm__ volatile("" : "+m"(*sink));
    for (int i = 0; i < CHAINS; i++) acc[i] = acc[i] * a + b;
  }
  float sum = 0;
  for (int i = 0; i < CHAINS; i++) sum += acc[i][0];
  *sink = sum;
}

/* Operations a second of all threads, a multiply-add counting two. */
double korch_peak(long steps) {
  int threads = 1;
  double start = seconds_now();
#pragma omp parallel
  {
    float sink = 0;
    multiply_add(steps, &sink);
    __asm__ volatile("" : : "r"(sink));
    if (omp_get_thread_num() == 0) threads = omp_get_num_threads();
  }
  return 2.0 * CHAINS * LANES * steps * threads / (seconds_now() - start);
}

/* The three ways to stream; the result is what keeps the compiler from dropping them. */
static float stream(int kind, float *a, const float *b, const float *c, size_t n) {
  vec total[4] = {0};
  if (kind == 0)
    for (size_t i = 0; i < n; i++) a[i] = b[i] + c[i];
  if (kind == 1)
    for (size_t i = 0; i + 4 * LANES <= n; i += 4 * LANES)
      for (int j = 0; j < 4; j++) total[j] += *(const vec *)(b + i + j * LANES);
  if (kind == 2) memcpy(a, b, n * sizeof *a);
  return total[0][0] + total[1][0] + total[2][0] + total[3][0] + a[0];
}

static const int arrays_of[3] = {3, 1, 2};

/* Bytes a second, read and written together, over `footprint` bytes in all; negative: no memory. */
double korch_bandwidth(int kind, size_t footprint, int repeats) {
  double best = 0;
  size_t size = (footprint + (4u << 20)) >> 21 << 21;
  char *block = aligned_alloc(2u << 20, size);
  if (!block) return -1;
  madvise(block, size, MADV_HUGEPAGE);
#pragma omp parallel
  {
    size_t n = footprint / omp_get_num_threads() / arrays_of[kind] / 256 * 256 / sizeof(float);
    float *a = (float *)block + omp_get_thread_num() * arrays_of[kind] * n;
    float *b = kind == 1 ? a : a + n, *c = a + 2 * n, sum = 0;
    memset(a, 0, n * arrays_of[kind] * sizeof(float));
    for (int round = 0; round < 4; round++) {
      double start = 0;
#pragma omp barrier
      start = seconds_now();
      for (int r = 0; r < repeats; r++) {
        sum += stream(kind, a, b, c, n);
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c) : : "memory");
      }
#pragma omp barrier
      double rate = (double)repeats * n * arrays_of[kind] * sizeof(float) * omp_get_num_threads() /
                    (seconds_now() - start);
#pragma omp critical
      if (rate > best) best = rate;
    }
    __asm__ volatile("" : : "r"(sum));
  }
  free(block);
  return best;
}

static void nothing(float *x) {
#pragma omp parallel
  {
    __asm__ volatile("" : : "r"(x) : "memory");
  }
}

/* Seconds of an empty kernel. */
double korch_launch(int calls) {
  float x = 0;
  void (*volatile kernel)(float *) = nothing;
  double start = seconds_now();
  for (int i = 0; i < calls; i++) kernel(&x);
  return (seconds_now() - start) / calls;
}
