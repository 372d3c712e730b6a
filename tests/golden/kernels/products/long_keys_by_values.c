// t1 = transpose(x, perm=(0, 2, 1))  # f32[1,576,4096]
// t2 = reshape(t1, shape=(1, 12, 48, 4096))  # f32[1,12,48,4096]
// t3 = transpose(t2, perm=(0, 1, 3, 2))  # f32[1,12,4096,48]
// t5 = slice(t3, lengths=(1, 12, 4096, 16), starts=(0, 0, 0, 16), steps=(1, 1, 1, 1))  # f32[1,12,4096,16]
// t8 = relu(t5)  # f32[1,12,4096,16]
// t9 = transpose(t8, perm=(0, 1, 3, 2))  # f32[1,12,16,4096]
// t6 = slice(t3, lengths=(1, 12, 4096, 16), starts=(0, 0, 0, 32), steps=(1, 1, 1, 1))  # f32[1,12,4096,16]
// t10 = pad(t6, mode='constant', pads=(0, 0, 0, 0, 0, 0, 0, 1), value=1.0)  # f32[1,12,4096,17]
// t13 = mat_mul(t9, t10)  # f32[1,12,16,17]
__attribute__((noinline))
static void tile_8_17_1_16_17_17_0_1ahead576(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *ahead) {
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
      if (i % 1 == 0) {
        __builtin_prefetch(ahead + k * 576 + 0, 0, 2);
      }
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
    __builtin_prefetch(ahead + k * 576 + 0, 0, 2);
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
static void tile_8_17_1_16_17_17_1_1ahead576(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *ahead) {
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
      if (i % 1 == 0) {
        __builtin_prefetch(ahead + k * 576 + 0, 0, 2);
      }
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
    __builtin_prefetch(ahead + k * 576 + 0, 0, 2);
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
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  for (int k2a = 0; k2a < 64; ++k2a) {
    #pragma omp for schedule(static) nowait collapse(1)
    for (int i2_1 = 0; i2_1 < 12; ++i2_1) {
      float b0[1024] __attribute__((aligned(64)));
      float b1[1088] __attribute__((aligned(64)));
      // t8 = relu(t5)  # f32[1,12,4096,16]
      for (int i0_2 = 0; i0_2 < 64; ++i0_2) {
        __builtin_prefetch(in0 + i2_1 * 48 + k2a * 36864 + i0_2 * 576 + 36880, 0, 2);
        #pragma omp simd
        for (int i0_3 = 0; i0_3 < 16; ++i0_3) {
          const float v0 = in0[i0_3 + i2_1 * 48 + k2a * 36864 + i0_2 * 576 + 16];
          const float v1 = KORCH_MAX(0.0e+0f, v0);
          b0[i0_3 + i0_2 * 16] = v1;
        }
      }
      // t10 = pad(t6, mode='constant', pads=(0, 0, 0, 0, 0, 0, 0, 1), value=1.0)  # f32[1,12,4096,17]
      for (int i1_2 = 0; i1_2 < 64; ++i1_2) {
        __builtin_prefetch(in0 + i2_1 * 48 + k2a * 36864 + i1_2 * 576 + 36896, 0, 2);
        #pragma omp simd
        for (int i1_3 = 0; i1_3 < 16; ++i1_3) {
          const float v0 = in0[i1_3 + i2_1 * 48 + k2a * 36864 + i1_2 * 576 + 32];
          b1[i1_3 + i1_2 * 17] = v0;
        }
      }
      #pragma omp simd
      for (int i1_2 = 0; i1_2 < 64; ++i1_2) {
        const float v0 = 1.0e+0f;
        b1[i1_2 * 17 + 16] = v0;
      }
      // t13 = mat_mul(t9, t10)  # f32[1,12,16,17]
      {
        const int k0 = 0;
        const int count = 64;
        const int first = 0;
        const float *restrict a = b0 + 0 + first * 1 + k0 * 16;
        float *restrict c = out + i2_1 * 272 + first * 17;
        const float *restrict b = b1 + 0 + k0 * 17;
        {
          for (int r = 0; r < 16; r += 8) {
            const float *const ahead = (0 + (r - 0) / 8) % 2 == 1 ? in0 + i2_1 * 48 + k2a * 36864 + 36896 : in0 + i2_1 * 48 + k2a * 36864 + 36880;
            if (k2a == 0) tile_8_17_1_16_17_17_0_1ahead576(a + r * 1, b + 0, c + r * 17 + 0, count, ahead);
            else if (k2a < 63) tile_8_17_1_16_17_17_1_1ahead576(a + r * 1, b + 0, c + r * 17 + 0, count, ahead);
            else tile_8_17_1_16_17_17_1_1ahead576(a + r * 1, b + 0, c + r * 17 + 0, count, ahead);
          }
        }
      }
    }
  }
}
