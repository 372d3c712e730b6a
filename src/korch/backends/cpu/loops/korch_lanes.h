/* Vectors of sums of products, lane by lane: exact int32 of pairs of int16, as no pair of products of bytes less their zero
 * points leaves int32, or of quads of bytes; float32 of pairs of bfloat16. */
#ifndef KORCH_LANES_H
#define KORCH_LANES_H
typedef int32_t korch_lane __attribute__((aligned(1), may_alias));
typedef int32_t korch_lanes4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t korch_lanes8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t korch_lanes16 __attribute__((vector_size(64), aligned(4), may_alias));

/* s += a . b for pairs of int16. One instruction where there is one, else by way of another register. */
#define KORCH_DOT_ADDED(s, a, b, as) __asm__("vpdpwssd %" as "2, %" as "1, %" as "0" : "+v"(s) : "v"(a), "v"(b))
#define KORCH_DOT_APART(lanes, s, a, b, as) \
  do { \
    korch_i##lanes dots; \
    __asm__("vpmaddwd %" as "3, %" as "2, %" as "1\n\tvpaddd %" as "1, %" as "0, %" as "0" \
            : "+v"(s), "=&v"(dots) : "v"(a), "v"(b)); \
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

/* s += a . b for quads, the bytes of a unsigned, those of b signed. */
#define KORCH_QUADS_ADDED(prefix, s, a, b, as) \
  __asm__(prefix "vpdpbusd %" as "2, %" as "1, %" as "0" : "+v"(s) : "v"(a), "v"(b))
#define KORCH_BYTE(type, v, lane, i) (int32_t)(type)((uint32_t)(v)[lane] >> 8 * (i))
#define KORCH_QUADS_IN_C(lanes, s, a, b) \
  for (int lane = 0; lane < lanes; ++lane) \
    for (int i = 0; i < 4; ++i) (s)[lane] += KORCH_BYTE(uint8_t, a, lane, i) * KORCH_BYTE(int8_t, b, lane, i)
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define KORCH_QUADS4(s, a, b) KORCH_QUADS_ADDED("", s, a, b, "x")
#define KORCH_QUADS8(s, a, b) KORCH_QUADS_ADDED("", s, a, b, "t")
#elif defined(__AVXVNNI__)
#define KORCH_QUADS4(s, a, b) KORCH_QUADS_ADDED("%{vex%} ", s, a, b, "x")
#define KORCH_QUADS8(s, a, b) KORCH_QUADS_ADDED("%{vex%} ", s, a, b, "t")
#else
#define KORCH_QUADS4(s, a, b) KORCH_QUADS_IN_C(4, s, a, b)
#define KORCH_QUADS8(s, a, b) KORCH_QUADS_IN_C(8, s, a, b)
#endif
#if defined(__AVX512VNNI__)
#define KORCH_QUADS16(s, a, b) KORCH_QUADS_ADDED("", s, a, b, "g")
#else
#define KORCH_QUADS16(s, a, b) KORCH_QUADS_IN_C(16, s, a, b)
#endif

/* The upper half of a float32. */
typedef uint16_t korch_bf16;

/* Rounded to nearest, ties to even; NaN stays one. */
KORCH_INLINE korch_bf16 korch_to_bf16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint32_t near = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (korch_bf16)(x == x ? near : 0x7fc0);
}
KORCH_INLINE float korch_of_bf16(uint32_t upper) {
  float x;
  memcpy(&x, &upper, sizeof x);
  return x;
}

/* s += a . b for pairs of bfloat16. */
#define KORCH_HALVES_ADDED(s, a, b, as) \
  __asm__("vdpbf16ps %" as "2, %" as "1, %" as "0" : "+v"(s) : "v"(a), "v"(b))
#define KORCH_LOWER(v, lane) korch_of_bf16((uint32_t)(v)[lane] << 16)
#define KORCH_UPPER(v, lane) korch_of_bf16((uint32_t)(v)[lane] & 0xffff0000)
#define KORCH_HALVES_IN_C(lanes, s, a, b) \
  for (int lane = 0; lane < lanes; ++lane) \
    (s)[lane] += KORCH_LOWER(a, lane) * KORCH_LOWER(b, lane) + KORCH_UPPER(a, lane) * KORCH_UPPER(b, lane)
#if defined(__AVX512BF16__) && defined(__AVX512VL__)
#define KORCH_HALVES4(s, a, b) KORCH_HALVES_ADDED(s, a, b, "x")
#define KORCH_HALVES8(s, a, b) KORCH_HALVES_ADDED(s, a, b, "t")
#define KORCH_HALVES16(s, a, b) KORCH_HALVES_ADDED(s, a, b, "g")
#else
#define KORCH_HALVES4(s, a, b) KORCH_HALVES_IN_C(4, s, a, b)
#define KORCH_HALVES8(s, a, b) KORCH_HALVES_IN_C(8, s, a, b)
#define KORCH_HALVES16(s, a, b) KORCH_HALVES_IN_C(16, s, a, b)
#endif
#endif
