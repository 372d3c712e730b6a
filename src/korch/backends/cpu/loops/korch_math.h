/* Elementary functions without branches or calls, so that the compiler vectorises the loops that use them. */
#ifndef KORCH_MATH_H
#define KORCH_MATH_H

/* Integers divide toward zero; by 0 they give 0, as numpy has it: processors stop there, and at the least number by -1. */
#define KORCH_DIVIDED(a, b) ((b) == 0 ? 0 : (b) == -1 ? (__typeof__(a))(0 - (uint64_t)(a)) : (a) / (b))
KORCH_INLINE int64_t korch_remainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

/* The same with the sign of b. */
KORCH_INLINE int64_t korch_modulo(int64_t a, int64_t b) {
  int64_t r = korch_remainder(a, b);
  return r && (r ^ b) < 0 ? r + b : r;
}
KORCH_INLINE double korch_modulod(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
KORCH_INLINE float korch_modulof(float a, float b) {
  float r = fmodf(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

KORCH_INLINE float korch_bits_to_float(int32_t i) { float f; memcpy(&f, &i, 4); return f; }
KORCH_INLINE int32_t korch_float_to_bits(float f) { int32_t i; memcpy(&i, &f, 4); return i; }

/* x, or `most`, a positive number, where x is above it: as integers, floats that are not both negative keep their
   order. NaN may become `most`. Compilers make one instruction of it, and several of a comparison of floats. */
KORCH_INLINE float korch_at_most(float x, float most) {
  int32_t i = korch_float_to_bits(x), j = korch_float_to_bits(most);
  return korch_bits_to_float(i < j ? i : j);
}

/* x, or `least`, a negative number, where x is below it: as unsigned integers, negative floats come last and turn
   their order round. NaN may become `least`. */
KORCH_INLINE float korch_at_least(float x, float least) {
  uint32_t i = (uint32_t)korch_float_to_bits(x), j = (uint32_t)korch_float_to_bits(least);
  return korch_bits_to_float((int32_t)(i < j ? i : j));
}

/* exp(x) = exp(r) 2^n 2^n with |r| <= ln2, for x in [-104, 89]: the two steps make denormal results right. Added to
   1.5 * 2^23 + 127, a small number is rounded, and the low bits of the sum are the exponent field of 2^n. */
KORCH_INLINE float korch_exp_within(float x) {
  const float magic = 12583039.0f;
  float t = fmaf(x, 0.72134752044448170f, magic), n = t - magic;
  float r = fmaf(n, -1.38629150390625f, x);
  r = fmaf(n, -2.85721364041863446e-6f, r);
  float p = 1.9611344032e-4f;
  p = fmaf(p, r, 1.4104676666e-3f);
  p = fmaf(p, r, 8.3361091092e-3f);
  p = fmaf(p, r, 4.1661258787e-2f);
  p = fmaf(p, r, 1.6666613519e-1f);
  p = fmaf(p, r, 5.0000035763e-1f);
  p = fmaf(p * r, r, r) + 1.0f;
  float s = korch_bits_to_float((int32_t)((uint32_t)korch_float_to_bits(t) << 23));
  return p * s * s;
}

KORCH_INLINE float korch_expf(float x) {
  float e = korch_exp_within(korch_at_least(korch_at_most(x, 89.0f), -104.0f));
  return x == x ? e : x;
}

/* exp(x) = exp(r) 2^n with |r| <= ln2 / 2, for x <= 0 as in a softmax. What would be below the least normal number is
   0. */
KORCH_INLINE float korch_exp_belowf(float x) {
  const float magic = 12583039.0f, least = -87.3f;
  int nothing = x < least;
  float c = nothing ? least : x, t = fmaf(c, 1.44269504089f, magic), n = t - magic;
  float r = fmaf(n, -0.693145751953125f, c);
  r = fmaf(n, -1.42860682030941723e-6f, r);
  float p = 8.3125012891e-3f;
  p = fmaf(p, r, 4.1890331574e-2f);
  p = fmaf(p, r, 1.6667115389e-1f);
  p = fmaf(p, r, 4.9999230309e-1f);
  p = fmaf(p, r, 1.0f);
  p = fmaf(p, r, 1.0f);
  float s = korch_bits_to_float((int32_t)((uint32_t)korch_float_to_bits(t) << 23));
  return nothing ? 0.0f : p * s;
}

/* exp(x) = above / below * scale for x in [-88.2, 88]: Pade's quotient of cubic polynomials p(r) / p(-r) on
   |r| <= ln2 / 2. Who divides anyway saves half of the polynomial. Times 3.4, so that p ends just below 4, where floats
   are densest. */
typedef struct { float above, below, scale; } korch_quotient;

KORCH_INLINE korch_quotient korch_exp_quotient(float x) {
  const float magic = 12583039.0f;
  float t = fmaf(x, 1.44269504089f, magic), n = t - magic;
  float r = fmaf(n, -0.693145751953125f, x);
  r = fmaf(n, -1.42860682030941723e-6f, r);
  float z = r * r, even = fmaf(z, 0.34f, 3.4f), odd = fmaf(z, 2.8333333333e-2f, 1.7f);
  float scale = korch_bits_to_float((int32_t)((uint32_t)korch_float_to_bits(t) << 23));
  return (korch_quotient){fmaf(r, odd, even), fmaf(-r, odd, even), scale};
}

/* log(m * 2^e) with m in [sqrt(1/2), sqrt(2)). */
KORCH_INLINE float korch_logf(float x) {
  int tiny = x < 1.17549435e-38f;
  float scaled = tiny ? x * 8388608.0f : x;
  int32_t bits = korch_float_to_bits(scaled);
  int32_t e = ((bits >> 23) & 255) - 126 - (tiny ? 23 : 0);
  float m = korch_bits_to_float((bits & 0x007fffff) | 0x3f000000);
  int low = m < 0.707106781186547524f;
  float f = low ? m + m - 1.0f : m - 1.0f;
  float n = (float)(low ? e - 1 : e);
  float z = f * f;
  float p = 7.0376836292e-2f;
  p = fmaf(p, f, -1.1514610310e-1f);
  p = fmaf(p, f, 1.1676998740e-1f);
  p = fmaf(p, f, -1.2420140846e-1f);
  p = fmaf(p, f, 1.4249322787e-1f);
  p = fmaf(p, f, -1.6668057665e-1f);
  p = fmaf(p, f, 2.0000714765e-1f);
  p = fmaf(p, f, -2.4999993993e-1f);
  p = fmaf(p, f, 3.3333331174e-1f);
  float y = f * z * p;
  y = fmaf(n, -2.12194440e-4f, y);
  y = fmaf(z, -0.5f, y);
  y = f + y;
  y = fmaf(n, 0.693359375f, y);
  y = x == INFINITY ? INFINITY : y;
  y = x == 0.0f ? -INFINITY : y;
  return x < 0.0f || x != x ? NAN : y;
}

/* Odd polynomial near zero, 1 - 2 / (exp(2|x|) + 1) elsewhere. */
KORCH_INLINE float korch_tanhf(float x) {
  float a = fabsf(x), z = x * x;
  float p = 2.2695016842e-3f;
  p = fmaf(p, z, -8.3231870583e-3f);
  p = fmaf(p, z, 2.1762502907e-2f);
  p = fmaf(p, z, -5.3958461627e-2f);
  p = fmaf(p, z, 1.3333300146e-1f);
  p = fmaf(p, z, -3.3333333149e-1f);
  float small = fmaf(p * z, x, x);
  float large = 1.0f - 2.0f / (korch_expf(a + a) + 1.0f);
  large = x < 0.0f ? -large : large;
  return a < 0.625f ? small : (x != x ? x : large);
}

KORCH_INLINE float korch_sigmoidf(float x) {
  float a = fabsf(x), t = korch_exp_within(a > 104.0f ? -104.0f : -a);
  return (x < 0.0f ? t : 1.0f) / (1.0f + t);
}

/* log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)); log1p(t) = log(u) * t / (u - 1) with u = 1 + t rounded. */
KORCH_INLINE float korch_softplusf(float x) {
  float t = korch_expf(-fabsf(x));
  float u = 1.0f + t, d = u - 1.0f;
  float l = d == 0.0f ? t : korch_logf(u) * (t / d);
  return (x > 0.0f ? x : 0.0f) + l;
}

/* tanh(log(1 + e)) = n / (n + 2) with e = exp(x), n = e (e + 2): what Mish multiplies x by. It is 1 from x = 20 on. */
KORCH_INLINE float korch_tanh_softplusf(float x) {
  float e = korch_exp_within(korch_at_least(korch_at_most(x, 20.0f), -104.0f));
  float n = e * (e + 2.0f), y = n / (n + 2.0f);
  return x == x ? y : x;
}

/* x sigmoid(x) = x / (1 + exp(-x)); all but zero below -87, where the sum overflows. */
KORCH_INLINE float korch_siluf(float x) {
  korch_quotient e = korch_exp_quotient(-korch_at_most(korch_at_least(x, -88.0f), 87.0f));
  return x * (e.below / fmaf(e.above, e.scale, e.below));
}

/* Mish, x tanh(log(1 + e)) = x n / (n + 2) with n = e (e + 2), for e = exp(x); all but zero below -87, where the scale
   is zero. */
KORCH_INLINE float korch_mishf(float x) {
  korch_quotient e = korch_exp_quotient(korch_at_most(korch_at_least(x, -88.2f), 20.0f));
  float scaled = e.above * e.scale, twice = e.below + e.below, n = scaled * (scaled + twice);
  return x * (n / fmaf(e.below, twice, n));
}

/* An odd polynomial below 0.9375; above it 1 - exp(-g(|x|)), g a fit of -log(erfc) on [0.9, 4]. */
KORCH_INLINE float korch_erff(float x) {
  float a = fabsf(x), z = x * x, c = a > 4.0f ? 4.0f : a;
  float s = 8.282021688e-5f;
  s = fmaf(s, z, -8.122038663e-4f);
  s = fmaf(s, z, 5.19923503e-3f);
  s = fmaf(s, z, -2.685868845e-2f);
  s = fmaf(s, z, 1.128368307e-1f);
  s = fmaf(s, z, -3.761263296e-1f);
  s = fmaf(s, z, 1.128379167f);
  float g = -1.6430636557e-6f;
  g = fmaf(g, c, 4.6163858625e-5f);
  g = fmaf(g, c, -5.9758577023e-4f);
  g = fmaf(g, c, 4.7626258325e-3f);
  g = fmaf(g, c, -2.6427637154e-2f);
  g = fmaf(g, c, 1.100871665e-1f);
  g = fmaf(g, c, 6.3182391811e-1f);
  g = fmaf(g, c, 1.1302310552f);
  g = fmaf(g, c, -3.1853966241e-4f);
  float large = 1.0f - korch_expf(-g);
  large = x < 0.0f ? -large : large;
  return a < 0.9375f ? s * x : (x != x ? x : large);
}

/* x (1 / 2 + erf(x / sqrt(2)) / 2), the second half as x times a quotient of polynomials in x^2: a few ulp, of |x|
   where it is all but zero. The quotient times x is 1 / 2 where it ends. */
KORCH_INLINE float korch_geluf(float x) {
  float u = korch_at_least(korch_at_most(x, 5.4953666f), -5.4953666f), z = u * u;
  float p = 2.28315761e-8f, q = 1.19593938e-6f;
  p = fmaf(p, z, 6.2990734e-6f);
  q = fmaf(q, z, 7.2336705e-5f);
  p = fmaf(p, z, 1.65214905e-4f);
  q = fmaf(q, z, 1.86429545e-3f);
  p = fmaf(p, z, 4.65525673e-3f);
  q = fmaf(q, z, 2.84548105e-2f);
  p = fmaf(p, z, 3.35287873e-2f);
  q = fmaf(q, z, 2.50710577e-1f);
  p = fmaf(p, z, 3.9894226e-1f);
  q = fmaf(q, z, 1.0f);
  return x * (0.5f + u * p / q);
}

/* x / s, correctly rounded, by way of `near`, which is 1 / s correctly rounded. The remainder of a quotient that is at
   most a unit off is exact, and times the reciprocal it corrects the quotient (Markstein, 1990); a first correction
   brings the quotient so near. Where the result is zero or NaN, x times the reciprocal is right, and has the sign.
   Within two units of the largest number the result may be infinite. */
KORCH_INLINE float korch_quotientf(float x, float s, float near) {
  float first = x * near, second = fmaf(fmaf(-first, s, x), near, first);
  float y = fmaf(fmaf(-second, s, x), near, second);
  return fabsf(y) > 0.0f ? y : first;
}

/* The integer nearest to x, plus `zero`, within integers `low` and `high` around it, beside 1.5 * 2^23, where a float has
   no digits below one: x is kept within the limits first. NaN becomes 0. */
KORCH_INLINE float korch_beside_magicf(float x, float low, float high, float zero) {
  float c = korch_at_least(korch_at_most(x, high - zero), -(zero - low)), t = c + 12582912.0f;
  return x == x ? (zero == 0.0f ? t : t + zero) : 12582912.0f;
}

/* As a byte, which is the last of the result. */
KORCH_INLINE int32_t korch_to_bytef(float x, float low, float high, float zero) {
  return korch_float_to_bits(korch_beside_magicf(x, low, high, zero));
}

/* As the float that such a byte is. */
KORCH_INLINE float korch_as_bytef(float x, float low, float high, float zero) {
  return korch_beside_magicf(x, low, high, zero) - 12582912.0f;
}

KORCH_INLINE double korch_expd(double x) { return exp(x); }
KORCH_INLINE double korch_logd(double x) { return log(x); }
KORCH_INLINE double korch_erfd(double x) { return erf(x); }
KORCH_INLINE double korch_tanhd(double x) { return tanh(x); }
KORCH_INLINE double korch_sigmoidd(double x) { return 1.0 / (1.0 + exp(-x)); }
KORCH_INLINE double korch_softplusd(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }
#endif
