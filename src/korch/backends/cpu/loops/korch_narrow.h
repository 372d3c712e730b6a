/* Activations as integers of two digits, for products with weights of few bits. Within a block, an activation is a whole
 * multiple of one unit, cut off at 2^-28 of the largest: its sums with integer weights are exact, where each step of a
 * float32 sum rounds at 2^-24. */
#ifndef KORCH_NARROW_H
#define KORCH_NARROW_H
typedef uint16_t korch_words4 __attribute__((vector_size(16)));
typedef uint16_t korch_words8 __attribute__((vector_size(32)));
typedef uint16_t korch_words16 __attribute__((vector_size(64)));
typedef int16_t korch_shorts4 __attribute__((vector_size(8), aligned(2), may_alias));
typedef int16_t korch_shorts8 __attribute__((vector_size(16), aligned(2), may_alias));
typedef int16_t korch_shorts16 __attribute__((vector_size(32), aligned(2), may_alias));

typedef uint32_t korch_unsigned4 __attribute__((vector_size(16)));
typedef uint32_t korch_unsigned8 __attribute__((vector_size(32)));
typedef uint32_t korch_unsigned16 __attribute__((vector_size(64)));

/* A vector of floats from float16 anywhere in memory. */
#define KORCH_WIDENED_BY(v, at, shorts, as) __asm__("vcvtph2ps %1, %" as "0" : "=v"(v) : "m"(*(const shorts *)(at)))
#define KORCH_WIDENED_IN_C(lanes, v, at) \
  for (int lane = 0; lane < lanes; ++lane) (v)[lane] = (float)((const _Float16 *)(at))[lane]
#if defined(__F16C__)
#define KORCH_WIDENED4(v, at) KORCH_WIDENED_BY(v, at, korch_shorts4, "x")
#define KORCH_WIDENED8(v, at) KORCH_WIDENED_BY(v, at, korch_shorts8, "t")
#else
#define KORCH_WIDENED4(v, at) KORCH_WIDENED_IN_C(4, v, at)
#define KORCH_WIDENED8(v, at) KORCH_WIDENED_IN_C(8, v, at)
#endif
#if defined(__AVX512F__)
#define KORCH_WIDENED16(v, at) KORCH_WIDENED_BY(v, at, korch_shorts16, "g")
#else
#define KORCH_WIDENED16(v, at) KORCH_WIDENED_IN_C(16, v, at)
#endif

enum { KORCH_BLOCK = 256, KORCH_DIGIT = 15 };  // steps of a block at most; bits of a digit

static inline float korch_power_of_two(int exponent) {
  const uint32_t bits = (uint32_t)(exponent + 127) << 23;
  float power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

static inline uint32_t korch_largest(const float *x, int count) {
  uint32_t largest = 0;
  for (int k = 0; k < count; ++k) {
    uint32_t bits;
    memcpy(&bits, x + k, sizeof bits);
    bits &= 0x7fffffff;
    largest = KORCH_MAX(largest, bits);
  }
  return largest;
}

/* Writes the digits of `steps` activations: for each block the higher ones of pairs, (k, k + block / 2) in one word, the
 * lower ones, and what sums of both begin with: `center` is subtracted from each weight. Odd pairs are divided by 16
 * where `shared` is 1: there the weights stand four bits higher. `units`: for each block, the unit, and the sum of all
 * its activations in it. 1, and nothing of use, where one is infinite or NaN. */
static inline int korch_digits(const float *restrict x, int steps, int block, int center, int shared,
                               int32_t *restrict to, float *restrict units) {
  const int half = block / 2;
  for (int k = 0; k < steps; k += block, to += block + 2, units += 2) {
    float part[KORCH_BLOCK];
    const int count = KORCH_MIN(block, steps - k);
    memcpy(part, x + k, 4 * count);
    memset(part + count, 0, 4 * (block - count));
    const uint32_t largest = korch_largest(part, block);
    if (largest >= 0x7f800000) return 1;
    const int exponent = KORCH_MAX((int)(largest >> 23) - 127 - 28, -126);
    const float whole = korch_power_of_two(-exponent);
    int32_t high = 0, low = 0;
    for (int p = 0; p < half; ++p) {
      const int higher = p & shared;
      const float scale = higher ? whole * 0.0625f : whole;
      const int32_t a = (int32_t)(part[p] * scale), b = (int32_t)(part[p + half] * scale);
      const int32_t a0 = ((a + (1 << (KORCH_DIGIT - 1))) & ((1 << KORCH_DIGIT) - 1)) - (1 << (KORCH_DIGIT - 1));
      const int32_t b0 = ((b + (1 << (KORCH_DIGIT - 1))) & ((1 << KORCH_DIGIT) - 1)) - (1 << (KORCH_DIGIT - 1));
      const int32_t a1 = (a - a0) >> KORCH_DIGIT, b1 = (b - b0) >> KORCH_DIGIT;
      to[p] = (int32_t)((uint32_t)(a1 & 0xffff) | (uint32_t)b1 << 16);
      to[half + p] = (int32_t)((uint32_t)(a0 & 0xffff) | (uint32_t)b0 << 16);
      high += (a1 + b1) * (higher ? 16 : 1);
      low += (a0 + b0) * (higher ? 16 : 1);
    }
    to[block] = -center * high;
    to[block + 1] = -center * low;
    units[0] = korch_power_of_two(exponent);
    units[1] = (float)high * (1 << KORCH_DIGIT) + (float)low;
  }
  return 0;
}

/* Writes `steps` activations of each of `count` rows, of `high` in all, one step after the other; zeros for other rows,
 * and up to `end`. Rows that are some pages apart would meet in one place of the nearest cache. */
static inline void korch_by_steps(const float *restrict x, int steps, int count, int high, int end,
                                  float *restrict to) {
  if (count < high) memset(to, 0, sizeof(float) * steps * high);
  for (int r = 0; r < count; ++r)
    for (int k = 0; k < steps; ++k) to[k * high + r] = x[r * steps + k];
  memset(to + steps * high, 0, sizeof(float) * (end - steps) * high);
}
#endif
