// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,20,21,64]
// t4 = add(t2, bias)  # f32[1,20,21,64]
// t5 = sigmoid(t4)  # f32[1,20,21,64]
// t6 = mul(t4, t5)  # f32[1,20,21,64]
// t8 = add(t6, residual)  # f32[1,20,21,64]
static int init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  float *to = *state = korch_aligned(16384);
  if (!to) return 1;
  static const int groups[][3] = {{0, 64, 64}};
  for (int g = 0; g < 1; ++g) {
    for (int k0 = 0; k0 < 64; ++k0) {
      for (int j = 0; j < groups[g][2]; ++j) {
        const int n = KORCH_MIN(groups[g][0] + j, 63);
        const float v0 = in1[k0 + n * 64];
        *to++ = j < groups[g][1] ? v0 : 0.0f;
      }
    }
  }
  return korch_pack(state, 16384);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile_6_64_64_1_64_64_0_all(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *restrict e0, const float *restrict e1) {
  korch_f16 s0_0 = *(const korch_at16 *)(e0 + 0);
  korch_f16 s0_1 = *(const korch_at16 *)(e0 + 16);
  korch_f16 s0_2 = *(const korch_at16 *)(e0 + 32);
  korch_f16 s0_3 = *(const korch_at16 *)(e0 + 48);
  korch_f16 s1_0 = s0_0;
  korch_f16 s1_1 = s0_1;
  korch_f16 s1_2 = s0_2;
  korch_f16 s1_3 = s0_3;
  korch_f16 s2_0 = s0_0;
  korch_f16 s2_1 = s0_1;
  korch_f16 s2_2 = s0_2;
  korch_f16 s2_3 = s0_3;
  korch_f16 s3_0 = s0_0;
  korch_f16 s3_1 = s0_1;
  korch_f16 s3_2 = s0_2;
  korch_f16 s3_3 = s0_3;
  korch_f16 s4_0 = s0_0;
  korch_f16 s4_1 = s0_1;
  korch_f16 s4_2 = s0_2;
  korch_f16 s4_3 = s0_3;
  korch_f16 s5_0 = s0_0;
  korch_f16 s5_1 = s0_1;
  korch_f16 s5_2 = s0_2;
  korch_f16 s5_3 = s0_3;
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
      korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
      korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
      { const float x = a[64 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); }
      { const float x = a[128 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); }
      { const float x = a[192 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); }
      { const float x = a[256 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); KORCH_FMA16(s4_2, all, b2); KORCH_FMA16(s4_3, all, b3); }
      { const float x = a[320 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s5_0, all, b0); KORCH_FMA16(s5_1, all, b1); KORCH_FMA16(s5_2, all, b2); KORCH_FMA16(s5_3, all, b3); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
    korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
    korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
    { const float x = a[64 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); }
    { const float x = a[128 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); }
    { const float x = a[192 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); }
    { const float x = a[256 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); KORCH_FMA16(s4_2, all, b2); KORCH_FMA16(s4_3, all, b3); }
    { const float x = a[320 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s5_0, all, b0); KORCH_FMA16(s5_1, all, b1); KORCH_FMA16(s5_2, all, b2); KORCH_FMA16(s5_3, all, b3); }
    __asm__ volatile("" ::: "memory");
  }
  korch_f16 x1s0_0 = *(const korch_at16 *)(e1 + 0);
    const korch_f16 y0s0_0 = korch_silu16(s0_0);
    const korch_f16 y1s0_0 = y0s0_0 + x1s0_0;
  *(korch_at16 *)(c + 0) = y1s0_0;
  korch_f16 x1s0_1 = *(const korch_at16 *)(e1 + 16);
    const korch_f16 y0s0_1 = korch_silu16(s0_1);
    const korch_f16 y1s0_1 = y0s0_1 + x1s0_1;
  *(korch_at16 *)(c + 16) = y1s0_1;
  korch_f16 x1s0_2 = *(const korch_at16 *)(e1 + 32);
    const korch_f16 y0s0_2 = korch_silu16(s0_2);
    const korch_f16 y1s0_2 = y0s0_2 + x1s0_2;
  *(korch_at16 *)(c + 32) = y1s0_2;
  korch_f16 x1s0_3 = *(const korch_at16 *)(e1 + 48);
    const korch_f16 y0s0_3 = korch_silu16(s0_3);
    const korch_f16 y1s0_3 = y0s0_3 + x1s0_3;
  *(korch_at16 *)(c + 48) = y1s0_3;
  korch_f16 x1s1_0 = *(const korch_at16 *)(e1 + 64);
    const korch_f16 y0s1_0 = korch_silu16(s1_0);
    const korch_f16 y1s1_0 = y0s1_0 + x1s1_0;
  *(korch_at16 *)(c + 64) = y1s1_0;
  korch_f16 x1s1_1 = *(const korch_at16 *)(e1 + 80);
    const korch_f16 y0s1_1 = korch_silu16(s1_1);
    const korch_f16 y1s1_1 = y0s1_1 + x1s1_1;
  *(korch_at16 *)(c + 80) = y1s1_1;
  korch_f16 x1s1_2 = *(const korch_at16 *)(e1 + 96);
    const korch_f16 y0s1_2 = korch_silu16(s1_2);
    const korch_f16 y1s1_2 = y0s1_2 + x1s1_2;
  *(korch_at16 *)(c + 96) = y1s1_2;
  korch_f16 x1s1_3 = *(const korch_at16 *)(e1 + 112);
    const korch_f16 y0s1_3 = korch_silu16(s1_3);
    const korch_f16 y1s1_3 = y0s1_3 + x1s1_3;
  *(korch_at16 *)(c + 112) = y1s1_3;
  korch_f16 x1s2_0 = *(const korch_at16 *)(e1 + 128);
    const korch_f16 y0s2_0 = korch_silu16(s2_0);
    const korch_f16 y1s2_0 = y0s2_0 + x1s2_0;
  *(korch_at16 *)(c + 128) = y1s2_0;
  korch_f16 x1s2_1 = *(const korch_at16 *)(e1 + 144);
    const korch_f16 y0s2_1 = korch_silu16(s2_1);
    const korch_f16 y1s2_1 = y0s2_1 + x1s2_1;
  *(korch_at16 *)(c + 144) = y1s2_1;
  korch_f16 x1s2_2 = *(const korch_at16 *)(e1 + 160);
    const korch_f16 y0s2_2 = korch_silu16(s2_2);
    const korch_f16 y1s2_2 = y0s2_2 + x1s2_2;
  *(korch_at16 *)(c + 160) = y1s2_2;
  korch_f16 x1s2_3 = *(const korch_at16 *)(e1 + 176);
    const korch_f16 y0s2_3 = korch_silu16(s2_3);
    const korch_f16 y1s2_3 = y0s2_3 + x1s2_3;
  *(korch_at16 *)(c + 176) = y1s2_3;
  korch_f16 x1s3_0 = *(const korch_at16 *)(e1 + 192);
    const korch_f16 y0s3_0 = korch_silu16(s3_0);
    const korch_f16 y1s3_0 = y0s3_0 + x1s3_0;
  *(korch_at16 *)(c + 192) = y1s3_0;
  korch_f16 x1s3_1 = *(const korch_at16 *)(e1 + 208);
    const korch_f16 y0s3_1 = korch_silu16(s3_1);
    const korch_f16 y1s3_1 = y0s3_1 + x1s3_1;
  *(korch_at16 *)(c + 208) = y1s3_1;
  korch_f16 x1s3_2 = *(const korch_at16 *)(e1 + 224);
    const korch_f16 y0s3_2 = korch_silu16(s3_2);
    const korch_f16 y1s3_2 = y0s3_2 + x1s3_2;
  *(korch_at16 *)(c + 224) = y1s3_2;
  korch_f16 x1s3_3 = *(const korch_at16 *)(e1 + 240);
    const korch_f16 y0s3_3 = korch_silu16(s3_3);
    const korch_f16 y1s3_3 = y0s3_3 + x1s3_3;
  *(korch_at16 *)(c + 240) = y1s3_3;
  korch_f16 x1s4_0 = *(const korch_at16 *)(e1 + 256);
    const korch_f16 y0s4_0 = korch_silu16(s4_0);
    const korch_f16 y1s4_0 = y0s4_0 + x1s4_0;
  *(korch_at16 *)(c + 256) = y1s4_0;
  korch_f16 x1s4_1 = *(const korch_at16 *)(e1 + 272);
    const korch_f16 y0s4_1 = korch_silu16(s4_1);
    const korch_f16 y1s4_1 = y0s4_1 + x1s4_1;
  *(korch_at16 *)(c + 272) = y1s4_1;
  korch_f16 x1s4_2 = *(const korch_at16 *)(e1 + 288);
    const korch_f16 y0s4_2 = korch_silu16(s4_2);
    const korch_f16 y1s4_2 = y0s4_2 + x1s4_2;
  *(korch_at16 *)(c + 288) = y1s4_2;
  korch_f16 x1s4_3 = *(const korch_at16 *)(e1 + 304);
    const korch_f16 y0s4_3 = korch_silu16(s4_3);
    const korch_f16 y1s4_3 = y0s4_3 + x1s4_3;
  *(korch_at16 *)(c + 304) = y1s4_3;
  korch_f16 x1s5_0 = *(const korch_at16 *)(e1 + 320);
    const korch_f16 y0s5_0 = korch_silu16(s5_0);
    const korch_f16 y1s5_0 = y0s5_0 + x1s5_0;
  *(korch_at16 *)(c + 320) = y1s5_0;
  korch_f16 x1s5_1 = *(const korch_at16 *)(e1 + 336);
    const korch_f16 y0s5_1 = korch_silu16(s5_1);
    const korch_f16 y1s5_1 = y0s5_1 + x1s5_1;
  *(korch_at16 *)(c + 336) = y1s5_1;
  korch_f16 x1s5_2 = *(const korch_at16 *)(e1 + 352);
    const korch_f16 y0s5_2 = korch_silu16(s5_2);
    const korch_f16 y1s5_2 = y0s5_2 + x1s5_2;
  *(korch_at16 *)(c + 352) = y1s5_2;
  korch_f16 x1s5_3 = *(const korch_at16 *)(e1 + 368);
    const korch_f16 y0s5_3 = korch_silu16(s5_3);
    const korch_f16 y1s5_3 = y0s5_3 + x1s5_3;
  *(korch_at16 *)(c + 368) = y1s5_3;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict in3 = in[3];
  float *restrict out = out_;
  for (int i0_1a = 0; i0_1a < 2; ++i0_1a) {
    // t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,20,21,64]
    {
      const int k0 = 0;
      const int count = 64;
      const int first = 0;
      const float *restrict a = in0 + i0_1a * 13440 + first * 64 + k0 * 1;
      float *restrict c = out + i0_1a * 13440 + first * 64;
      const float *restrict b = (const float *)state + 64 * (0);
      const float *restrict e0 = in2 + 0 + first * 0;
      const float *restrict e1 = in3 + i0_1a * 13440 + first * 64;
      {
        for (int r = 0; r < 210; r += 6) {
          tile_6_64_64_1_64_64_0_all(a + r * 64, b + 0 + k0 * 64, c + r * 64 + 0, count, e0 + r * 0 + 0, e1 + r * 64 + 0);
        }
      }
    }
  }
}
