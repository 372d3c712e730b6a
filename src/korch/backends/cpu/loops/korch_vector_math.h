/* Elementary functions of vectors, written for vectors: of a loop over the lanes of one, compilers make calls of one number
 * each where a unit is long. (8 lanes of SiLU behind a product, in a program with AVX2: some 60 turns, and 10 so.) Sixteen
 * floats have a faster exponential where a table of powers of two lies in a register. */
#ifndef KORCH_VECTOR_MATH_H
#define KORCH_VECTOR_MATH_H

/* Of a vector, as `korch_exp_quotient`, `korch_siluf`, `korch_mishf` and `korch_tanhf` have it of a number; the sigmoid
 * is all but zero below -88, where it stays. NaN stays, and SiLU and Mish of minus infinity are NaN: the scale ends at
 * infinity or zero, so that a factor of zero multiplies x. */
#define KORCH_QUOTIENTS(lanes) \
  typedef struct { korch_f##lanes above, below, scale; } korch_quotient##lanes; \
  KORCH_INLINE korch_f##lanes korch_within##lanes(korch_f##lanes x, float least, float most) { \
    const korch_f##lanes none = {0}; \
    return korch_smaller##lanes(none + most, korch_larger##lanes(none + least, x)); \
  } \
  KORCH_INLINE korch_quotient##lanes korch_exp_quotient##lanes(korch_f##lanes x) { \
    const korch_f##lanes t = x * 1.44269504089f + 12583039.0f, n = t - 12583039.0f; \
    const korch_f##lanes r = x - n * 0.693145751953125f - n * 1.42860682030941723e-6f, z = r * r; \
    const korch_f##lanes even = z * 0.085f + 0.85f, odd = z * 7.08333333325e-3f + 0.425f; \
    return (korch_quotient##lanes){r * odd + even, even - r * odd, (korch_f##lanes)((korch_i##lanes)t << 23)}; \
  } \
  KORCH_INLINE korch_f##lanes korch_tanh##lanes(korch_f##lanes x) { \
    const korch_i##lanes sign = (korch_i##lanes)x & INT32_MIN; \
    const korch_f##lanes a = (korch_f##lanes)((korch_i##lanes)x & INT32_MAX), z = x * x; \
    const korch_f##lanes p = (((((z * 2.2695016842e-3f - 8.3231870583e-3f) * z + 2.1762502907e-2f) * z \
                                - 5.3958461627e-2f) * z + 1.3333300146e-1f) * z - 3.3333333149e-1f) * z; \
    const korch_quotient##lanes e = korch_exp_quotient##lanes(korch_within##lanes(a + a, 0.0f, 40.0f)); \
    const korch_f##lanes large = 1.0f - (e.below + e.below) / (e.above * e.scale + e.below); \
    const korch_f##lanes far = (korch_f##lanes)((korch_i##lanes)large | sign); \
    return KORCH_PICK(lanes, a < 0.625f, p * x + x, far); \
  }
#define KORCH_ACTIVATIONS(lanes) \
  KORCH_INLINE korch_f##lanes korch_sigmoid##lanes(korch_f##lanes x) { \
    const korch_quotient##lanes e = korch_exp_quotient##lanes(-korch_within##lanes(x, -88.0f, 87.0f)); \
    return e.below / (e.above * e.scale + e.below); \
  } \
  KORCH_INLINE korch_f##lanes korch_silu##lanes(korch_f##lanes x) { \
    const korch_quotient##lanes e = korch_exp_quotient##lanes(-korch_within##lanes(x, -88.8f, 87.0f)); \
    return x * (e.below / (e.above * e.scale + e.below)); \
  } \
  KORCH_INLINE korch_f##lanes korch_mish##lanes(korch_f##lanes x) { \
    const korch_quotient##lanes e = korch_exp_quotient##lanes(korch_within##lanes(x, -88.0f, 20.0f)); \
    const korch_f##lanes scaled = e.above * e.scale, twice = e.below + e.below, n = scaled * (scaled + twice); \
    return x * (n / (e.below * twice + n)); \
  }
KORCH_QUOTIENTS(4)
KORCH_QUOTIENTS(8)
KORCH_QUOTIENTS(16)
KORCH_ACTIVATIONS(4)
KORCH_ACTIVATIONS(8)
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
typedef struct { korch_f16 scale, more; } korch_power16;

/* exp(x) = scale + scale * more for x in [-88, 88]: n sixteenths of a factor of two, of which the last four bits choose
 * from a register, and a polynomial on |r| <= ln2 / 32. What is in the register makes up for those four bits, which are
 * added to the fraction with the exponent. */
