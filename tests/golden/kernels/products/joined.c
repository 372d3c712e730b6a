// t3 = conv(x, c2, channels_last=1, dilations=(1, 1), group=3, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,9,14,48]
// t5 = add(t3, bias)  # f32[1,9,14,48]
// t6 = relu(t5)  # f32[1,9,14,48]
// t7 = concat(t6, other, axis=3)  # f32[1,9,14,53]
// t3 = conv(x, c2, channels_last=1, dilations=(1, 1), group=3, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,9,14,48]
// t5 = add(t3, bias)  # f32[1,9,14,48]
// t6 = relu(t5)  # f32[1,9,14,48]
static int part0_init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  float *to = *state = korch_aligned(3072);
  if (!to) return 1;
  static const int groups[][3] = {
    {0, 16, 16},
    {16, 16, 16},
    {32, 16, 16},
  };
  for (int g = 0; g < 3; ++g) {
    for (int k0 = 0; k0 < 16; ++k0) {
      for (int j = 0; j < groups[g][2]; ++j) {
        const int n = KORCH_MIN(groups[g][0] + j, 47);
        const float v0 = in1[k0 + n * 16];
        *to++ = j < groups[g][1] ? v0 : 0.0f;
      }
    }
  }
  return korch_pack(state, 3072);
}
static void part0_free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void part0_tile_16_16_48_1_16_53_0_all(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *restrict e0) {
  korch_f16 s0_0 = *(const korch_at16 *)(e0 + 0);
  korch_f16 s1_0 = s0_0;
  korch_f16 s2_0 = s0_0;
  korch_f16 s3_0 = s0_0;
  korch_f16 s4_0 = s0_0;
  korch_f16 s5_0 = s0_0;
  korch_f16 s6_0 = s0_0;
  korch_f16 s7_0 = s0_0;
  korch_f16 s8_0 = s0_0;
  korch_f16 s9_0 = s0_0;
  korch_f16 s10_0 = s0_0;
  korch_f16 s11_0 = s0_0;
  korch_f16 s12_0 = s0_0;
  korch_f16 s13_0 = s0_0;
  korch_f16 s14_0 = s0_0;
  korch_f16 s15_0 = s0_0;
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 16 + 0);
      KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
      KORCH_FMA_FROM16(s1_0, a[48 + k * 1], b0);
      KORCH_FMA_FROM16(s2_0, a[96 + k * 1], b0);
      KORCH_FMA_FROM16(s3_0, a[144 + k * 1], b0);
      KORCH_FMA_FROM16(s4_0, a[192 + k * 1], b0);
      KORCH_FMA_FROM16(s5_0, a[240 + k * 1], b0);
      KORCH_FMA_FROM16(s6_0, a[288 + k * 1], b0);
      KORCH_FMA_FROM16(s7_0, a[336 + k * 1], b0);
      KORCH_FMA_FROM16(s8_0, a[384 + k * 1], b0);
      KORCH_FMA_FROM16(s9_0, a[432 + k * 1], b0);
      KORCH_FMA_FROM16(s10_0, a[480 + k * 1], b0);
      KORCH_FMA_FROM16(s11_0, a[528 + k * 1], b0);
      KORCH_FMA_FROM16(s12_0, a[576 + k * 1], b0);
      KORCH_FMA_FROM16(s13_0, a[624 + k * 1], b0);
      KORCH_FMA_FROM16(s14_0, a[672 + k * 1], b0);
      KORCH_FMA_FROM16(s15_0, a[720 + k * 1], b0);
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 16 + 0);
    KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
    KORCH_FMA_FROM16(s1_0, a[48 + k * 1], b0);
    KORCH_FMA_FROM16(s2_0, a[96 + k * 1], b0);
    KORCH_FMA_FROM16(s3_0, a[144 + k * 1], b0);
    KORCH_FMA_FROM16(s4_0, a[192 + k * 1], b0);
    KORCH_FMA_FROM16(s5_0, a[240 + k * 1], b0);
    KORCH_FMA_FROM16(s6_0, a[288 + k * 1], b0);
    KORCH_FMA_FROM16(s7_0, a[336 + k * 1], b0);
    KORCH_FMA_FROM16(s8_0, a[384 + k * 1], b0);
    KORCH_FMA_FROM16(s9_0, a[432 + k * 1], b0);
    KORCH_FMA_FROM16(s10_0, a[480 + k * 1], b0);
    KORCH_FMA_FROM16(s11_0, a[528 + k * 1], b0);
    KORCH_FMA_FROM16(s12_0, a[576 + k * 1], b0);
    KORCH_FMA_FROM16(s13_0, a[624 + k * 1], b0);
    KORCH_FMA_FROM16(s14_0, a[672 + k * 1], b0);
    KORCH_FMA_FROM16(s15_0, a[720 + k * 1], b0);
    __asm__ volatile("" ::: "memory");
  }
    const korch_f16 y0s0_0 = korch_larger16((korch_f16){0}, s0_0);
  *(korch_at16 *)(c + 0) = y0s0_0;
    const korch_f16 y0s1_0 = korch_larger16((korch_f16){0}, s1_0);
  *(korch_at16 *)(c + 53) = y0s1_0;
    const korch_f16 y0s2_0 = korch_larger16((korch_f16){0}, s2_0);
  *(korch_at16 *)(c + 106) = y0s2_0;
    const korch_f16 y0s3_0 = korch_larger16((korch_f16){0}, s3_0);
  *(korch_at16 *)(c + 159) = y0s3_0;
    const korch_f16 y0s4_0 = korch_larger16((korch_f16){0}, s4_0);
  *(korch_at16 *)(c + 212) = y0s4_0;
    const korch_f16 y0s5_0 = korch_larger16((korch_f16){0}, s5_0);
  *(korch_at16 *)(c + 265) = y0s5_0;
    const korch_f16 y0s6_0 = korch_larger16((korch_f16){0}, s6_0);
  *(korch_at16 *)(c + 318) = y0s6_0;
    const korch_f16 y0s7_0 = korch_larger16((korch_f16){0}, s7_0);
  *(korch_at16 *)(c + 371) = y0s7_0;
    const korch_f16 y0s8_0 = korch_larger16((korch_f16){0}, s8_0);
  *(korch_at16 *)(c + 424) = y0s8_0;
    const korch_f16 y0s9_0 = korch_larger16((korch_f16){0}, s9_0);
  *(korch_at16 *)(c + 477) = y0s9_0;
    const korch_f16 y0s10_0 = korch_larger16((korch_f16){0}, s10_0);
  *(korch_at16 *)(c + 530) = y0s10_0;
    const korch_f16 y0s11_0 = korch_larger16((korch_f16){0}, s11_0);
  *(korch_at16 *)(c + 583) = y0s11_0;
    const korch_f16 y0s12_0 = korch_larger16((korch_f16){0}, s12_0);
  *(korch_at16 *)(c + 636) = y0s12_0;
    const korch_f16 y0s13_0 = korch_larger16((korch_f16){0}, s13_0);
  *(korch_at16 *)(c + 689) = y0s13_0;
    const korch_f16 y0s14_0 = korch_larger16((korch_f16){0}, s14_0);
  *(korch_at16 *)(c + 742) = y0s14_0;
    const korch_f16 y0s15_0 = korch_larger16((korch_f16){0}, s15_0);
  *(korch_at16 *)(c + 795) = y0s15_0;
}
__attribute__((noinline))
static void part0_tile_15_16_48_1_16_53_0_all(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *restrict e0) {
  korch_f16 s0_0 = *(const korch_at16 *)(e0 + 0);
  korch_f16 s1_0 = s0_0;
  korch_f16 s2_0 = s0_0;
  korch_f16 s3_0 = s0_0;
  korch_f16 s4_0 = s0_0;
  korch_f16 s5_0 = s0_0;
  korch_f16 s6_0 = s0_0;
  korch_f16 s7_0 = s0_0;
  korch_f16 s8_0 = s0_0;
  korch_f16 s9_0 = s0_0;
  korch_f16 s10_0 = s0_0;
  korch_f16 s11_0 = s0_0;
  korch_f16 s12_0 = s0_0;
  korch_f16 s13_0 = s0_0;
  korch_f16 s14_0 = s0_0;
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 16 + 0);
      KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
      KORCH_FMA_FROM16(s1_0, a[48 + k * 1], b0);
      KORCH_FMA_FROM16(s2_0, a[96 + k * 1], b0);
      KORCH_FMA_FROM16(s3_0, a[144 + k * 1], b0);
      KORCH_FMA_FROM16(s4_0, a[192 + k * 1], b0);
      KORCH_FMA_FROM16(s5_0, a[240 + k * 1], b0);
      KORCH_FMA_FROM16(s6_0, a[288 + k * 1], b0);
      KORCH_FMA_FROM16(s7_0, a[336 + k * 1], b0);
      KORCH_FMA_FROM16(s8_0, a[384 + k * 1], b0);
      KORCH_FMA_FROM16(s9_0, a[432 + k * 1], b0);
      KORCH_FMA_FROM16(s10_0, a[480 + k * 1], b0);
      KORCH_FMA_FROM16(s11_0, a[528 + k * 1], b0);
      KORCH_FMA_FROM16(s12_0, a[576 + k * 1], b0);
      KORCH_FMA_FROM16(s13_0, a[624 + k * 1], b0);
      KORCH_FMA_FROM16(s14_0, a[672 + k * 1], b0);
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 16 + 0);
    KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
    KORCH_FMA_FROM16(s1_0, a[48 + k * 1], b0);
    KORCH_FMA_FROM16(s2_0, a[96 + k * 1], b0);
    KORCH_FMA_FROM16(s3_0, a[144 + k * 1], b0);
    KORCH_FMA_FROM16(s4_0, a[192 + k * 1], b0);
    KORCH_FMA_FROM16(s5_0, a[240 + k * 1], b0);
    KORCH_FMA_FROM16(s6_0, a[288 + k * 1], b0);
    KORCH_FMA_FROM16(s7_0, a[336 + k * 1], b0);
    KORCH_FMA_FROM16(s8_0, a[384 + k * 1], b0);
    KORCH_FMA_FROM16(s9_0, a[432 + k * 1], b0);
    KORCH_FMA_FROM16(s10_0, a[480 + k * 1], b0);
    KORCH_FMA_FROM16(s11_0, a[528 + k * 1], b0);
    KORCH_FMA_FROM16(s12_0, a[576 + k * 1], b0);
    KORCH_FMA_FROM16(s13_0, a[624 + k * 1], b0);
    KORCH_FMA_FROM16(s14_0, a[672 + k * 1], b0);
    __asm__ volatile("" ::: "memory");
  }
    const korch_f16 y0s0_0 = korch_larger16((korch_f16){0}, s0_0);
  *(korch_at16 *)(c + 0) = y0s0_0;
    const korch_f16 y0s1_0 = korch_larger16((korch_f16){0}, s1_0);
  *(korch_at16 *)(c + 53) = y0s1_0;
    const korch_f16 y0s2_0 = korch_larger16((korch_f16){0}, s2_0);
  *(korch_at16 *)(c + 106) = y0s2_0;
    const korch_f16 y0s3_0 = korch_larger16((korch_f16){0}, s3_0);
  *(korch_at16 *)(c + 159) = y0s3_0;
    const korch_f16 y0s4_0 = korch_larger16((korch_f16){0}, s4_0);
  *(korch_at16 *)(c + 212) = y0s4_0;
    const korch_f16 y0s5_0 = korch_larger16((korch_f16){0}, s5_0);
  *(korch_at16 *)(c + 265) = y0s5_0;
    const korch_f16 y0s6_0 = korch_larger16((korch_f16){0}, s6_0);
  *(korch_at16 *)(c + 318) = y0s6_0;
    const korch_f16 y0s7_0 = korch_larger16((korch_f16){0}, s7_0);
  *(korch_at16 *)(c + 371) = y0s7_0;
    const korch_f16 y0s8_0 = korch_larger16((korch_f16){0}, s8_0);
  *(korch_at16 *)(c + 424) = y0s8_0;
    const korch_f16 y0s9_0 = korch_larger16((korch_f16){0}, s9_0);
  *(korch_at16 *)(c + 477) = y0s9_0;
    const korch_f16 y0s10_0 = korch_larger16((korch_f16){0}, s10_0);
  *(korch_at16 *)(c + 530) = y0s10_0;
    const korch_f16 y0s11_0 = korch_larger16((korch_f16){0}, s11_0);
  *(korch_at16 *)(c + 583) = y0s11_0;
    const korch_f16 y0s12_0 = korch_larger16((korch_f16){0}, s12_0);
  *(korch_at16 *)(c + 636) = y0s12_0;
    const korch_f16 y0s13_0 = korch_larger16((korch_f16){0}, s13_0);
  *(korch_at16 *)(c + 689) = y0s13_0;
    const korch_f16 y0s14_0 = korch_larger16((korch_f16){0}, s14_0);
  *(korch_at16 *)(c + 742) = y0s14_0;
}
static void part0_run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  float *restrict out = out_;
  for (int i0_3a = 0; i0_3a < 3; ++i0_3a) {
    // t3 = conv(x, c2, channels_last=1, dilations=(1, 1), group=3, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,9,14,48]
    {
      const int k0 = 0;
      const int count = 16;
      const int first = 0;
      const float *restrict a = in0 + i0_3a * 16 + first * 48 + k0 * 1;
      float *restrict c = out + i0_3a * 16 + first * 53;
      const float *restrict b = (const float *)state + 16 * (i0_3a * 16);
      const float *restrict e0 = in2 + i0_3a * 16 + first * 0;
      {
        for (int r = 0; r < 96; r += 16) {
          part0_tile_16_16_48_1_16_53_0_all(a + r * 48, b + 0 + k0 * 16, c + r * 53 + 0, count, e0 + r * 0 + 0);
        }
        for (int r = 96; r < 126; r += 15) {
          part0_tile_15_16_48_1_16_53_0_all(a + r * 48, b + 0 + k0 * 16, c + r * 53 + 0, count, e0 + r * 0 + 0);
        }
      }
    }
  }
}
static int init(void **state, const void *const *in) {
  const void *const in0[] = {in[0], in[1], in[2]};
  return part0_init(state, in0);
}
static void free(void *state) {
  part0_free(state);
}
// other_copied = identity(other)  # f32[1,9,14,5]
static void part1_run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // other_copied = identity(other)  # f32[1,9,14,5]
  for (int i0_1m2 = 0; i0_1m2 < 126; ++i0_1m2) {
    #pragma omp simd
    for (int i0_3 = 0; i0_3 < 5; ++i0_3) {
      const float v0 = in0[i0_3 + i0_1m2 * 5];
      const float v1 = v0;
      out[i0_3 + i0_1m2 * 53 + 48] = v1;
    }
  }
}
static void run(void *state, const void *const *in, void *out, void *workspace) {
  const void *const in0[] = {in[0], in[1], in[2]};
  part0_run(state, in0, out, workspace);
  const void *const in1[] = {in[3]};
  part1_run(state, in1, out, workspace);
}
