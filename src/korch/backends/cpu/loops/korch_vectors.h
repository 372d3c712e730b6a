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

/* The widest that the processor has, and one with a number in every lane. What is written in wider ones compilers move
 * through memory and back. */
#if defined(__AVX512F__)
#define KORCH_NATIVE 16
#define KORCH_ALL(x) ((korch_fn){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x})
#define KORCH_STREAM_NATIVE korch_stream16
typedef korch_f16 korch_fn;
typedef korch_at16 korch_atn;
#elif defined(__AVX__)
#define KORCH_NATIVE 8
#define KORCH_ALL(x) ((korch_fn){x, x, x, x, x, x, x, x})
#define KORCH_STREAM_NATIVE korch_stream8
typedef korch_f8 korch_fn;
typedef korch_at8 korch_atn;
#else
#define KORCH_NATIVE 4
#define KORCH_ALL(x) ((korch_fn){x, x, x, x})
#define KORCH_STREAM_NATIVE korch_stream4
typedef korch_f4 korch_fn;
typedef korch_at4 korch_atn;
#endif

/* Keeps a vector of four or eight in its register. */
#if defined(__AVX__)
#define KORCH_HOLD(v) __asm__("" : "+x"(v))
#else
#define KORCH_HOLD(v) (void)(v)
#endif

/* s += v * b, where v is KORCH_ALL of a number. In the register of s: where several steps follow each other, compilers
 * move sums from one to another, and some into memory. */
#define KORCH_FMA(s, v, b, as) __asm__("vfmadd231ps %" as "2, %" as "1, %" as "0" : "+v"(s) : "v"(v), "v"(b))
#define KORCH_FMA_IN_C(s, v, b) (s) += (v)[0] * (b)
#if defined(__FMA__)
#define KORCH_FMA4(s, v, b) KORCH_FMA(s, v, b, "x")
#define KORCH_FMA8(s, v, b) KORCH_FMA(s, v, b, "t")
#else
#define KORCH_FMA4 KORCH_FMA_IN_C
#define KORCH_FMA8 KORCH_FMA_IN_C
#endif
#if defined(__AVX512F__)
#define KORCH_FMA16(s, v, b) KORCH_FMA(s, v, b, "g")
#else
#define KORCH_FMA16 KORCH_FMA_IN_C
#endif

/* s += x * b for a number in memory that no other vector is multiplied with: one instruction where there are such. */
#define KORCH_FMA_FROM(s, x, b, as, to) \
  __asm__("vfmadd231ps %2%{" to "%}, %" as "1, %" as "0" : "+v"(s) : "v"(b), "m"(x))
#define KORCH_FMA_FROM4(s, x, b) KORCH_FMA4(s, KORCH_ALL(x), b)
#if defined(__AVX512VL__)
#define KORCH_FMA_FROM8(s, x, b) KORCH_FMA_FROM(s, x, b, "t", "1to8")
#else
#define KORCH_FMA_FROM8(s, x, b) KORCH_FMA8(s, KORCH_ALL(x), b)
#endif
#if defined(__AVX512F__)
#define KORCH_FMA_FROM16(s, x, b) KORCH_FMA_FROM(s, x, b, "g", "1to16")
#else
#define KORCH_FMA_FROM16(s, x, b) KORCH_FMA16(s, KORCH_ALL(x), b)
#endif

