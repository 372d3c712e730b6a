// t2 = mat_mul(x, w)  # f32[4,32,32]
// t4 = add(t2, bias)  # f32[4,32,32]
// t5 = erf(t4)  # f32[4,32,32]
__attribute__((noinline))
static void tile_11_32_32_1_32_32_0(const float *restrict a, const float *restrict b, float *restrict c, int count) {
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s1_1 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s2_1 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s3_1 = {0};
  korch_f16 s4_0 = {0};
  korch_f16 s4_1 = {0};
  korch_f16 s5_0 = {0};
  korch_f16 s5_1 = {0};
  korch_f16 s6_0 = {0};
  korch_f16 s6_1 = {0};
  korch_f16 s7_0 = {0};
  korch_f16 s7_1 = {0};
  korch_f16 s8_0 = {0};
  korch_f16 s8_1 = {0};
  korch_f16 s9_0 = {0};
  korch_f16 s9_1 = {0};
  korch_f16 s10_0 = {0};
  korch_f16 s10_1 = {0};
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
      { const float x = a[128 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); }
      { const float x = a[160 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s5_0, all, b0); KORCH_FMA16(s5_1, all, b1); }
      { const float x = a[192 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s6_0, all, b0); KORCH_FMA16(s6_1, all, b1); }
      { const float x = a[224 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s7_0, all, b0); KORCH_FMA16(s7_1, all, b1); }
      { const float x = a[256 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s8_0, all, b0); KORCH_FMA16(s8_1, all, b1); }
      { const float x = a[288 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s9_0, all, b0); KORCH_FMA16(s9_1, all, b1); }
      { const float x = a[320 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s10_0, all, b0); KORCH_FMA16(s10_1, all, b1); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 32 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 32 + 16);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); }
    { const float x = a[32 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); }
    { const float x = a[64 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); }
    { const float x = a[96 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); }
    { const float x = a[128 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); }
    { const float x = a[160 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s5_0, all, b0); KORCH_FMA16(s5_1, all, b1); }
    { const float x = a[192 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s6_0, all, b0); KORCH_FMA16(s6_1, all, b1); }
    { const float x = a[224 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s7_0, all, b0); KORCH_FMA16(s7_1, all, b1); }
    { const float x = a[256 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s8_0, all, b0); KORCH_FMA16(s8_1, all, b1); }
    { const float x = a[288 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s9_0, all, b0); KORCH_FMA16(s9_1, all, b1); }
    { const float x = a[320 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s10_0, all, b0); KORCH_FMA16(s10_1, all, b1); }
    __asm__ volatile("" ::: "memory");
  }
  *(korch_at16 *)(c + 0) = s0_0;
  *(korch_at16 *)(c + 16) = s0_1;
  *(korch_at16 *)(c + 32) = s1_0;
  *(korch_at16 *)(c + 48) = s1_1;
  *(korch_at16 *)(c + 64) = s2_0;
  *(korch_at16 *)(c + 80) = s2_1;
  *(korch_at16 *)(c + 96) = s3_0;
  *(korch_at16 *)(c + 112) = s3_1;
  *(korch_at16 *)(c + 128) = s4_0;
  *(korch_at16 *)(c + 144) = s4_1;
  *(korch_at16 *)(c + 160) = s5_0;
  *(korch_at16 *)(c + 176) = s5_1;
  *(korch_at16 *)(c + 192) = s6_0;
  *(korch_at16 *)(c + 208) = s6_1;
  *(korch_at16 *)(c + 224) = s7_0;
  *(korch_at16 *)(c + 240) = s7_1;
  *(korch_at16 *)(c + 256) = s8_0;
  *(korch_at16 *)(c + 272) = s8_1;
  *(korch_at16 *)(c + 288) = s9_0;
  *(korch_at16 *)(c + 304) = s9_1;
  *(korch_at16 *)(c + 320) = s10_0;
  *(korch_at16 *)(c + 336) = s10_1;
}
__attribute__((noinline))
static void tile_10_32_32_1_32_32_0(const float *restrict a, const float *restrict b, float *restrict c, int count) {
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s1_1 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s2_1 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s3_1 = {0};
  korch_f16 s4_0 = {0};
  korch_f16 s4_1 = {0};
  korch_f16 s5_0 = {0};
  korch_f16 s5_1 = {0};
  korch_f16 s6_0 = {0};
  korch_f16 s6_1 = {0};
  korch_f16 s7_0 = {0};
  korch_f16 s7_1 = {0};
  korch_f16 s8_0 = {0};
  korch_f16 s8_1 = {0};
  korch_f16 s9_0 = {0};
  korch_f16 s9_1 = {0};
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
      { const float x = a[128 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); }
      { const float x = a[160 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s5_0, all, b0); KORCH_FMA16(s5_1, all, b1); }
      { const float x = a[192 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s6_0, all, b0); KORCH_FMA16(s6_1, all, b1); }
      { const float x = a[224 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s7_0, all, b0); KORCH_FMA16(s7_1, all, b1); }
      { const float x = a[256 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s8_0, all, b0); KORCH_FMA16(s8_1, all, b1); }
      { const float x = a[288 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s9_0, all, b0); KORCH_FMA16(s9_1, all, b1); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 32 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 32 + 16);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); }
    { const float x = a[32 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); }
    { const float x = a[64 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); }
    { const float x = a[96 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); }
    { const float x = a[128 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); }
    { const float x = a[160 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s5_0, all, b0); KORCH_FMA16(s5_1, all, b1); }
    { const float x = a[192 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s6_0, all, b0); KORCH_FMA16(s6_1, all, b1); }
    { const float x = a[224 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s7_0, all, b0); KORCH_FMA16(s7_1, all, b1); }
    { const float x = a[256 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s8_0, all, b0); KORCH_FMA16(s8_1, all, b1); }
    { const float x = a[288 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s9_0, all, b0); KORCH_FMA16(s9_1, all, b1); }
    __asm__ volatile("" ::: "memory");
  }
  *(korch_at16 *)(c + 0) = s0_0;
  *(korch_at16 *)(c + 16) = s0_1;
  *(korch_at16 *)(c + 32) = s1_0;
  *(korch_at16 *)(c + 48) = s1_1;
  *(korch_at16 *)(c + 64) = s2_0;
  *(korch_at16 *)(c + 80) = s2_1;
  *(korch_at16 *)(c + 96) = s3_0;
  *(korch_at16 *)(c + 112) = s3_1;
  *(korch_at16 *)(c + 128) = s4_0;
  *(korch_at16 *)(c + 144) = s4_1;
  *(korch_at16 *)(c + 160) = s5_0;
  *(korch_at16 *)(c + 176) = s5_1;
  *(korch_at16 *)(c + 192) = s6_0;
  *(korch_at16 *)(c + 208) = s6_1;
  *(korch_at16 *)(c + 224) = s7_0;
  *(korch_at16 *)(c + 240) = s7_1;
  *(korch_at16 *)(c + 256) = s8_0;
  *(korch_at16 *)(c + 272) = s8_1;
  *(korch_at16 *)(c + 288) = s9_0;
  *(korch_at16 *)(c + 304) = s9_1;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  float *restrict out = out_;
  for (int i1_0 = 0; i1_0 < 4; ++i1_0) {
    float b0[1024] __attribute__((aligned(64)));
    // t2 = mat_mul(x, w)  # f32[4,32,32]
    {
      const int k0 = 0;
      const int count = 32;
      const int first = 0;
      const float *restrict a = in0 + i1_0 * 1024 + first * 32 + k0 * 1;
      float *restrict c = b0 + 0 + first * 32;
      const float *restrict b = in1 + i1_0 * 1024 + k0 * 32;
      {
        for (int r = 0; r < 22; r += 11) {
          tile_11_32_32_1_32_32_0(a + r * 32, b + 0, c + r * 32 + 0, count);
        }
        for (int r = 22; r < 32; r += 10) {
          tile_10_32_32_1_32_32_0(a + r * 32, b + 0, c + r * 32 + 0, count);
        }
      }
    }
    // t5 = erf(t4)  # f32[4,32,32]
    for (int i1_1 = 0; i1_1 < 32; ++i1_1) {
      #pragma omp simd
      for (int i1_2 = 0; i1_2 < 32; ++i1_2) {
        const float v0 = b0[i1_2 + i1_1 * 32];
        const float v1 = in2[i1_2];
        const float v2 = v0 + v1;
        const float v3 = korch_erff(v2);
        out[i1_2 + i1_1 * 32 + i1_0 * 1024] = v3;
      }
    }
  }
}
