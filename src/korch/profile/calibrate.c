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

/* Enough independent chains of multiply-adds to fill the pipelines; single variables, so that they stay in registers. */
#define EACH(do) do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11)
#define DECLARE(i) vec x##i = a * (float)i;
#define STEP(i) x##i = x##i * a + b;
#define COLLECT(i) a += x##i;

static float multiply_add(long steps) {
  vec a = {0}, b = {0};
  a += 0.999f, b += 1e-3f;
  EACH(DECLARE)
  for (long s = 0; s < steps; s++) {
    EACH(STEP)
    __asm__ volatile("");
  }
  EACH(COLLECT)
  return a[0];
}

static double best_rate(long steps, int windows) {
  double best = 0;
  for (int i = 0; i < windows; i++) {
    double start = seconds_now();
    float sum = multiply_add(steps);
    __asm__ volatile("" : : "r"(sum) : "memory");
    double rate = 2.0 * CHAINS * LANES * steps / (seconds_now() - start);
    if (rate > best) best = rate;
  }
  return best;
}

/* Operations a second of all threads, a multiply-add counting two. Each thread gives its best window: on a machine
   that others use too, no window is good for all threads at once. */
double korch_peak(long steps, int windows) {
  double total = 0;
#pragma omp parallel reduction(+ : total)
  total += best_rate(steps, windows);
  return total;
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
enum { ROUNDS = 10 };

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
    for (int round = 0; round < ROUNDS; round++) {
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