/* Of a or b, lane by lane; in C, ?: takes no vectors everywhere. */
#define KORCH_PICK(lanes, mask, a, b) \
  ((korch_f##lanes)(((korch_i##lanes)(a) & (mask)) | ((korch_i##lanes)(b) & ~(mask))))

/* The larger and the smaller of two vectors, b where they do not compare: GCC makes two instructions of what picks. */
#define KORCH_EXTREMES(lanes, larger, smaller) \
  KORCH_INLINE korch_f##lanes korch_larger##lanes(korch_f##lanes a, korch_f##lanes b) { return larger; } \
  KORCH_INLINE korch_f##lanes korch_smaller##lanes(korch_f##lanes a, korch_f##lanes b) { return smaller; }
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

/* The first `count` numbers of a vector from memory, zeros behind them, and into memory; no other is touched. By masks,
 * as GCC keeps a vector whose address is taken in memory while it is summed. (2704 rows of 64 steps for 5 columns take
 * 63 us on one thread by copies, 27 by masks; 134 and 27 where the second operand is loaded so.) */
#define KORCH_FIRST(lanes, loaded, stored) \
  KORCH_INLINE korch_f##lanes korch_load_first##lanes(const float *x, int count) { loaded; } \
  KORCH_INLINE void korch_store_first##lanes(float *to, korch_f##lanes v, int count) { stored; }
#define KORCH_FIRST_COPIED(lanes) \
  KORCH_FIRST(lanes, korch_f##lanes v = {0}; memcpy(&v, x, 4 * count); return v, memcpy(to, &v, 4 * count))
#define KORCH_FIRST_MASKED(lanes, bits) \
  KORCH_FIRST(lanes, return __builtin_ia32_loadups##bits##_mask(x, (korch_f##lanes){0}, (1 << count) - 1), \
              __builtin_ia32_storeups##bits##_mask(to, v, (1 << count) - 1))
#define KORCH_FIRST_MASKED_BY_LANES(lanes, bits) \
  KORCH_FIRST(lanes, return __builtin_ia32_maskloadps##bits((const korch_f##lanes *)x, korch_mask##lanes(count)), \
              if (__builtin_constant_p(count)) korch_store_parts##lanes(to, v, count); \
              else __builtin_ia32_maskstoreps##bits((korch_f##lanes *)to, korch_mask##lanes(count), v))
#if defined(__AVX512VL__) && !defined(__clang__)
KORCH_FIRST_MASKED(4, 128)
KORCH_FIRST_MASKED(8, 256)
KORCH_FIRST_MASKED(16, 512)
#elif defined(__AVX__) && !defined(__clang__)
KORCH_INLINE korch_i4 korch_mask4(int count) { return (korch_i4){0, 1, 2, 3} < count; }
KORCH_INLINE korch_i8 korch_mask8(int count) { return (korch_i8){0, 1, 2, 3, 4, 5, 6, 7} < count; }
/* A known count in two or three parts: Zen 3 takes 12 turns for what it stores by a mask. */
KORCH_INLINE void korch_store_parts4(float *to, korch_f4 v, int count) {
  int pairs = count & 2;
  if (count == 4) *(korch_at4 *)to = v;
  else if (pairs) memcpy(to, &v, 8);
  if (count & 1) to[pairs] = v[pairs];
}
KORCH_INLINE void korch_store_parts8(float *to, korch_f8 v, int count) {
  korch_f4 halves[2];
  memcpy(halves, &v, sizeof v);
  korch_store_parts4(to, halves[0], KORCH_MIN(count, 4));
  if (count > 4) korch_store_parts4(to + 4, halves[1], count - 4);
}
KORCH_FIRST_MASKED_BY_LANES(4, )
KORCH_FIRST_MASKED_BY_LANES(8, 256)
KORCH_FIRST_COPIED(16)
#else
KORCH_FIRST_COPIED(4)
KORCH_FIRST_COPIED(8)
KORCH_FIRST_COPIED(16)
#endif

/* The numbers of a vector from memory in whose lanes a mask is set, zeros in the others: no other is touched. A mask is
 * of the lanes from one to before another, whatever of them there are. */
#define KORCH_SOME(lanes, mask, made, loaded) \
  typedef mask korch_some##lanes; \
  KORCH_INLINE mask korch_between##lanes(int from, int end) { \
    from = KORCH_MIN(KORCH_MAX(from, 0), lanes), end = KORCH_MAX(KORCH_MIN(end, lanes), from); \
    return made; \
  } \
  KORCH_INLINE korch_f##lanes korch_load_some##lanes(const float *x, mask some) { loaded; }
#define KORCH_LANES8 ((korch_i8){0, 1, 2, 3, 4, 5, 6, 7})
#define KORCH_LANES16 ((korch_i16){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#define KORCH_BETWEEN(lanes) ((KORCH_LANES##lanes >= from) & (KORCH_LANES##lanes < end))
#define KORCH_SOME_COPIED(lanes) \
  KORCH_SOME(lanes, korch_i##lanes, KORCH_BETWEEN(lanes), korch_f##lanes v = {0}; \
             for (int i = 0; i < lanes; ++i) if (some[i]) v[i] = x[i]; return v)
#if defined(__AVX__) && !defined(__clang__)
KORCH_SOME(8, korch_i8, KORCH_BETWEEN(8), return __builtin_ia32_maskloadps256((const korch_f8 *)x, some))
#else
KORCH_SOME_COPIED(8)
#endif
#if defined(__AVX512F__) && !defined(__clang__)
KORCH_SOME(16, uint16_t, (uint16_t)((1u << end) - (1u << from)),
           return __builtin_ia32_loadups512_mask(x, (korch_f16){0}, some))
#else
KORCH_SOME_COPIED(16)
#endif

/* Stores past the caches, where a vector has lines of its own; whoever has done so calls `korch_streamed` before others
 * read it. */
#if defined(__clang__)
#define KORCH_PAST(lanes, builtin) __builtin_nontemporal_store(v, (korch_f##lanes *)to)
#else
#define KORCH_PAST(lanes, builtin) builtin(to, v)
#endif
#define KORCH_STREAM(lanes, past) \
  KORCH_INLINE void korch_stream##lanes(float *to, korch_f##lanes v) { \
    if ((uintptr_t)to % sizeof v) *(korch_at##lanes *)to = v; \
    else past; \
  }
#define KORCH_HALVES(half) \
  korch_stream##half(to, ((const korch_at##half *)&v)[0]), korch_stream##half(to + half, ((const korch_at##half *)&v)[1])
#if defined(__SSE__)
KORCH_STREAM(4, KORCH_PAST(4, __builtin_ia32_movntps))
KORCH_INLINE void korch_streamed(void) { __builtin_ia32_sfence(); }
#else
KORCH_STREAM(4, *(korch_at4 *)to = v)
KORCH_INLINE void korch_streamed(void) {}
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
KORCH_INLINE void korch_stream(float *to, const float *from, int count) {
  int i = 0;
  for (; i < count && (uintptr_t)(to + i) % 64; ++i) to[i] = from[i];
  for (; i + 16 <= count; i += 16)
    for (int k = i; k < i + 16; k += KORCH_NATIVE) KORCH_STREAM_NATIVE(to + k, *(const korch_atn *)(from + k));
  for (; i < count; ++i) to[i] = from[i];
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define KORCH_SHUFFLES
#endif
#endif

/* x[0], x[2], x[4] ...; nothing behind the last is read. */
#if defined(KORCH_SHUFFLES)
#define KORCH_EVERY_OTHER(lanes, ...) \
  KORCH_INLINE korch_f##lanes korch_every_other##lanes(const float *x) { \
    korch_f##lanes a = *(const korch_at##lanes *)x, b = *(const korch_at##lanes *)(x + lanes - 1); \
    return __builtin_shufflevector(a, b, __VA_ARGS__); \
  }
#else
#define KORCH_EVERY_OTHER(lanes, ...) \
  KORCH_INLINE korch_f##lanes korch_every_other##lanes(const float *x) { \
    korch_f##lanes y; \
    for (int i = 0; i < lanes; ++i) y[i] = x[2 * i]; \
    return y; \
  }
#endif
KORCH_EVERY_OTHER(4, 0, 2, 5, 7)
KORCH_EVERY_OTHER(8, 0, 2, 4, 6, 9, 11, 13, 15)
KORCH_EVERY_OTHER(16, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31)

/* to[i * step + j] = a[i], b[i], c[i] or d[i] for j = 0, 1, 2 or 3. In each quarter of a vector four by four change
 * places. */
#if defined(KORCH_SHUFFLES)
#define KORCH_INTERLEAVE(lanes, low, high, first, second) \
  KORCH_INLINE void korch_interleave##lanes(float *to, ptrdiff_t step, korch_f##lanes a, korch_f##lanes b, \
                                             korch_f##lanes c, korch_f##lanes d) { \
    korch_f##lanes ab = __builtin_shufflevector(a, b, low), cd = __builtin_shufflevector(c, d, low); \
    korch_f##lanes AB = __builtin_shufflevector(a, b, high), CD = __builtin_shufflevector(c, d, high); \
    const korch_f##lanes turned[4] = { \
        __builtin_shufflevector(ab, cd, first), __builtin_shufflevector(ab, cd, second), \
        __builtin_shufflevector(AB, CD, first), __builtin_shufflevector(AB, CD, second)}; \
    for (int i = 0; i < lanes; ++i) \
      *(korch_at4 *)(to + i * step) = ((const korch_at4 *)&turned[i % 4])[i / 4]; \
  }
#define KORCH_LIST(...) __VA_ARGS__
KORCH_INTERLEAVE(8, KORCH_LIST(0, 8, 1, 9, 4, 12, 5, 13), KORCH_LIST(2, 10, 3, 11, 6, 14, 7, 15),
                 KORCH_LIST(0, 1, 8, 9, 4, 5, 12, 13), KORCH_LIST(2, 3, 10, 11, 6, 7, 14, 15))
KORCH_INTERLEAVE(16, KORCH_LIST(0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29),
                 KORCH_LIST(2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31),
                 KORCH_LIST(0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
                 KORCH_LIST(2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31))
#else
#define KORCH_INTERLEAVE(lanes) \
  KORCH_INLINE void korch_interleave##lanes(float *to, ptrdiff_t step, korch_f##lanes a, korch_f##lanes b, \
                                             korch_f##lanes c, korch_f##lanes d) { \
    for (int i = 0; i < lanes; ++i) { \
      float *y = to + i * step; \
      y[0] = a[i], y[1] = b[i], y[2] = c[i], y[3] = d[i]; \
    } \
  }
KORCH_INTERLEAVE(8)
KORCH_INTERLEAVE(16)
#endif

/* to[j * 16 + i] = from[i * step + j] for i < 16 and j < columns, in squares of four. */
KORCH_INLINE void korch_turn(float *restrict to, const float *restrict from, ptrdiff_t step, int columns) {
  int j = 0;
#if defined(KORCH_SHUFFLES)
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
KORCH_INLINE float korch_sum16(const float *x) {
  korch_f8 a = *(const korch_at8 *)x + *(const korch_at8 *)(x + 8);
  korch_f4 b, c;
  memcpy(&b, &a, sizeof b);
  memcpy(&c, (const char *)&a + sizeof b, sizeof c);
  b += c;
  return (b[0] + b[2]) + (b[1] + b[3]);
}

KORCH_INLINE float korch_sum32(const float *x) {
  korch_fn sums[16 / KORCH_NATIVE];
  for (int k = 0; k < 16 / KORCH_NATIVE; ++k) {
    const float *at = x + k * KORCH_NATIVE;
    sums[k] = *(const korch_atn *)at + *(const korch_atn *)(at + 16);
  }
  return korch_sum16((const float *)sums);
}

/* The sum of `count` products, sixteen side by side. */
KORCH_INLINE float korch_dot(const float *x, const float *y, int count) {
  korch_fn sums[16 / KORCH_NATIVE] = {0};
  int i = 0;
  for (; i + 16 <= count; i += 16)
    for (int k = 0; k < 16 / KORCH_NATIVE; ++k) {
      int at = i + k * KORCH_NATIVE;
      sums[k] += *(const korch_atn *)(x + at) * *(const korch_atn *)(y + at);
    }
  float rest = 0;
  for (; i < count; ++i) rest += x[i] * y[i];
  return korch_sum16((const float *)sums) + rest;
}
#endif
