/* What every kernel of a linked program may assume. */
#ifndef KORCH_RT_H
#define KORCH_RT_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* Of functions in loops that compilers vectorise, or of vectors in registers: in a long unit, compilers would make calls
 * of them, of one number each. (A product with SiLU behind it 326 instead of 151 us, in a program.) */
#define KORCH_INLINE static inline __attribute__((always_inline))

#define KORCH_MIN(a, b) ((a) < (b) ? (a) : (b))
#define KORCH_MAX(a, b) ((a) > (b) ? (a) : (b))

/* The same of floats, NaN where one of them is: MAX and MIN give b where the two do not compare, so of both orders one
 * gives the NaN, whose bits stay those of a NaN whatever is OR-ed to them. Without branches, so that compilers make
 * vectors of it. (The maximum of 256 rows of 512 columns: 24 us, and 35 where the two are compared for NaN.) */
#define KORCH_EITHER(name, type, bits, order) \
  KORCH_INLINE type name(type a, type b) { \
    const type one = a order b ? a : b, other = b order a ? b : a; \
    bits i, j; \
    memcpy(&i, &one, sizeof i); \
    memcpy(&j, &other, sizeof j); \
    i |= j; \
    type either; \
    memcpy(&either, &i, sizeof i); \
    return either; \
  }
KORCH_EITHER(korch_smaller, double, uint64_t, <)
KORCH_EITHER(korch_larger, double, uint64_t, >)
KORCH_EITHER(korch_smallerf, float, uint32_t, <)
KORCH_EITHER(korch_largerf, float, uint32_t, >)
#define KORCH_SMALLER(a, b) _Generic((a), double: korch_smaller, default: korch_smallerf)(a, b)
#define KORCH_LARGER(a, b) _Generic((a), double: korch_larger, default: korch_largerf)(a, b)

/* Kernels set this where data index outside of a tensor (they then read its nearest element), for whoever runs the
 * kernel to look at. Of the thread that found it; the program's table defines it. */
extern __attribute__((visibility("hidden"))) _Thread_local int korch_out_of_range;

/* The position on an axis of n elements that is nearest to `at`. Hardly ever another one, so that a branch is cheaper
 * than to choose. */
static inline int64_t korch_nearest(int64_t at, int64_t n) {
  if (__builtin_expect((uint64_t)at >= (uint64_t)n, 0)) return at < 0 ? 0 : n - 1;
  return at;
}

/* The status of a library's call that failed, for whoever runs the kernel to look at; 0 if none has. Of the thread that
 * called, defined in the same place. */
extern __attribute__((visibility("hidden"))) _Thread_local int korch_failure;

/* How a team shares out the turns of a loop. Each thread begins with the same run of them each time, so that its cache
 * has what it left there; one that has no turn left takes the second half of what another still has, so that all end
 * together where one core is slower, or late. */
typedef struct {
  /* The loop, counted as every thread of the team does, in 16 bits; the next turn and the end of those left, in 24. */
  _Alignas(64) _Atomic uint64_t left;
  unsigned loops; /* of its thread, which alone reads it */
} korch_share;

/* One for each thread of the team that this thread is in, zeroed before. The program's table defines it, and
 * `korch_join`, which sets it for those who call kernels from outside. */
extern __attribute__((visibility("hidden"))) _Thread_local korch_share *korch_shares;

enum { KORCH_PART = 16 };  // of what is left to it, a thread takes this part at once

typedef struct {
  korch_share *shares;
  const int *begins;         /* with which turn each thread begins, and their number */
  const unsigned char *anew; /* whether a thread may begin with that turn; NULL: with each */
  int thread, threads;
  uint16_t loop;
  int turn, end; /* what this thread has taken, and nobody else can */
} korch_turns;

static inline uint64_t korch_left_of(uint16_t loop, int turn, int end) {
  return (uint64_t)loop << 48 | (uint64_t)turn << 24 | (uint64_t)end;
}
static inline int korch_left_turn(uint64_t left) { return (int)(left >> 24 & 0xffffff); }
static inline int korch_left_end(uint64_t left) { return (int)(left & 0xffffff); }

