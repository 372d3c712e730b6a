/* Vectors of floats: in registers, and where they lie anywhere in memory. */
#ifndef KORCH_VECTORS_H
#define KORCH_VECTORS_H
typedef float korch_f4 __attribute__((vector_size(16)));
typedef float korch_at4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float korch_f8 __attribute__((vector_size(32)));
typedef float korch_at8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float korch_f16 __attribute__((vector_size(64)));
typedef float korch_at16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t korch_i4 __attribute__((vector_size(16)));
typedef int32_t korch_i8 __attribute__((vector_size(32)));
typedef int32_t korch_i16 __attribute__((vector_size(64)));

/* Of a or b, lane by lane; in C, ?: takes no vectors everywhere. */
#define KORCH_PICK(lanes, mask, a, b) \
  ((korch_f##lanes)(((korch_i##lanes)(a) & (mask)) | ((korch_i##lanes)(b) & ~(mask))))

/* The larger and the smaller of two vectors, b where they do not compare: GCC makes two instructions of what picks. */
#define KORCH_EXTREMES(lanes, larger, smaller) \
  static inline korch_f##lanes korch_larger##lanes(korch_f##lanes a, korch_f##lanes b) { return larger; } \
  static inline korch_f##lanes korch_smaller##lanes(korch_f##lanes a, korch_f##lanes b) { return smaller; }
#define KORCH_PICKED(lanes) KORCH_EXTREMES(lanes, KORCH_PICK(lanes, a > b, a, b), KORCH_PICK(lanes, a < b, a, b))
#if defined(__SSE__) && !defined(__clang__)
KORCH_EXTREMES(4, __builtin_ia32_maxps(a, b), __builtin_ia32_minps(a, b))
#else
KORCH_PICKED(4)
#endif
#if defined(__AVX__) && !defined(__clang__)
KORCH_EXTREMES(8, __builtin_ia32_maxps256(a, b), __builtin_ia32_minps256(a, b))
#else
KORCH_PICKED(8)
#endif
#if defined(__AVX512F__) && !defined(__clang__)
KORCH_EXTREMES(16, __builtin_ia32_maxps512_mask(a, b, a, -1, 4), __builtin_ia32_minps512_mask(a, b, a, -1, 4))
#else
KORCH_PICKED(16)
#endif

/* Stores past the caches, where a vector has lines of its own; whoever has done so calls `korch_streamed` before others
 * read it. */
#if defined(__clang__)
#define KORCH_PAST(lanes, builtin) __builtin_nontemporal_store(v, (korch_f##lanes *)to)
#else
#define KORCH_PAST(lanes, builtin) builtin(to, v)
#endif
#define KORCH_STREAM(lanes, past) \
  static inline void korch_stream##lanes(float *to, korch_f##lanes v) { \
    if ((uintptr_t)to % sizeof v) *(korch_at##lanes *)to = v; \
    else past; \
  }
#define KORCH_HALVES(half) \
  korch_stream##half(to, ((const korch_at##half *)&v)[0]), korch_stream##half(to + half, ((const korch_at##half *)&v)[1])
#if defined(__SSE__)
KORCH_STREAM(4, KORCH_PAST(4, __builtin_ia32_movntps))
static inline void korch_streamed(void) { __builtin_ia32_sfence(); }
#else
KORCH_STREAM(4, *(korch_at4 *)to = v)
static inline void korch_streamed(void) {}
#endif
#if defined(__AVX__)
KORCH_STREAM(8, KORCH_PAST(8, __builtin_ia32_movntps256))
#else
KORCH_STREAM(8, KORCH_HALVES(4))
#endif
#if defined(__AVX512F__)
KORCH_STREAM(16, KORCH_PAST(16, __builtin_ia32_movntps512))
#else
KORCH_STREAM(16, KORCH_HALVES(8))
#endif

/* The same of any `count` numbers: the lines that are whole. */
static inline void korch_stream(float *to, const float *from, int count) {
  int i = 0;
  for (; i < count && (uintptr_t)(to + i) % 64; ++i) to[i] = from[i];
  for (; i + 16 <= count; i += 16) korch_stream16(to + i, *(const korch_at16 *)(from + i));
  for (; i < count; ++i) to[i] = from[i];
}

/* to[j * 16 + i] = from[i * step + j] for i < 16 and j < columns, in squares of four. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define KORCH_SQUARES
#endif
#endif
static inline void korch_turn(float *restrict to, const float *restrict from, ptrdiff_t step, int columns) {
  int j = 0;
#if defined(KORCH_SQUARES)
  for (; j + 4 <= columns; j += 4)
    for (int i = 0; i < 16; i += 4) {
      const float *x = from + i * step + j;
      float *y = to + j * 16 + i;
      korch_f4 a = *(const korch_at4 *)x, b = *(const korch_at4 *)(x + step);
      korch_f4 c = *(const korch_at4 *)(x + 2 * step), d = *(const korch_at4 *)(x + 3 * step);
      korch_f4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
      *(korch_at4 *)y = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
      *(korch_at4 *)(y + 16) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
      ab = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      *(korch_at4 *)(y + 32) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
      *(korch_at4 *)(y + 48) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    }
#endif
  for (; j < columns; ++j)
    for (int i = 0; i < 16; ++i) to[j * 16 + i] = from[i * step + j];
}

/* The sum of so many numbers, in pairs. */
static inline float korch_sum16(const float *x) {
  korch_f8 a = *(const korch_at8 *)x + *(const korch_at8 *)(x + 8);
  korch_f4 b, c;
  memcpy(&b, &a, sizeof b);
  memcpy(&c, (const char *)&a + sizeof b, sizeof c);
  b += c;
  return (b[0] + b[2]) + (b[1] + b[3]);
}

static inline float korch_sum32(const float *x) {
  korch_f16 a = *(const korch_at16 *)x + *(const korch_at16 *)(x + 16);
  return korch_sum16((const float *)&a);
}

/* The sum of `count` products, sixteen side by side. */
static inline float korch_dot(const float *x, const float *y, int count) {
  korch_f16 sums = {0};
  int i = 0;
  for (; i + 16 <= count; i += 16) sums += *(const korch_at16 *)(x + i) * *(const korch_at16 *)(y + i);
  float rest = 0;
  for (; i < count; ++i) rest += x[i] * y[i];
  return korch_sum16((const float *)&sums) + rest;
}
#endif
