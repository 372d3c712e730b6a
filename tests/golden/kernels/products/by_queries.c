// t1 = reshape(x, shape=(1, 3, 48, 512))  # f32[1,3,48,512]
// t2 = transpose(t1, perm=(0, 1, 3, 2))  # f32[1,3,512,48]
// t3 = slice(t2, lengths=(1, 3, 512, 16), starts=(0, 0, 0, 0), steps=(1, 1, 1, 1))  # f32[1,3,512,16]
// t6 = relu(t3)  # f32[1,3,512,16]
// t11 = mat_mul(t6, summed)  # f32[1,3,512,17]
// t13 = transpose(t11, perm=(0, 2, 1, 3))  # f32[1,512,3,17]
// t14 = reshape(t13, shape=(1, 512, 51))  # f32[1,512,51]
__attribute__((noinline))
static void tile_14_17_16_1_17_17_0(const float *restrict a, const float *restrict b, float *restrict c, int count) {
  korch_f16 s0_0 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s4_0 = {0};
  korch_f16 s5_0 = {0};
  korch_f16 s6_0 = {0};
  korch_f16 s7_0 = {0};
  korch_f16 s8_0 = {0};
  korch_f16 s9_0 = {0};
  korch_f16 s10_0 = {0};
  korch_f16 s11_0 = {0};
  korch_f16 s12_0 = {0};
  korch_f16 s13_0 = {0};
  float column[128] __attribute__((aligned(64)));
  for (int k = 0; k < count; ++k) column[k] = b[k * 17 + 16];
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 17 + 0);
      KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
      KORCH_FMA_FROM16(s1_0, a[16 + k * 1], b0);
      KORCH_FMA_FROM16(s2_0, a[32 + k * 1], b0);
      KORCH_FMA_FROM16(s3_0, a[48 + k * 1], b0);
      KORCH_FMA_FROM16(s4_0, a[64 + k * 1], b0);
      KORCH_FMA_FROM16(s5_0, a[80 + k * 1], b0);
      KORCH_FMA_FROM16(s6_0, a[96 + k * 1], b0);
      KORCH_FMA_FROM16(s7_0, a[112 + k * 1], b0);
      KORCH_FMA_FROM16(s8_0, a[128 + k * 1], b0);
      KORCH_FMA_FROM16(s9_0, a[144 + k * 1], b0);
      KORCH_FMA_FROM16(s10_0, a[160 + k * 1], b0);
      KORCH_FMA_FROM16(s11_0, a[176 + k * 1], b0);
      KORCH_FMA_FROM16(s12_0, a[192 + k * 1], b0);
      KORCH_FMA_FROM16(s13_0, a[208 + k * 1], b0);
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 17 + 0);
    KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
    KORCH_FMA_FROM16(s1_0, a[16 + k * 1], b0);
    KORCH_FMA_FROM16(s2_0, a[32 + k * 1], b0);
    KORCH_FMA_FROM16(s3_0, a[48 + k * 1], b0);
    KORCH_FMA_FROM16(s4_0, a[64 + k * 1], b0);
    KORCH_FMA_FROM16(s5_0, a[80 + k * 1], b0);
    KORCH_FMA_FROM16(s6_0, a[96 + k * 1], b0);
    KORCH_FMA_FROM16(s7_0, a[112 + k * 1], b0);
    KORCH_FMA_FROM16(s8_0, a[128 + k * 1], b0);
    KORCH_FMA_FROM16(s9_0, a[144 + k * 1], b0);
    KORCH_FMA_FROM16(s10_0, a[160 + k * 1], b0);
    KORCH_FMA_FROM16(s11_0, a[176 + k * 1], b0);
    KORCH_FMA_FROM16(s12_0, a[192 + k * 1], b0);
    KORCH_FMA_FROM16(s13_0, a[208 + k * 1], b0);
    __asm__ volatile("" ::: "memory");
  }
  korch_f4 s0_1 = {korch_dot(a + 0, column, count)};
  korch_f4 s1_1 = {korch_dot(a + 16, column, count)};
  korch_f4 s2_1 = {korch_dot(a + 32, column, count)};
  korch_f4 s3_1 = {korch_dot(a + 48, column, count)};
  korch_f4 s4_1 = {korch_dot(a + 64, column, count)};
  korch_f4 s5_1 = {korch_dot(a + 80, column, count)};
  korch_f4 s6_1 = {korch_dot(a + 96, column, count)};
  korch_f4 s7_1 = {korch_dot(a + 112, column, count)};
  korch_f4 s8_1 = {korch_dot(a + 128, column, count)};
  korch_f4 s9_1 = {korch_dot(a + 144, column, count)};
  korch_f4 s10_1 = {korch_dot(a + 160, column, count)};
  korch_f4 s11_1 = {korch_dot(a + 176, column, count)};
  korch_f4 s12_1 = {korch_dot(a + 192, column, count)};
  korch_f4 s13_1 = {korch_dot(a + 208, column, count)};
  *(korch_at16 *)(c + 0) = s0_0;
  korch_store_first4(c + 16, s0_1, 1);
  *(korch_at16 *)(c + 17) = s1_0;
  korch_store_first4(c + 33, s1_1, 1);
  *(korch_at16 *)(c + 34) = s2_0;
  korch_store_first4(c + 50, s2_1, 1);
  *(korch_at16 *)(c + 51) = s3_0;
  korch_store_first4(c + 67, s3_1, 1);
  *(korch_at16 *)(c + 68) = s4_0;
  korch_store_first4(c + 84, s4_1, 1);
  *(korch_at16 *)(c + 85) = s5_0;
  korch_store_first4(c + 101, s5_1, 1);
  *(korch_at16 *)(c + 102) = s6_0;
  korch_store_first4(c + 118, s6_1, 1);
  *(korch_at16 *)(c + 119) = s7_0;
  korch_store_first4(c + 135, s7_1, 1);
  *(korch_at16 *)(c + 136) = s8_0;
  korch_store_first4(c + 152, s8_1, 1);
  *(korch_at16 *)(c + 153) = s9_0;
  korch_store_first4(c + 169, s9_1, 1);
  *(korch_at16 *)(c + 170) = s10_0;
  korch_store_first4(c + 186, s10_1, 1);
  *(korch_at16 *)(c + 187) = s11_0;
  korch_store_first4(c + 203, s11_1, 1);
  *(korch_at16 *)(c + 204) = s12_0;
  korch_store_first4(c + 220, s12_1, 1);
  *(korch_at16 *)(c + 221) = s13_0;
  korch_store_first4(c + 237, s13_1, 1);
}
__attribute__((noinline))
static void tile_13_17_16_1_17_17_0(const float *restrict a, const float *restrict b, float *restrict c, int count) {
  korch_f16 s0_0 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s4_0 = {0};
  korch_f16 s5_0 = {0};
  korch_f16 s6_0 = {0};
  korch_f16 s7_0 = {0};
  korch_f16 s8_0 = {0};
  korch_f16 s9_0 = {0};
  korch_f16 s10_0 = {0};
  korch_f16 s11_0 = {0};
  korch_f16 s12_0 = {0};
  float column[128] __attribute__((aligned(64)));
  for (int k = 0; k < count; ++k) column[k] = b[k * 17 + 16];
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 17 + 0);
      KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
      KORCH_FMA_FROM16(s1_0, a[16 + k * 1], b0);
      KORCH_FMA_FROM16(s2_0, a[32 + k * 1], b0);
      KORCH_FMA_FROM16(s3_0, a[48 + k * 1], b0);
      KORCH_FMA_FROM16(s4_0, a[64 + k * 1], b0);
      KORCH_FMA_FROM16(s5_0, a[80 + k * 1], b0);
      KORCH_FMA_FROM16(s6_0, a[96 + k * 1], b0);
      KORCH_FMA_FROM16(s7_0, a[112 + k * 1], b0);
      KORCH_FMA_FROM16(s8_0, a[128 + k * 1], b0);
      KORCH_FMA_FROM16(s9_0, a[144 + k * 1], b0);
      KORCH_FMA_FROM16(s10_0, a[160 + k * 1], b0);
      KORCH_FMA_FROM16(s11_0, a[176 + k * 1], b0);
      KORCH_FMA_FROM16(s12_0, a[192 + k * 1], b0);
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 17 + 0);
    KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
    KORCH_FMA_FROM16(s1_0, a[16 + k * 1], b0);
    KORCH_FMA_FROM16(s2_0, a[32 + k * 1], b0);
    KORCH_FMA_FROM16(s3_0, a[48 + k * 1], b0);
    KORCH_FMA_FROM16(s4_0, a[64 + k * 1], b0);
    KORCH_FMA_FROM16(s5_0, a[80 + k * 1], b0);
    KORCH_FMA_FROM16(s6_0, a[96 + k * 1], b0);
    KORCH_FMA_FROM16(s7_0, a[112 + k * 1], b0);
    KORCH_FMA_FROM16(s8_0, a[128 + k * 1], b0);
    KORCH_FMA_FROM16(s9_0, a[144 + k * 1], b0);
    KORCH_FMA_FROM16(s10_0, a[160 + k * 1], b0);
    KORCH_FMA_FROM16(s11_0, a[176 + k * 1], b0);
    KORCH_FMA_FROM16(s12_0, a[192 + k * 1], b0);
    __asm__ volatile("" ::: "memory");
  }
  korch_f4 s0_1 = {korch_dot(a + 0, column, count)};
  korch_f4 s1_1 = {korch_dot(a + 16, column, count)};
  korch_f4 s2_1 = {korch_dot(a + 32, column, count)};
  korch_f4 s3_1 = {korch_dot(a + 48, column, count)};
  korch_f4 s4_1 = {korch_dot(a + 64, column, count)};
  korch_f4 s5_1 = {korch_dot(a + 80, column, count)};
  korch_f4 s6_1 = {korch_dot(a + 96, column, count)};
  korch_f4 s7_1 = {korch_dot(a + 112, column, count)};
  korch_f4 s8_1 = {korch_dot(a + 128, column, count)};
  korch_f4 s9_1 = {korch_dot(a + 144, column, count)};
  korch_f4 s10_1 = {korch_dot(a + 160, column, count)};
  korch_f4 s11_1 = {korch_dot(a + 176, column, count)};
  korch_f4 s12_1 = {korch_dot(a + 192, column, count)};
  *(korch_at16 *)(c + 0) = s0_0;
  korch_store_first4(c + 16, s0_1, 1);
  *(korch_at16 *)(c + 17) = s1_0;
  korch_store_first4(c + 33, s1_1, 1);
  *(korch_at16 *)(c + 34) = s2_0;
  korch_store_first4(c + 50, s2_1, 1);
  *(korch_at16 *)(c + 51) = s3_0;
  korch_store_first4(c + 67, s3_1, 1);
  *(korch_at16 *)(c + 68) = s4_0;
  korch_store_first4(c + 84, s4_1, 1);
  *(korch_at16 *)(c + 85) = s5_0;
  korch_store_first4(c + 101, s5_1, 1);
  *(korch_at16 *)(c + 102) = s6_0;
  korch_store_first4(c + 118, s6_1, 1);
  *(korch_at16 *)(c + 119) = s7_0;
  korch_store_first4(c + 135, s7_1, 1);
  *(korch_at16 *)(c + 136) = s8_0;
  korch_store_first4(c + 152, s8_1, 1);
  *(korch_at16 *)(c + 153) = s9_0;
  korch_store_first4(c + 169, s9_1, 1);
  *(korch_at16 *)(c + 170) = s10_0;
  korch_store_first4(c + 186, s10_1, 1);
  *(korch_at16 *)(c + 187) = s11_0;
  korch_store_first4(c + 203, s11_1, 1);
  *(korch_at16 *)(c + 204) = s12_0;
  korch_store_first4(c + 220, s12_1, 1);
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  char *const own = (char *)workspace + 0;
  for (int i2_2a = 0; i2_2a < 3; ++i2_2a) {
    float *restrict b0 = (float *)(own + 0);
    float *restrict b1 = (float *)(own + 32768);
    // t6 = relu(t3)  # f32[1,3,512,16]
    for (int i0_2 = 0; i0_2 < 512; i0_2 += 16) {
      korch_f16 y0, y1, y2, y3;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y0 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 512]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y1 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 1024]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y2 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 1536]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y3 = v1; }
      korch_interleave16(b0 + i0_2 * 16 + 0, 16, y0, y1, y2, y3);
      korch_f16 y4, y5, y6, y7;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 2048]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y4 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 2560]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y5 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 3072]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y6 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 3584]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y7 = v1; }
      korch_interleave16(b0 + i0_2 * 16 + 4, 16, y4, y5, y6, y7);
      korch_f16 y8, y9, y10, y11;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 4096]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y8 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 4608]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y9 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 5120]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y10 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 5632]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y11 = v1; }
      korch_interleave16(b0 + i0_2 * 16 + 8, 16, y8, y9, y10, y11);
      korch_f16 y12, y13, y14, y15;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 6144]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y12 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 6656]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y13 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 7168]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y14 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_2a * 24576 + 7680]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y15 = v1; }
      korch_interleave16(b0 + i0_2 * 16 + 12, 16, y12, y13, y14, y15);
    }
    // t11 = mat_mul(t6, summed)  # f32[1,3,512,17]
    {
      const int k0 = 0;
      const int count = 16;
      const int first = 0;
      const float *restrict a = b0 + 0 + first * 16 + k0 * 1;
      float *restrict c = b1 + 0 + first * 17;
      const float *restrict b = in1 + i2_2a * 272 + k0 * 17;
      {
        for (int r = 0; r < 434; r += 14) {
          tile_14_17_16_1_17_17_0(a + r * 16, b + 0, c + r * 17 + 0, count);
        }
        for (int r = 434; r < 512; r += 13) {
          tile_13_17_16_1_17_17_0(a + r * 16, b + 0, c + r * 17 + 0, count);
        }
      }
    }
    // t14 = reshape(t13, shape=(1, 512, 51))  # f32[1,512,51]
    for (int i2_1 = 0; i2_1 < 512; ++i2_1) {
      #pragma omp simd
      for (int i2_2b = 0; i2_2b < 17; ++i2_2b) {
        const float v0 = b1[i2_2b + i2_1 * 17];
        out[i2_2a * 17 + i2_2b + i2_1 * 51] = v0;
      }
    }
  }
}
