// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,20,21,5]
// t4 = add(t2, bias)  # f32[1,20,21,5]
// t5 = sigmoid(t4)  # f32[1,20,21,5]
// t6 = mul(t4, t5)  # f32[1,20,21,5]
// t8 = add(t6, residual)  # f32[1,20,21,5]
static int init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  float *to = *state = korch_aligned(2048);
  if (!to) return 1;
  static const int groups[][3] = {{0, 5, 8}};
  for (int g = 0; g < 1; ++g) {
    for (int k0 = 0; k0 < 64; ++k0) {
      for (int j = 0; j < groups[g][2]; ++j) {
        const int n = KORCH_MIN(groups[g][0] + j, 4);
        const float v0 = in1[k0 + n * 64];
        *to++ = j < groups[g][1] ? v0 : 0.0f;
      }
    }
  }
  return korch_pack(state, 2048);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile_15_5_64_1_8_5_0_all(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *restrict e0, const float *restrict e1) {
  korch_f8 s0_0 = korch_load_first8(e0 + 0, 5);
  korch_f8 s1_0 = s0_0;
  korch_f8 s2_0 = s0_0;
  korch_f8 s3_0 = s0_0;
  korch_f8 s4_0 = s0_0;
  korch_f8 s5_0 = s0_0;
  korch_f8 s6_0 = s0_0;
  korch_f8 s7_0 = s0_0;
  korch_f8 s8_0 = s0_0;
  korch_f8 s9_0 = s0_0;
  korch_f8 s10_0 = s0_0;
  korch_f8 s11_0 = s0_0;
  korch_f8 s12_0 = s0_0;
  korch_f8 s13_0 = s0_0;
  korch_f8 s14_0 = s0_0;
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f8 b0 = *(const korch_at8 *)(b + k * 8 + 0);
      KORCH_FMA_FROM8(s0_0, a[0 + k * 1], b0);
      KORCH_FMA_FROM8(s1_0, a[64 + k * 1], b0);
      KORCH_FMA_FROM8(s2_0, a[128 + k * 1], b0);
      KORCH_FMA_FROM8(s3_0, a[192 + k * 1], b0);
      KORCH_FMA_FROM8(s4_0, a[256 + k * 1], b0);
      KORCH_FMA_FROM8(s5_0, a[320 + k * 1], b0);
      KORCH_FMA_FROM8(s6_0, a[384 + k * 1], b0);
      KORCH_FMA_FROM8(s7_0, a[448 + k * 1], b0);
      KORCH_FMA_FROM8(s8_0, a[512 + k * 1], b0);
      KORCH_FMA_FROM8(s9_0, a[576 + k * 1], b0);
      KORCH_FMA_FROM8(s10_0, a[640 + k * 1], b0);
      KORCH_FMA_FROM8(s11_0, a[704 + k * 1], b0);
      KORCH_FMA_FROM8(s12_0, a[768 + k * 1], b0);
      KORCH_FMA_FROM8(s13_0, a[832 + k * 1], b0);
      KORCH_FMA_FROM8(s14_0, a[896 + k * 1], b0);
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f8 b0 = *(const korch_at8 *)(b + k * 8 + 0);
    KORCH_FMA_FROM8(s0_0, a[0 + k * 1], b0);
    KORCH_FMA_FROM8(s1_0, a[64 + k * 1], b0);
    KORCH_FMA_FROM8(s2_0, a[128 + k * 1], b0);
    KORCH_FMA_FROM8(s3_0, a[192 + k * 1], b0);
    KORCH_FMA_FROM8(s4_0, a[256 + k * 1], b0);
    KORCH_FMA_FROM8(s5_0, a[320 + k * 1], b0);
    KORCH_FMA_FROM8(s6_0, a[384 + k * 1], b0);
    KORCH_FMA_FROM8(s7_0, a[448 + k * 1], b0);
    KORCH_FMA_FROM8(s8_0, a[512 + k * 1], b0);
    KORCH_FMA_FROM8(s9_0, a[576 + k * 1], b0);
    KORCH_FMA_FROM8(s10_0, a[640 + k * 1], b0);
    KORCH_FMA_FROM8(s11_0, a[704 + k * 1], b0);
    KORCH_FMA_FROM8(s12_0, a[768 + k * 1], b0);
    KORCH_FMA_FROM8(s13_0, a[832 + k * 1], b0);
    KORCH_FMA_FROM8(s14_0, a[896 + k * 1], b0);
    __asm__ volatile("" ::: "memory");
  }
  korch_f8 x1s0_0 = korch_load_first8(e1 + 0, 5);
    const korch_f8 y0s0_0 = korch_silu8(s0_0);
    const korch_f8 y1s0_0 = y0s0_0 + x1s0_0;
  korch_store_first8(c + 0, y1s0_0, 5);
  korch_f8 x1s1_0 = korch_load_first8(e1 + 5, 5);
    const korch_f8 y0s1_0 = korch_silu8(s1_0);
    const korch_f8 y1s1_0 = y0s1_0 + x1s1_0;
  korch_store_first8(c + 5, y1s1_0, 5);
  korch_f8 x1s2_0 = korch_load_first8(e1 + 10, 5);
    const korch_f8 y0s2_0 = korch_silu8(s2_0);
    const korch_f8 y1s2_0 = y0s2_0 + x1s2_0;
  korch_store_first8(c + 10, y1s2_0, 5);
  korch_f8 x1s3_0 = korch_load_first8(e1 + 15, 5);
    const korch_f8 y0s3_0 = korch_silu8(s3_0);
    const korch_f8 y1s3_0 = y0s3_0 + x1s3_0;
  korch_store_first8(c + 15, y1s3_0, 5);
  korch_f8 x1s4_0 = korch_load_first8(e1 + 20, 5);
    const korch_f8 y0s4_0 = korch_silu8(s4_0);
    const korch_f8 y1s4_0 = y0s4_0 + x1s4_0;
  korch_store_first8(c + 20, y1s4_0, 5);
  korch_f8 x1s5_0 = korch_load_first8(e1 + 25, 5);
    const korch_f8 y0s5_0 = korch_silu8(s5_0);
    const korch_f8 y1s5_0 = y0s5_0 + x1s5_0;
  korch_store_first8(c + 25, y1s5_0, 5);
  korch_f8 x1s6_0 = korch_load_first8(e1 + 30, 5);
    const korch_f8 y0s6_0 = korch_silu8(s6_0);
    const korch_f8 y1s6_0 = y0s6_0 + x1s6_0;
  korch_store_first8(c + 30, y1s6_0, 5);
  korch_f8 x1s7_0 = korch_load_first8(e1 + 35, 5);
    const korch_f8 y0s7_0 = korch_silu8(s7_0);
    const korch_f8 y1s7_0 = y0s7_0 + x1s7_0;
  korch_store_first8(c + 35, y1s7_0, 5);
  korch_f8 x1s8_0 = korch_load_first8(e1 + 40, 5);
    const korch_f8 y0s8_0 = korch_silu8(s8_0);
    const korch_f8 y1s8_0 = y0s8_0 + x1s8_0;
  korch_store_first8(c + 40, y1s8_0, 5);
  korch_f8 x1s9_0 = korch_load_first8(e1 + 45, 5);
    const korch_f8 y0s9_0 = korch_silu8(s9_0);
    const korch_f8 y1s9_0 = y0s9_0 + x1s9_0;
  korch_store_first8(c + 45, y1s9_0, 5);
  korch_f8 x1s10_0 = korch_load_first8(e1 + 50, 5);
    const korch_f8 y0s10_0 = korch_silu8(s10_0);
    const korch_f8 y1s10_0 = y0s10_0 + x1s10_0;
  korch_store_first8(c + 50, y1s10_0, 5);
  korch_f8 x1s11_0 = korch_load_first8(e1 + 55, 5);
    const korch_f8 y0s11_0 = korch_silu8(s11_0);
    const korch_f8 y1s11_0 = y0s11_0 + x1s11_0;
  korch_store_first8(c + 55, y1s11_0, 5);
  korch_f8 x1s12_0 = korch_load_first8(e1 + 60, 5);
    const korch_f8 y0s12_0 = korch_silu8(s12_0);
    const korch_f8 y1s12_0 = y0s12_0 + x1s12_0;
  korch_store_first8(c + 60, y1s12_0, 5);
  korch_f8 x1s13_0 = korch_load_first8(e1 + 65, 5);
    const korch_f8 y0s13_0 = korch_silu8(s13_0);
    const korch_f8 y1s13_0 = y0s13_0 + x1s13_0;
  korch_store_first8(c + 65, y1s13_0, 5);
  korch_f8 x1s14_0 = korch_load_first8(e1 + 70, 5);
    const korch_f8 y0s14_0 = korch_silu8(s14_0);
    const korch_f8 y1s14_0 = y0s14_0 + x1s14_0;
  korch_store_first8(c + 70, y1s14_0, 5);
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict in3 = in[3];
  float *restrict out = out_;
  for (int i0_1a = 0; i0_1a < 2; ++i0_1a) {
    // t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,20,21,5]
    {
      const int k0 = 0;
      const int count = 64;
      const int first = 0;
      const float *restrict a = in0 + i0_1a * 13440 + first * 64 + k0 * 1;
      float *restrict c = out + i0_1a * 1050 + first * 5;
      const float *restrict b = (const float *)state + 64 * (0);
      const float *restrict e0 = in2 + 0 + first * 0;
      const float *restrict e1 = in3 + i0_1a * 1050 + first * 5;
      {
        for (int r = 0; r < 210; r += 15) {
          tile_15_5_64_1_8_5_0_all(a + r * 64, b + 0 + k0 * 8, c + r * 5 + 0, count, e0 + r * 0 + 0, e1 + r * 5 + 0);
        }
      }
    }
  }
}
