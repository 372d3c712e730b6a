// t1 = reshape(x, shape=(1, 3, 48, 512))  # f32[1,3,48,512]
// t2 = transpose(t1, perm=(0, 1, 3, 2))  # f32[1,3,512,48]
// t4 = slice(t2, lengths=(1, 3, 512, 16), starts=(0, 0, 0, 16), steps=(1, 1, 1, 1))  # f32[1,3,512,16]
// t7 = relu(t4)  # f32[1,3,512,16]
// t8 = transpose(t7, perm=(0, 1, 3, 2))  # f32[1,3,16,512]
// t5 = slice(t2, lengths=(1, 3, 512, 16), starts=(0, 0, 0, 32), steps=(1, 1, 1, 1))  # f32[1,3,512,16]
// t9 = pad(t5, mode='constant', pads=(0, 0, 0, 0, 0, 0, 0, 1), value=1.0)  # f32[1,3,512,17]
// t12 = mat_mul(t8, t9)  # f32[1,3,16,17]
__attribute__((noinline))
static void tile_8_17_1_16_17_17_0(const float *restrict a, const float *restrict b, float *restrict c, int count) {
  korch_f16 s0_0 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s4_0 = {0};
  korch_f16 s5_0 = {0};
  korch_f16 s6_0 = {0};
  korch_f16 s7_0 = {0};
  korch_f8 tail = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 17 + 0);
      KORCH_FMA_FROM16(s0_0, a[0 + k * 16], b0);
      KORCH_FMA_FROM16(s1_0, a[1 + k * 16], b0);
      KORCH_FMA_FROM16(s2_0, a[2 + k * 16], b0);
      KORCH_FMA_FROM16(s3_0, a[3 + k * 16], b0);
      KORCH_FMA_FROM16(s4_0, a[4 + k * 16], b0);
      KORCH_FMA_FROM16(s5_0, a[5 + k * 16], b0);
      KORCH_FMA_FROM16(s6_0, a[6 + k * 16], b0);
      KORCH_FMA_FROM16(s7_0, a[7 + k * 16], b0);
      tail += *(const korch_at8 *)(a + k * 16) * b[k * 17 + 16];
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 17 + 0);
    KORCH_FMA_FROM16(s0_0, a[0 + k * 16], b0);
    KORCH_FMA_FROM16(s1_0, a[1 + k * 16], b0);
    KORCH_FMA_FROM16(s2_0, a[2 + k * 16], b0);
    KORCH_FMA_FROM16(s3_0, a[3 + k * 16], b0);
    KORCH_FMA_FROM16(s4_0, a[4 + k * 16], b0);
    KORCH_FMA_FROM16(s5_0, a[5 + k * 16], b0);
    KORCH_FMA_FROM16(s6_0, a[6 + k * 16], b0);
    KORCH_FMA_FROM16(s7_0, a[7 + k * 16], b0);
    tail += *(const korch_at8 *)(a + k * 16) * b[k * 17 + 16];
    __asm__ volatile("" ::: "memory");
  }
  korch_f4 s0_1 = {tail[0]};
  korch_f4 s1_1 = {tail[1]};
  korch_f4 s2_1 = {tail[2]};
  korch_f4 s3_1 = {tail[3]};
  korch_f4 s4_1 = {tail[4]};
  korch_f4 s5_1 = {tail[5]};
  korch_f4 s6_1 = {tail[6]};
  korch_f4 s7_1 = {tail[7]};
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
}
__attribute__((noinline))
static void tile_8_17_1_16_17_17_1(const float *restrict a, const float *restrict b, float *restrict c, int count) {
  korch_f16 s0_0 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s4_0 = {0};
  korch_f16 s5_0 = {0};
  korch_f16 s6_0 = {0};
  korch_f16 s7_0 = {0};
  korch_f8 tail = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 17 + 0);
      KORCH_FMA_FROM16(s0_0, a[0 + k * 16], b0);
      KORCH_FMA_FROM16(s1_0, a[1 + k * 16], b0);
      KORCH_FMA_FROM16(s2_0, a[2 + k * 16], b0);
      KORCH_FMA_FROM16(s3_0, a[3 + k * 16], b0);
      KORCH_FMA_FROM16(s4_0, a[4 + k * 16], b0);
      KORCH_FMA_FROM16(s5_0, a[5 + k * 16], b0);
      KORCH_FMA_FROM16(s6_0, a[6 + k * 16], b0);
      KORCH_FMA_FROM16(s7_0, a[7 + k * 16], b0);
      tail += *(const korch_at8 *)(a + k * 16) * b[k * 17 + 16];
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 17 + 0);
    KORCH_FMA_FROM16(s0_0, a[0 + k * 16], b0);
    KORCH_FMA_FROM16(s1_0, a[1 + k * 16], b0);
    KORCH_FMA_FROM16(s2_0, a[2 + k * 16], b0);
    KORCH_FMA_FROM16(s3_0, a[3 + k * 16], b0);
    KORCH_FMA_FROM16(s4_0, a[4 + k * 16], b0);
    KORCH_FMA_FROM16(s5_0, a[5 + k * 16], b0);
    KORCH_FMA_FROM16(s6_0, a[6 + k * 16], b0);
    KORCH_FMA_FROM16(s7_0, a[7 + k * 16], b0);
    tail += *(const korch_at8 *)(a + k * 16) * b[k * 17 + 16];
    __asm__ volatile("" ::: "memory");
  }
  korch_f4 s0_1 = {tail[0]};
  korch_f4 s1_1 = {tail[1]};
  korch_f4 s2_1 = {tail[2]};
  korch_f4 s3_1 = {tail[3]};
  korch_f4 s4_1 = {tail[4]};
  korch_f4 s5_1 = {tail[5]};
  korch_f4 s6_1 = {tail[6]};
  korch_f4 s7_1 = {tail[7]};
  korch_f16 c_s0_0 = *(const korch_at16 *)(c + 0);
  s0_0 += c_s0_0;
  *(korch_at16 *)(c + 0) = s0_0;
  korch_f4 c_s0_1 = korch_load_first4(c + 16, 1);
  s0_1 += c_s0_1;
  korch_store_first4(c + 16, s0_1, 1);
  korch_f16 c_s1_0 = *(const korch_at16 *)(c + 17);
  s1_0 += c_s1_0;
  *(korch_at16 *)(c + 17) = s1_0;
  korch_f4 c_s1_1 = korch_load_first4(c + 33, 1);
  s1_1 += c_s1_1;
  korch_store_first4(c + 33, s1_1, 1);
  korch_f16 c_s2_0 = *(const korch_at16 *)(c + 34);
  s2_0 += c_s2_0;
  *(korch_at16 *)(c + 34) = s2_0;
  korch_f4 c_s2_1 = korch_load_first4(c + 50, 1);
  s2_1 += c_s2_1;
  korch_store_first4(c + 50, s2_1, 1);
  korch_f16 c_s3_0 = *(const korch_at16 *)(c + 51);
  s3_0 += c_s3_0;
  *(korch_at16 *)(c + 51) = s3_0;
  korch_f4 c_s3_1 = korch_load_first4(c + 67, 1);
  s3_1 += c_s3_1;
  korch_store_first4(c + 67, s3_1, 1);
  korch_f16 c_s4_0 = *(const korch_at16 *)(c + 68);
  s4_0 += c_s4_0;
  *(korch_at16 *)(c + 68) = s4_0;
  korch_f4 c_s4_1 = korch_load_first4(c + 84, 1);
  s4_1 += c_s4_1;
  korch_store_first4(c + 84, s4_1, 1);
  korch_f16 c_s5_0 = *(const korch_at16 *)(c + 85);
  s5_0 += c_s5_0;
  *(korch_at16 *)(c + 85) = s5_0;
  korch_f4 c_s5_1 = korch_load_first4(c + 101, 1);
  s5_1 += c_s5_1;
  korch_store_first4(c + 101, s5_1, 1);
  korch_f16 c_s6_0 = *(const korch_at16 *)(c + 102);
  s6_0 += c_s6_0;
  *(korch_at16 *)(c + 102) = s6_0;
  korch_f4 c_s6_1 = korch_load_first4(c + 118, 1);
  s6_1 += c_s6_1;
  korch_store_first4(c + 118, s6_1, 1);
  korch_f16 c_s7_0 = *(const korch_at16 *)(c + 119);
  s7_0 += c_s7_0;
  *(korch_at16 *)(c + 119) = s7_0;
  korch_f4 c_s7_1 = korch_load_first4(c + 135, 1);
  s7_1 += c_s7_1;
  korch_store_first4(c + 135, s7_1, 1);
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  char *const own = (char *)workspace + 0;
  for (int i2_1 = 0; i2_1 < 3; ++i2_1) {
    float *restrict b0 = (float *)(own + 0);
    float *restrict b1 = (float *)(own + 32768);
    // t7 = relu(t4)  # f32[1,3,512,16]
    for (int i0_2 = 0; i0_2 < 512; i0_2 += 16) {
      korch_f16 y0, y1, y2, y3;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 8192]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y0 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 8704]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y1 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 9216]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y2 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 9728]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y3 = v1; }
      korch_interleave16(b0 + i0_2 * 16 + 0, 16, y0, y1, y2, y3);
      korch_f16 y4, y5, y6, y7;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 10240]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y4 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 10752]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y5 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 11264]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y6 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 11776]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y7 = v1; }
      korch_interleave16(b0 + i0_2 * 16 + 4, 16, y4, y5, y6, y7);
      korch_f16 y8, y9, y10, y11;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 12288]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y8 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 12800]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y9 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 13312]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y10 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 13824]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y11 = v1; }
      korch_interleave16(b0 + i0_2 * 16 + 8, 16, y8, y9, y10, y11);
      korch_f16 y12, y13, y14, y15;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 14336]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y12 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 14848]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y13 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 15360]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y14 = v1; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i2_1 * 24576 + 15872]; const korch_f16 v1 = korch_larger16((korch_f16){0}, v0); y15 = v1; }
      korch_interleave16(b0 + i0_2 * 16 + 12, 16, y12, y13, y14, y15);
    }
    // t9 = pad(t5, mode='constant', pads=(0, 0, 0, 0, 0, 0, 0, 1), value=1.0)  # f32[1,3,512,17]
    for (int i1_30 = 0; i1_30 < 16; i1_30 += 16) {
      for (int i1_20 = 0; i1_20 < 512; i1_20 += 16) {
        for (int i1_2 = i1_20; i1_2 < KORCH_MIN(i1_20 + 16, 512); ++i1_2) {
          #pragma omp simd
          for (int i1_3 = i1_30; i1_3 < i1_30 + 16; ++i1_3) {
            const float v0 = in0[i1_2 + i1_3 * 512 + i2_1 * 24576 + 16384];
            b1[i1_3 + i1_2 * 17] = v0;
          }
        }
      }
    }
    #pragma omp simd
    for (int i1_2 = 0; i1_2 < 512; ++i1_2) {
      const float v0 = 1.0e+0f;
      b1[i1_2 * 17 + 16] = v0;
    }
    // t12 = mat_mul(t8, t9)  # f32[1,3,16,17]
    for (int k0 = 0; k0 < 512; k0 += 128) {
      const int count = 128;
      const int first = 0;
      const float *restrict a = b0 + 0 + first * 1 + k0 * 16;
      float *restrict c = out + i2_1 * 272 + first * 17;
      const float *restrict b = b1 + 0 + k0 * 17;
      {
        for (int r = 0; r < 16; r += 8) {
          if (k0 == 0) tile_8_17_1_16_17_17_0(a + r * 1, b + 0, c + r * 17 + 0, count);
          else if (k0 + count < 512) tile_8_17_1_16_17_17_1(a + r * 1, b + 0, c + r * 17 + 0, count);
          else tile_8_17_1_16_17_17_1(a + r * 1, b + 0, c + r * 17 + 0, count);
        }
      }
    }
  }
}
