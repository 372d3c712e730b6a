// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(1, 1, 1, 1), strides=(1, 2))  # f32[1,6,4,384]
static int init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(2211840);
  if (!to) return 1;
  static const int groups[][3] = {{0, 48, 48}, {48, 48, 48}, {96, 48, 48}, {144, 48, 48}, {192, 48, 48}, {240, 48, 48}, {288, 48, 48}, {336, 48, 48}};
  for (int g = 0; g < 8; ++g)
    for (int l = 0; l < 3; ++l)
      for (int o = 0; o < 3; ++o)
        for (int k = 0; k < 160; ++k)
          for (int n = 0; n < groups[g][2]; ++n) {
            const int channel = k, tap = o;
            const int at = ((groups[g][0] + n) * 160 + channel) * 3 + l;
            *to++ = n < groups[g][1] ? w[at * 3 + tap] : 0.0f;
          }
  return korch_pack(state, 2211840);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile16_16_16x3_1ahead8(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *ahead) {
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s0_2 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s1_1 = {0};
  korch_f16 s1_2 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s2_1 = {0};
  korch_f16 s2_2 = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      if (i % 2 == 0) {
        __builtin_prefetch(ahead + k * 8 + 0, 0, 2);
      }
      korch_f16 b0 = *(const korch_at16 *)(b + k * 48 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 48 + 16);
      korch_f16 b2 = *(const korch_at16 *)(b + k * 48 + 32);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); }
      { const float x = a[320 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); }
      { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    __builtin_prefetch(ahead + k * 8 + 0, 0, 2);
    korch_f16 b0 = *(const korch_at16 *)(b + k * 48 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 48 + 16);
    korch_f16 b2 = *(const korch_at16 *)(b + k * 48 + 32);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); }
    { const float x = a[320 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); }
    { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); }
    __asm__ volatile("" ::: "memory");
  }
  korch_f16 c_s0_0 = *(const korch_at16 *)(c + 0);
  s0_0 += c_s0_0;
  *(korch_at16 *)(c + 0) = s0_0;
  korch_f16 c_s0_1 = *(const korch_at16 *)(c + 16);
  s0_1 += c_s0_1;
  *(korch_at16 *)(c + 16) = s0_1;
  korch_f16 c_s0_2 = *(const korch_at16 *)(c + 32);
  s0_2 += c_s0_2;
  *(korch_at16 *)(c + 32) = s0_2;
  korch_f16 c_s1_0 = *(const korch_at16 *)(c + 48);
  s1_0 += c_s1_0;
  *(korch_at16 *)(c + 48) = s1_0;
  korch_f16 c_s1_1 = *(const korch_at16 *)(c + 64);
  s1_1 += c_s1_1;
  *(korch_at16 *)(c + 64) = s1_1;
  korch_f16 c_s1_2 = *(const korch_at16 *)(c + 80);
  s1_2 += c_s1_2;
  *(korch_at16 *)(c + 80) = s1_2;
  korch_f16 c_s2_0 = *(const korch_at16 *)(c + 96);
  s2_0 += c_s2_0;
  *(korch_at16 *)(c + 96) = s2_0;
  korch_f16 c_s2_1 = *(const korch_at16 *)(c + 112);
  s2_1 += c_s2_1;
  *(korch_at16 *)(c + 112) = s2_1;
  korch_f16 c_s2_2 = *(const korch_at16 *)(c + 128);
  s2_2 += c_s2_2;
  *(korch_at16 *)(c + 128) = s2_2;
}
__attribute__((noinline))
static void tile16_16_16x4_1ahead8(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *ahead) {
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s0_2 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s1_1 = {0};
  korch_f16 s1_2 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s2_1 = {0};
  korch_f16 s2_2 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s3_1 = {0};
  korch_f16 s3_2 = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      if (i % 2 == 0) {
        __builtin_prefetch(ahead + k * 8 + 0, 0, 2);
      }
      korch_f16 b0 = *(const korch_at16 *)(b + k * 48 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 48 + 16);
      korch_f16 b2 = *(const korch_at16 *)(b + k * 48 + 32);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); }
      { const float x = a[320 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); }
      { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); }
      { const float x = a[960 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    __builtin_prefetch(ahead + k * 8 + 0, 0, 2);
    korch_f16 b0 = *(const korch_at16 *)(b + k * 48 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 48 + 16);
    korch_f16 b2 = *(const korch_at16 *)(b + k * 48 + 32);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); }
    { const float x = a[320 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); }
    { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); }
    { const float x = a[960 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); }
    __asm__ volatile("" ::: "memory");
  }
  korch_f16 c_s0_0 = *(const korch_at16 *)(c + 0);
  s0_0 += c_s0_0;
  *(korch_at16 *)(c + 0) = s0_0;
  korch_f16 c_s0_1 = *(const korch_at16 *)(c + 16);
  s0_1 += c_s0_1;
  *(korch_at16 *)(c + 16) = s0_1;
  korch_f16 c_s0_2 = *(const korch_at16 *)(c + 32);
  s0_2 += c_s0_2;
  *(korch_at16 *)(c + 32) = s0_2;
  korch_f16 c_s1_0 = *(const korch_at16 *)(c + 48);
  s1_0 += c_s1_0;
  *(korch_at16 *)(c + 48) = s1_0;
  korch_f16 c_s1_1 = *(const korch_at16 *)(c + 64);
  s1_1 += c_s1_1;
  *(korch_at16 *)(c + 64) = s1_1;
  korch_f16 c_s1_2 = *(const korch_at16 *)(c + 80);
  s1_2 += c_s1_2;
  *(korch_at16 *)(c + 80) = s1_2;
  korch_f16 c_s2_0 = *(const korch_at16 *)(c + 96);
  s2_0 += c_s2_0;
  *(korch_at16 *)(c + 96) = s2_0;
  korch_f16 c_s2_1 = *(const korch_at16 *)(c + 112);
  s2_1 += c_s2_1;
  *(korch_at16 *)(c + 112) = s2_1;
  korch_f16 c_s2_2 = *(const korch_at16 *)(c + 128);
  s2_2 += c_s2_2;
  *(korch_at16 *)(c + 128) = s2_2;
  korch_f16 c_s3_0 = *(const korch_at16 *)(c + 144);
  s3_0 += c_s3_0;
  *(korch_at16 *)(c + 144) = s3_0;
  korch_f16 c_s3_1 = *(const korch_at16 *)(c + 160);
  s3_1 += c_s3_1;
  *(korch_at16 *)(c + 160) = s3_1;
  korch_f16 c_s3_2 = *(const korch_at16 *)(c + 176);
  s3_2 += c_s3_2;
  *(korch_at16 *)(c + 176) = s3_2;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict x = in0;
  float *restrict out = out_;
  float *const y = (float *)((char *)workspace + 0 * INT64_C(4608));
  for (int image = 0; image < 1; image += 1) {
    for (int band = 0; band < 1; band += 1) {
      for (int some = 0; some < 1; some += 1) {
        for (int part = 0; part < 1; part += 1) {
          const int top = band * 6 / 1, end = (band + 1) * 6 / 1;
          for (int group = KORCH_MAX((part) * 8 / 1 - 0, 0); group < KORCH_MIN((part + 1) * 8 / 1 - 0, 8); ++group) {
            enum { count = 48 };
            const int c0 = some * 384 + 0 + group * 48;
            const float *const packed = (const float *)state + some * INT64_C(552960) + INT64_C(1440) * (0 + group * 48);
            memset(y, 0, (end - top) * 768);
            for (int l = 0; l < 3; ++l) {
              for (int t = 0; t < 1; ++t) {
                for (int k0 = 0; k0 < 160; k0 += 80) {
                  const int steps = 80;
                  const float *const b = packed + ((l * 3 + t) * 160 + k0) * 48;
                  for (int h = top; h < end; ++h) {
                    const int row = h * 1 - 1 + l * 1;
                    if (row < 0 || row >= 6) continue;
                    const float *const a = x + ((image * 6 + row) * INT64_C(8) + t * 1 + 1) * 160 + some * 160 + k0;
                    float *const c = y + ((h - top) * 4 + 1) * 48;
                    for (int r = 0; r < 3; r += 3)
                      tile16_16_16x3_1ahead8(a + r * 320, b, c + r * 48, steps, b + (48 + ((h - top) * 1 + 0 + (r - 0) / 3) * 8) * steps);
                  }
                }
              }
              for (int t = 1; t < 3; ++t) {
                for (int k0 = 0; k0 < 160; k0 += 80) {
                  const int steps = 80;
                  const float *const b = packed + ((l * 3 + t) * 160 + k0) * 48;
                  for (int h = top; h < end; ++h) {
                    const int row = h * 1 - 1 + l * 1;
                    if (row < 0 || row >= 6) continue;
                    const float *const a = x + ((image * 6 + row) * INT64_C(8) + t * 1 + -1) * 160 + some * 160 + k0;
                    float *const c = y + ((h - top) * 4 + 0) * 48;
                    for (int r = 0; r < 4; r += 4)
                      tile16_16_16x4_1ahead8(a + r * 320, b, c + r * 48, steps, b + (48 + ((h - top) * 1 + 0 + (r - 0) / 4) * 8) * steps);
                  }
                }
              }
            }
            for (int h = top; h < end; ++h) {
              for (int w = 0; w < 4; ++w) {
                const float *restrict z = y + ((h - top) * 4 + w) * 48;
                #pragma omp simd
                for (int c = 0; c < count; ++c) {
                  const float v0 = z[c];
                  out[w * 384 + h * 1536 + c0 + c] = v0;
                }
              }
            }
          }
        }
      }
    }
  }
}