/* By how many loops a thread's word is ahead of a loop. */
static inline int korch_ahead(uint64_t left, uint16_t loop) { return (int16_t)((uint16_t)(left >> 48) - loop); }

/* Makes `thread` begin with its turns of the loop, unless it has them already or is at work on an earlier loop. */
static inline void korch_begin(const korch_turns *t, int thread) {
  _Atomic uint64_t *word = &t->shares[thread].left;
  uint64_t left = atomic_load(word);
  while (korch_ahead(left, t->loop) == -1 && korch_left_turn(left) >= korch_left_end(left))
    if (atomic_compare_exchange_weak(word, &left, korch_left_of(t->loop, t->begins[thread], t->begins[thread + 1])))
      break;
}

/* Every thread of the team calls this before each loop that it shares out. */
static inline korch_turns korch_share_out(int thread, int threads, const int *begins, const unsigned char *anew) {
  const uint16_t loop = (uint16_t)++korch_shares[thread].loops;
  const korch_turns turns = {korch_shares, begins, anew, thread, threads, loop, 0, 0};
  korch_begin(&turns, thread);
  return turns;
}

/* Where the second half begins of turns that are left, if it can; the end if not. */
static inline int korch_middle(const korch_turns *t, int turn, int end) {
  int middle = turn + (end - turn) / 2;
  while (t->anew && middle < end && !t->anew[middle]) ++middle;
  if (middle < end) return middle;
  for (middle = turn + (end - turn) / 2; middle > turn && !t->anew[middle]; --middle) {}
  return middle < end && t->anew[middle] ? middle : end;
}

/* Whether it has turns for this thread now: half of those that another has in this loop. That may not have come yet. */
static inline int korch_help(korch_turns *t) {
  for (int i = 1; i < t->threads; ++i) {
    const int other = (t->thread + i) % t->threads;
    korch_begin(t, other);
    uint64_t left = atomic_load(&t->shares[other].left);
    while (!korch_ahead(left, t->loop)) {
      const int turn = korch_left_turn(left), end = korch_left_end(left), middle = korch_middle(t, turn, end);
      if (middle >= end) break;
      if (atomic_compare_exchange_weak(&t->shares[other].left, &left, korch_left_of(t->loop, turn, middle))) {
        t->turn = middle;
        t->end = end;
        return 1;
      }
    }
  }
  return 0;
}

/* Puts back all but a part of what it has taken, for others to help with. Not where somebody has begun with this
 * thread's turns of the next loop. */
static inline void korch_offer(korch_turns *t) {
  _Atomic uint64_t *own = &t->shares[t->thread].left;
  uint64_t left = atomic_load_explicit(own, memory_order_relaxed);
  const int end = t->turn + 1 + (t->end - t->turn) / KORCH_PART;
  if (!korch_ahead(left, t->loop) && atomic_compare_exchange_strong(own, &left, korch_left_of(t->loop, end, t->end)))
    t->end = end;
}

/* The next turn for this thread, or -1. Of many that are left it takes some at once. */
static inline int korch_take(korch_turns *t) {
  _Atomic uint64_t *own = &t->shares[t->thread].left;
  if (t->turn < t->end) return t->turn++;
  uint64_t left = atomic_load_explicit(own, memory_order_relaxed);
  while (!korch_ahead(left, t->loop) && korch_left_turn(left) < korch_left_end(left)) {
    const int some = 1 + (korch_left_end(left) - korch_left_turn(left)) / KORCH_PART;
    if (atomic_compare_exchange_weak(own, &left, left + ((uint64_t)some << 24))) {
      t->turn = korch_left_turn(left) + 1;
      t->end = korch_left_turn(left) + some;
      return korch_left_turn(left);
    }
  }
  if (!korch_help(t)) return -1;
  korch_offer(t);
  return t->turn++;
}

static inline void *korch_aligned(size_t bytes) {
  return aligned_alloc(64, (bytes + 127) / 64 * 64);
}

// Puts packed constants, `bytes` from korch_aligned that nobody will write again, in the place of which come equal ones
// that a model of this process holds already. 0.
__attribute__((visibility("hidden"))) int korch_pack(void **packed, size_t bytes);
// Lets go of them; the last who does frees them.
__attribute__((visibility("hidden"))) void korch_unpack(void *packed);
#endif