KORCH_INLINE korch_power16 korch_exp_power16(korch_f16 x) {
  const korch_i16 sixteenths = {0x3f800000, 0x3f7daac3, 0x3f7b95c2, 0x3f79c3d3, 0x3f7837f0, 0x3f76f532,
                                0x3f75fed7, 0x3f75583f, 0x3f7504f3, 0x3f7508a4, 0x3f75672a, 0x3f76248c,
                                0x3f7744fd, 0x3f78ccdf, 0x3f7ac0c7, 0x3f7d257d};
  const float magic = 12582912.0f;
  korch_f16 t = x * 23.0831206542f + magic, n = t - magic;
  korch_f16 r = x - n * 0.0433197021484375f - n * 1.9966363668e-6f;
  korch_f16 more = ((r * 0.166666667f + 0.5f) * r + 1.0f) * r;
  korch_i16 i = (korch_i16)t;
  return (korch_power16){(korch_f16)(__builtin_shuffle(sixteenths, i) + (i << 19)), more};
}

/* x, or `least` where x is below it, or `most` where it is above; NaN stays. */
KORCH_INLINE korch_f16 korch_at_least16(korch_f16 x, float least) {
  return (korch_f16)__builtin_ia32_maxps512_mask((korch_f16){0} + least, x, x, -1, 4);
}

/* The same; minus infinity stays, too, of which what follows makes NaN. (30 is "greater, quiet".) */
KORCH_INLINE korch_f16 korch_finite_at_least16(korch_f16 x, float least) {
  unsigned short finite = __builtin_ia32_cmpps512_mask(x, (korch_f16){0} - INFINITY, 30, -1, 4);
  return (korch_f16)__builtin_ia32_maxps512_mask((korch_f16){0} + least, x, x, finite, 4);
}

KORCH_INLINE korch_f16 korch_at_most16(korch_f16 x, float most) {
  return (korch_f16)__builtin_ia32_minps512_mask((korch_f16){0} + most, x, x, -1, 4);
}

/* 1 + exp(-x) for x of at least -88: thirty-seconds of a factor of two, chosen from two registers by five bits, and a
 * polynomial on |r| <= ln2 / 64 that is exp(r - 0.011). That is below one, where floats are densest, and what it lacks is
 * in the registers. (SiLU takes 0.9 of the time that it takes with sixteenths.) */
KORCH_INLINE korch_f16 korch_one_and_exp16(korch_f16 x) {
  const korch_i16 lower = {0x3f816a70, 0x3f803fe6, 0x3f7f253f, 0x3f7e1ad4, 0x3f7d2100, 0x3f7c381f,
                           0x3f7b6091, 0x3f7a9ab7, 0x3f79e6f4, 0x3f7945ad, 0x3f78b74b, 0x3f783c37,
                           0x3f77d4dd, 0x3f7781ac, 0x3f774314, 0x3f77198a};
  const korch_i16 upper = {0x3f770584, 0x3f770779, 0x3f771fe6, 0x3f774f47, 0x3f77961f, 0x3f77f4ef,
                           0x3f786c40, 0x3f78fc99, 0x3f79a688, 0x3f7a6a9c, 0x3f7b4967, 0x3f7c437f,
                           0x3f7d597e, 0x3f7e8bfe, 0x3f7fdba2, 0x3f81490b};
  const float magic = 12582912.0f;
  korch_f16 u = -korch_at_most16(x, 87.0f), t = u * 46.1662413084f + magic, n = t - magic;
  korch_f16 r = u - n * 0.02165985107421875f - n * 9.983181684e-7f;
  korch_i16 i = (korch_i16)t;
  korch_f16 scale = (korch_f16)(__builtin_shuffle(lower, upper, i) + (i << 18));
  return scale * ((r * 0.49453014f + 0.98907477f) * r + 0.9890603f) + 1.0f;
}

/* All but zero below -88, where it stays 2^-127. */
KORCH_INLINE korch_f16 korch_sigmoid16(korch_f16 x) {
  return 1.0f / korch_one_and_exp16(korch_at_least16(x, -88.0f));
}

/* x / (1 + exp(-x)). */
KORCH_INLINE korch_f16 korch_silu16(korch_f16 x) {
  korch_f16 u = korch_finite_at_least16(x, -88.0f);
  return u / korch_one_and_exp16(u);
}

/* Mish, x n / (n + 2) with n = e (e + 2), for e = exp(x). */
KORCH_INLINE korch_f16 korch_mish16(korch_f16 x) {
  korch_f16 u = korch_finite_at_least16(x, -87.0f);
  korch_power16 e = korch_exp_power16(korch_at_most16(u, 20.0f));
  korch_f16 y = e.scale * e.more + e.scale, n = y * y + (y + y);
  return u / (n + 2.0f) * n;
}
#else
KORCH_ACTIVATIONS(16)
#endif
#endif
