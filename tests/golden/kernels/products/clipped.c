// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,4,4,32]
// t4 = add(t2, bias)  # f32[1,4,4,32]
// t6 = sub(t4, residual)  # f32[1,4,4,32]
// t8 = max(t6, -0.5)  # f32[1,4,4,32]
// t10 = min(t8, most)  # f32[1,4,4,32]
// t12 = div(t10, 3.0)  # f32[1,4,4,32]
// t13 = leaky_relu(t12, alpha=0.25)  # f32[1,4,4,32]
// t14 = mul(t13, t10)  # f32[1,4,4,32]
static int init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  float *to = *state = korch_aligned(4096);
  if (!to) return 1;
  static const int groups[][3] = {{0, 32, 32}};
  for (int g = 0; g < 1; ++g) {
    for (int k0 = 0; k0 < 32; ++k0) {
      for (int j = 0; j < groups[g][2]; ++j) {
        const int n = KORCH_MIN(groups[g][0] + j, 31);
        const float v0 = in1[k0 + n * 32];
        *to++ = j < groups[g][1] ? v0 : 0.0f;
      }
    }
  }
  return korch_pack(state, 4096);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile_4_32_32_1_32_32_0_all(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *restrict e0, const float *restrict e1, const float *restrict e2) {
  korch_f16 s0_0 = *(const korch_at16 *)(e0 + 0);
  korch_f16 s0_1 = *(const korch_at16 *)(e0 + 16);
  korch_f16 s1_0 = s0_0;
  korch_f16 s1_1 = s0_1;
  korch_f16 s2_0 = s0_0;
  korch_f16 s2_1 = s0_1;
  korch_f16 s3_0 = s0_0;
  korch_f16 s3_1 = s0_1;
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 32 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 32 + 16);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); }
      { const float x = a[32 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); }
      { const float x = a[64 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); }
      { const float x = a[96 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 32 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 32 + 16);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); }
    { const float x = a[32 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); }
    { const float x = a[64 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); }
    { const float x = a[96 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); }
    __asm__ volatile("" ::: "memory");
  }
  korch_f16 x1s0_0 = *(const korch_at16 *)(e1 + 0);
  korch_f16 x2s0_0 = *(e2 + 0) - (korch_f16){0};
    const korch_f16 y0s0_0 = s0_0 - x1s0_0;
    const korch_f16 y1s0_0 = korch_larger16(((-5.0e-1f) - (korch_f16){0}), y0s0_0);
    const korch_f16 y2s0_0 = KORCH_PICK(16, y1s0_0 != y1s0_0, y1s0_0, korch_smaller16(y1s0_0, x2s0_0));
    const korch_f16 y3s0_0 = y2s0_0 / (3.0e+0f - (korch_f16){0});
    const korch_f16 y4s0_0 = korch_larger16(y3s0_0, 2.5e-1f * y3s0_0);
    const korch_f16 y5s0_0 = y4s0_0 * y2s0_0;
  *(korch_at16 *)(c + 0) = y5s0_0;
  korch_f16 x1s0_1 = *(const korch_at16 *)(e1 + 16);
  korch_f16 x2s0_1 = *(e2 + 0) - (korch_f16){0};
    const korch_f16 y0s0_1 = s0_1 - x1s0_1;
    const korch_f16 y1s0_1 = korch_larger16(((-5.0e-1f) - (korch_f16){0}), y0s0_1);
    const korch_f16 y2s0_1 = KORCH_PICK(16, y1s0_1 != y1s0_1, y1s0_1, korch_smaller16(y1s0_1, x2s0_1));
    const korch_f16 y3s0_1 = y2s0_1 / (3.0e+0f - (korch_f16){0});
    const korch_f16 y4s0_1 = korch_larger16(y3s0_1, 2.5e-1f * y3s0_1);
    const korch_f16 y5s0_1 = y4s0_1 * y2s0_1;
  *(korch_at16 *)(c + 16) = y5s0_1;
  korch_f16 x1s1_0 = *(const korch_at16 *)(e1 + 32);
  korch_f16 x2s1_0 = *(e2 + 0) - (korch_f16){0};
    const korch_f16 y0s1_0 = s1_0 - x1s1_0;
    const korch_f16 y1s1_0 = korch_larger16(((-5.0e-1f) - (korch_f16){0}), y0s1_0);
    const korch_f16 y2s1_0 = KORCH_PICK(16, y1s1_0 != y1s1_0, y1s1_0, korch_smaller16(y1s1_0, x2s1_0));
    const korch_f16 y3s1_0 = y2s1_0 / (3.0e+0f - (korch_f16){0});
    const korch_f16 y4s1_0 = korch_larger16(y3s1_0, 2.5e-1f * y3s1_0);
    const korch_f16 y5s1_0 = y4s1_0 * y2s1_0;
  *(korch_at16 *)(c + 32) = y5s1_0;
  korch_f16 x1s1_1 = *(const korch_at16 *)(e1 + 48);
  korch_f16 x2s1_1 = *(e2 + 0) - (korch_f16){0};
    const korch_f16 y0s1_1 = s1_1 - x1s1_1;
    const korch_f16 y1s1_1 = korch_larger16(((-5.0e-1f) - (korch_f16){0}), y0s1_1);
    const korch_f16 y2s1_1 = KORCH_PICK(16, y1s1_1 != y1s1_1, y1s1_1, korch_smaller16(y1s1_1, x2s1_1));
    const korch_f16 y3s1_1 = y2s1_1 / (3.0e+0f - (korch_f16){0});
    const korch_f16 y4s1_1 = korch_larger16(y3s1_1, 2.5e-1f * y3s1_1);
    const korch_f16 y5s1_1 = y4s1_1 * y2s1_1;
  *(korch_at16 *)(c + 48) = y5s1_1;
  korch_f16 x1s2_0 = *(const korch_at16 *)(e1 + 64);
  korch_f16 x2s2_0 = *(e2 + 0) - (korch_f16){0};
    const korch_f16 y0s2_0 = s2_0 - x1s2_0;
    const korch_f16 y1s2_0 = korch_larger16(((-5.0e-1f) - (korch_f16){0}), y0s2_0);
    const korch_f16 y2s2_0 = KORCH_PICK(16, y1s2_0 != y1s2_0, y1s2_0, korch_smaller16(y1s2_0, x2s2_0));
    const korch_f16 y3s2_0 = y2s2_0 / (3.0e+0f - (korch_f16){0});
    const korch_f16 y4s2_0 = korch_larger16(y3s2_0, 2.5e-1f * y3s2_0);
    const korch_f16 y5s2_0 = y4s2_0 * y2s2_0;
  *(korch_at16 *)(c + 64) = y5s2_0;
  korch_f16 x1s2_1 = *(const korch_at16 *)(e1 + 80);
  korch_f16 x2s2_1 = *(e2 + 0) - (korch_f16){0};
    const korch_f16 y0s2_1 = s2_1 - x1s2_1;
    const korch_f16 y1s2_1 = korch_larger16(((-5.0e-1f) - (korch_f16){0}), y0s2_1);
    const korch_f16 y2s2_1 = KORCH_PICK(16, y1s2_1 != y1s2_1, y1s2_1, korch_smaller16(y1s2_1, x2s2_1));
    const korch_f16 y3s2_1 = y2s2_1 / (3.0e+0f - (korch_f16){0});
    const korch_f16 y4s2_1 = korch_larger16(y3s2_1, 2.5e-1f * y3s2_1);
    const korch_f16 y5s2_1 = y4s2_1 * y2s2_1;
  *(korch_at16 *)(c + 80) = y5s2_1;
  korch_f16 x1s3_0 = *(const korch_at16 *)(e1 + 96);
  korch_f16 x2s3_0 = *(e2 + 0) - (korch_f16){0};
    const korch_f16 y0s3_0 = s3_0 - x1s3_0;
    const korch_f16 y1s3_0 = korch_larger16(((-5.0e-1f) - (korch_f16){0}), y0s3_0);
    const korch_f16 y2s3_0 = KORCH_PICK(16, y1s3_0 != y1s3_0, y1s3_0, korch_smaller16(y1s3_0, x2s3_0));
    const korch_f16 y3s3_0 = y2s3_0 / (3.0e+0f - (korch_f16){0});
    const korch_f16 y4s3_0 = korch_larger16(y3s3_0, 2.5e-1f * y3s3_0);
    const korch_f16 y5s3_0 = y4s3_0 * y2s3_0;
  *(korch_at16 *)(c + 96) = y5s3_0;
  korch_f16 x1s3_1 = *(const korch_at16 *)(e1 + 112);
  korch_f16 x2s3_1 = *(e2 + 0) - (korch_f16){0};
    const korch_f16 y0s3_1 = s3_1 - x1s3_1;
    const korch_f16 y1s3_1 = korch_larger16(((-5.0e-1f) - (korch_f16){0}), y0s3_1);
    const korch_f16 y2s3_1 = KORCH_PICK(16, y1s3_1 != y1s3_1, y1s3_1, korch_smaller16(y1s3_1, x2s3_1));
    const korch_f16 y3s3_1 = y2s3_1 / (3.0e+0f - (korch_f16){0});
    const korch_f16 y4s3_1 = korch_larger16(y3s3_1, 2.5e-1f * y3s3_1);
    const korch_f16 y5s3_1 = y4s3_1 * y2s3_1;
  *(korch_at16 *)(c + 112) = y5s3_1;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict in3 = in[3];
  const float *restrict in5 = in[5];
  float *restrict out = out_;
  for (int i0_1a = 0; i0_1a < 2; ++i0_1a) {
    // t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,4,4,32]
    for (int i0_1b = 0; i0_1b < 2; ++i0_1b) {
      {
        const int k0 = 0;
        const int count = 32;
        const int first = 0;
        const float *restrict a = in0 + i0_1a * 256 + i0_1b * 128 + first * 32 + k0 * 1;
        float *restrict c = out + i0_1a * 256 + i0_1b * 128 + first * 32;
        const float *restrict b = (const float *)state + 32 * (0);
        const float *restrict e0 = in2 + 0 + first * 0;
        const float *restrict e1 = in3 + i0_1a * 256 + i0_1b * 128 + first * 32;
        const float *restrict e2 = in5 + i0_1a * 2 + i0_1b + first * 0;
        {
          for (int r = 0; r < 4; r += 4) {
            tile_4_32_32_1_32_32_0_all(a + r * 32, b + 0 + k0 * 32, c + r * 32 + 0, count, e0 + r * 0 + 0, e1 + r * 32 + 0, e2 + r * 0 + 0);
          }
        }
      }
    }
  }
}
