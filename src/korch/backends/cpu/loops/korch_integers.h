/* Vectors of int32 sums, each number of a pair of int16 times one of another pair: exact, as no pair of products of bytes
 * less their zero points leaves int32. */
#ifndef KORCH_INTEGERS_H
#define KORCH_INTEGERS_H
typedef int32_t korch_pair __attribute__((aligned(2), may_alias));
typedef int32_t korch_pairs4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t korch_pairs8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t korch_pairs16 __attribute__((vector_size(64), aligned(4), may_alias));

/* s += a . b, lane by lane. One instruction where there is one, else by way of another register. */
#define KORCH_DOT_ADDED(s, a, b, as) __asm__("vpdpwssd %" as "2, %" as "1, %" as "0" : "+v"(s) : "v"(a), "v"(b))
#define KORCH_DOT_APART(lanes, s, a, b, as) \
  do { \
    korch_i##lanes dots; \
    __asm__("vpmaddwd %" as "2, %" as "1, %" as "0" : "=v"(dots) : "v"(a), "v"(b)); \
    (s) += dots; \
  } while (0)
#define KORCH_DOT_IN_C(lanes, s, a, b) \
  for (int lane = 0; lane < lanes; ++lane) \
    (s)[lane] += (int16_t)(a)[lane] * (int16_t)(b)[lane] + ((a)[lane] >> 16) * ((b)[lane] >> 16)
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define KORCH_DOT4(s, a, b) KORCH_DOT_ADDED(s, a, b, "x")
#define KORCH_DOT8(s, a, b) KORCH_DOT_ADDED(s, a, b, "t")
#elif defined(__AVX2__)
#define KORCH_DOT4(s, a, b) KORCH_DOT_APART(4, s, a, b, "x")
#define KORCH_DOT8(s, a, b) KORCH_DOT_APART(8, s, a, b, "t")
#else
#define KORCH_DOT4(s, a, b) KORCH_DOT_IN_C(4, s, a, b)
#define KORCH_DOT8(s, a, b) KORCH_DOT_IN_C(8, s, a, b)
#endif
#if defined(__AVX512VNNI__)
#define KORCH_DOT16(s, a, b) KORCH_DOT_ADDED(s, a, b, "g")
#elif defined(__AVX512BW__)
#define KORCH_DOT16(s, a, b) KORCH_DOT_APART(16, s, a, b, "g")
#else
#define KORCH_DOT16(s, a, b) KORCH_DOT_IN_C(16, s, a, b)
#endif
#endif
