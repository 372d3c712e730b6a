// t3 = reshape(q, shape=(1, 96, 3, 16))  # f32[1,96,3,16]
// t4 = transpose(t3, perm=(0, 2, 1, 3))  # f32[1,3,96,16]
// t6 = reshape(turned, shape=(1, 33, 3, 16))  # f32[1,33,3,16]
// t7 = transpose(t6, perm=(0, 2, 3, 1))  # f32[1,3,16,33]
// t8 = mat_mul(t4, t7)  # f32[1,3,96,33]
// t10 = mul(t8, 0.25)  # f32[1,3,96,33]
// t11 = reduce_max(t10, axes=(3,), keepdims=True)  # f32[1,3,96,1]
// t12 = sub(t10, t11)  # f32[1,3,96,33]
// t13 = exp(t12)  # f32[1,3,96,33]
// t14 = reduce_sum(t13, axes=(3,), keepdims=True)  # f32[1,3,96,1]
// t15 = div(t13, t14)  # f32[1,3,96,33]
// t16 = mat_mul(t15, v)  # f32[1,3,96,16]
// t17 = transpose(t16, perm=(0, 2, 1, 3))  # f32[1,96,3,16]
// t18 = reshape(t17, shape=(1, 96, 48))  # f32[1,96,48]
// t6 = reshape(turned, shape=(1, 33, 3, 16))  # f32[1,33,3,16]
// t7 = transpose(t6, perm=(0, 2, 3, 1))  # f32[1,3,16,33]
__attribute__((noinline))
static void stage0_run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t7 = transpose(t6, perm=(0, 2, 3, 1))  # f32[1,3,16,33]
  for (int i0_30 = 0; i0_30 < 33; i0_30 += 16) {
    for (int i0_1m20 = 0; i0_1m20 < 48; i0_1m20 += 16) {
      for (int i0_1m2 = i0_1m20; i0_1m2 < KORCH_MIN(i0_1m20 + 16, 48); ++i0_1m2) {
        #pragma omp simd
        for (int i0_3 = i0_30; i0_3 < KORCH_MIN(i0_30 + 16, 33); ++i0_3) {
          const float v0 = in0[i0_1m2 + i0_3 * 48];
          out[i0_3 + i0_1m2 * 33] = v0;
        }
      }
    }
  }
}
// t3 = reshape(q, shape=(1, 32, 3, 16))  # f32[1,32,3,16]
// t4 = transpose(t3, perm=(0, 2, 1, 3))  # f32[1,3,32,16]
// t8 = mat_mul(t4, t7)  # f32[1,3,32,33]
// t10 = mul(t8, 0.25)  # f32[1,3,32,33]
__attribute__((noinline))
static void stage1_tile_8_33_48_1_33_33_0_all(const float *restrict a, const float *restrict b, float *restrict c, int count) {
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
  float column[128] __attribute__((aligned(64)));
  for (int k = 0; k < count; ++k) column[k] = b[k * 33 + 32];
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 33 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 33 + 16);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); }
      { const float x = a[48 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); }
      { const float x = a[96 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); }
      { const float x = a[144 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); }
      { const float x = a[192 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); }
      { const float x = a[240 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s5_0, all, b0); KORCH_FMA16(s5_1, all, b1); }
      { const float x = a[288 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s6_0, all, b0); KORCH_FMA16(s6_1, all, b1); }
      { const float x = a[336 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s7_0, all, b0); KORCH_FMA16(s7_1, all, b1); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 33 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 33 + 16);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); }
    { const float x = a[48 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); }
    { const float x = a[96 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); }
    { const float x = a[144 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); }
    { const float x = a[192 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); }
    { const float x = a[240 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s5_0, all, b0); KORCH_FMA16(s5_1, all, b1); }
    { const float x = a[288 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s6_0, all, b0); KORCH_FMA16(s6_1, all, b1); }
    { const float x = a[336 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s7_0, all, b0); KORCH_FMA16(s7_1, all, b1); }
    __asm__ volatile("" ::: "memory");
  }
  korch_f4 s0_2 = {korch_dot(a + 0, column, count)};
  korch_f4 s1_2 = {korch_dot(a + 48, column, count)};
  korch_f4 s2_2 = {korch_dot(a + 96, column, count)};
  korch_f4 s3_2 = {korch_dot(a + 144, column, count)};
  korch_f4 s4_2 = {korch_dot(a + 192, column, count)};
  korch_f4 s5_2 = {korch_dot(a + 240, column, count)};
  korch_f4 s6_2 = {korch_dot(a + 288, column, count)};
  korch_f4 s7_2 = {korch_dot(a + 336, column, count)};
    const korch_f16 y0s0_0 = s0_0 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 0) = y0s0_0;
    const korch_f16 y0s0_1 = s0_1 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 16) = y0s0_1;
    const korch_f4 y0s0_2 = s0_2 * (2.5e-1f - (korch_f4){0});
  korch_store_first4(c + 32, y0s0_2, 1);
    const korch_f16 y0s1_0 = s1_0 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 33) = y0s1_0;
    const korch_f16 y0s1_1 = s1_1 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 49) = y0s1_1;
    const korch_f4 y0s1_2 = s1_2 * (2.5e-1f - (korch_f4){0});
  korch_store_first4(c + 65, y0s1_2, 1);
    const korch_f16 y0s2_0 = s2_0 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 66) = y0s2_0;
    const korch_f16 y0s2_1 = s2_1 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 82) = y0s2_1;
    const korch_f4 y0s2_2 = s2_2 * (2.5e-1f - (korch_f4){0});
  korch_store_first4(c + 98, y0s2_2, 1);
    const korch_f16 y0s3_0 = s3_0 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 99) = y0s3_0;
    const korch_f16 y0s3_1 = s3_1 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 115) = y0s3_1;
    const korch_f4 y0s3_2 = s3_2 * (2.5e-1f - (korch_f4){0});
  korch_store_first4(c + 131, y0s3_2, 1);
    const korch_f16 y0s4_0 = s4_0 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 132) = y0s4_0;
    const korch_f16 y0s4_1 = s4_1 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 148) = y0s4_1;
    const korch_f4 y0s4_2 = s4_2 * (2.5e-1f - (korch_f4){0});
  korch_store_first4(c + 164, y0s4_2, 1);
    const korch_f16 y0s5_0 = s5_0 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 165) = y0s5_0;
    const korch_f16 y0s5_1 = s5_1 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 181) = y0s5_1;
    const korch_f4 y0s5_2 = s5_2 * (2.5e-1f - (korch_f4){0});
  korch_store_first4(c + 197, y0s5_2, 1);
    const korch_f16 y0s6_0 = s6_0 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 198) = y0s6_0;
    const korch_f16 y0s6_1 = s6_1 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 214) = y0s6_1;
    const korch_f4 y0s6_2 = s6_2 * (2.5e-1f - (korch_f4){0});
  korch_store_first4(c + 230, y0s6_2, 1);
    const korch_f16 y0s7_0 = s7_0 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 231) = y0s7_0;
    const korch_f16 y0s7_1 = s7_1 * (2.5e-1f - (korch_f16){0});
  *(korch_at16 *)(c + 247) = y0s7_1;
    const korch_f4 y0s7_2 = s7_2 * (2.5e-1f - (korch_f4){0});
  korch_store_first4(c + 263, y0s7_2, 1);
}
__attribute__((noinline))
static void stage1_run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  for (int i0_1 = 0; i0_1 < 3; ++i0_1) {
    // t8 = mat_mul(t4, t7)  # f32[1,3,32,33]
    {
      const int k0 = 0;
      const int count = 16;
      const int first = 0;
      const float *restrict a = in0 + i0_1 * 16 + first * 48 + k0 * 1;
      float *restrict c = out + i0_1 * 1056 + first * 33;
      const float *restrict b = in1 + i0_1 * 528 + k0 * 33;
      {
        for (int r = 0; r < 32; r += 8) {
          stage1_tile_8_33_48_1_33_33_0_all(a + r * 48, b + 0, c + r * 33 + 0, count);
        }
      }
    }
  }
}
// t11 = reduce_max(t10, axes=(3,), keepdims=True)  # f32[1,3,32,1]
// t12 = sub(t10, t11)  # f32[1,3,32,33]
// t13 = exp(t12)  # f32[1,3,32,33]
// t14 = reduce_sum(t13, axes=(3,), keepdims=True)  # f32[1,3,32,1]
// t15 = div(t13, t14)  # f32[1,3,32,33]
__attribute__((noinline))
static void stage2_run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  for (int i3_1 = 0; i3_1 < 3; ++i3_1) {
    for (int i3_2 = 0; i3_2 < 32; ++i3_2) {
      float b0[1] __attribute__((aligned(64)));
      float b1[33] __attribute__((aligned(64)));
      float b2[1] __attribute__((aligned(64)));
      // t11 = reduce_max(t10, axes=(3,), keepdims=True)  # f32[1,3,32,1]
      {
        float acc = -INFINITY;
        float part = -INFINITY;
        int32_t nan = 0;
        #pragma omp simd reduction(max:part) reduction(|:nan)
        for (int r0_3 = 0; r0_3 < 33; ++r0_3) {
          const float v0 = in0[r0_3 + i3_2 * 33 + i3_1 * 1056];
          part = KORCH_MAX(part, v0);
          nan |= v0 != v0;
        }
        acc = KORCH_LARGER(acc, (nan ? NAN : part));
        b0[0] = acc;
      }
      // t13 = exp(t12)  # f32[1,3,32,33]
      #pragma omp simd
      for (int i1_3 = 0; i1_3 < 33; ++i1_3) {
        const float v0 = in0[i1_3 + i3_2 * 33 + i3_1 * 1056];
        const float v1 = b0[0];
        const float v2 = v0 - v1;
        const float v3 = korch_exp_belowf(v2);
        b1[i1_3] = v3;
      }
      // t14 = reduce_sum(t13, axes=(3,), keepdims=True)  # f32[1,3,32,1]
      {
        float acc = 0;
        const int r2_31 = 0 + (33 - (0)) / 16 * 16;
        float part[16] __attribute__((aligned(64))) = {0};
        for (int r2_30 = 0; r2_30 < r2_31; r2_30 += 16) {
          #pragma omp simd
          for (int r2_3 = r2_30; r2_3 < r2_30 + 16; ++r2_3) {
            const float v0 = b1[r2_3];
            part[r2_3 - r2_30] += v0;
          }
        }
        #pragma omp simd
        for (int r2_3 = r2_31; r2_3 < 33; ++r2_3) {
          const float v0 = b1[r2_3];
          part[r2_3 - r2_31] += v0;
        }
        acc += korch_sum16(part);
        b2[0] = acc;
      }
      // t15 = div(t13, t14)  # f32[1,3,32,33]
      #pragma omp simd
      for (int i3_3 = 0; i3_3 < 33; ++i3_3) {
        const float v0 = b1[i3_3];
        const float v1 = b2[0];
        const float v2 = v0 / v1;
        out[i3_3 + i3_2 * 33 + i3_1 * 1056] = v2;
      }
    }
  }
}
// t16 = mat_mul(t15, v)  # f32[1,3,32,16]
// t17 = transpose(t16, perm=(0, 2, 1, 3))  # f32[1,32,3,16]
// t18 = reshape(t17, shape=(1, 32, 48))  # f32[1,32,48]
__attribute__((noinline))
static void stage3_tile_16_16_33_1_16_16_0(const float *restrict a, const float *restrict b, float *restrict c, int count) {
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
  korch_f16 s14_0 = {0};
  korch_f16 s15_0 = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 16 + 0);
      KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
      KORCH_FMA_FROM16(s1_0, a[33 + k * 1], b0);
      KORCH_FMA_FROM16(s2_0, a[66 + k * 1], b0);
      KORCH_FMA_FROM16(s3_0, a[99 + k * 1], b0);
      KORCH_FMA_FROM16(s4_0, a[132 + k * 1], b0);
      KORCH_FMA_FROM16(s5_0, a[165 + k * 1], b0);
      KORCH_FMA_FROM16(s6_0, a[198 + k * 1], b0);
      KORCH_FMA_FROM16(s7_0, a[231 + k * 1], b0);
      KORCH_FMA_FROM16(s8_0, a[264 + k * 1], b0);
      KORCH_FMA_FROM16(s9_0, a[297 + k * 1], b0);
      KORCH_FMA_FROM16(s10_0, a[330 + k * 1], b0);
      KORCH_FMA_FROM16(s11_0, a[363 + k * 1], b0);
      KORCH_FMA_FROM16(s12_0, a[396 + k * 1], b0);
      KORCH_FMA_FROM16(s13_0, a[429 + k * 1], b0);
      KORCH_FMA_FROM16(s14_0, a[462 + k * 1], b0);
      KORCH_FMA_FROM16(s15_0, a[495 + k * 1], b0);
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 16 + 0);
    KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
    KORCH_FMA_FROM16(s1_0, a[33 + k * 1], b0);
    KORCH_FMA_FROM16(s2_0, a[66 + k * 1], b0);
    KORCH_FMA_FROM16(s3_0, a[99 + k * 1], b0);
    KORCH_FMA_FROM16(s4_0, a[132 + k * 1], b0);
    KORCH_FMA_FROM16(s5_0, a[165 + k * 1], b0);
    KORCH_FMA_FROM16(s6_0, a[198 + k * 1], b0);
    KORCH_FMA_FROM16(s7_0, a[231 + k * 1], b0);
    KORCH_FMA_FROM16(s8_0, a[264 + k * 1], b0);
    KORCH_FMA_FROM16(s9_0, a[297 + k * 1], b0);
    KORCH_FMA_FROM16(s10_0, a[330 + k * 1], b0);
    KORCH_FMA_FROM16(s11_0, a[363 + k * 1], b0);
    KORCH_FMA_FROM16(s12_0, a[396 + k * 1], b0);
    KORCH_FMA_FROM16(s13_0, a[429 + k * 1], b0);
    KORCH_FMA_FROM16(s14_0, a[462 + k * 1], b0);
    KORCH_FMA_FROM16(s15_0, a[495 + k * 1], b0);
    __asm__ volatile("" ::: "memory");
  }
  *(korch_at16 *)(c + 0) = s0_0;
  *(korch_at16 *)(c + 16) = s1_0;
  *(korch_at16 *)(c + 32) = s2_0;
  *(korch_at16 *)(c + 48) = s3_0;
  *(korch_at16 *)(c + 64) = s4_0;
  *(korch_at16 *)(c + 80) = s5_0;
  *(korch_at16 *)(c + 96) = s6_0;
  *(korch_at16 *)(c + 112) = s7_0;
  *(korch_at16 *)(c + 128) = s8_0;
  *(korch_at16 *)(c + 144) = s9_0;
  *(korch_at16 *)(c + 160) = s10_0;
  *(korch_at16 *)(c + 176) = s11_0;
  *(korch_at16 *)(c + 192) = s12_0;
  *(korch_at16 *)(c + 208) = s13_0;
  *(korch_at16 *)(c + 224) = s14_0;
  *(korch_at16 *)(c + 240) = s15_0;
}
__attribute__((noinline))
static void stage3_run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  for (int i1_2a = 0; i1_2a < 3; ++i1_2a) {
    float b0[512] __attribute__((aligned(64)));
    // t16 = mat_mul(t15, v)  # f32[1,3,32,16]
    {
      const int k0 = 0;
      const int count = 33;
      const int first = 0;
      const float *restrict a = in0 + i1_2a * 1056 + first * 33 + k0 * 1;
      float *restrict c = b0 + 0 + first * 16;
      const float *restrict b = in1 + i1_2a * 528 + k0 * 16;
      {
        for (int r = 0; r < 32; r += 16) {
          stage3_tile_16_16_33_1_16_16_0(a + r * 33, b + 0, c + r * 16 + 0, count);
        }
      }
    }
    // t18 = reshape(t17, shape=(1, 32, 48))  # f32[1,32,48]
    for (int i1_1 = 0; i1_1 < 32; ++i1_1) {
      #pragma omp simd
      for (int i1_2b = 0; i1_2b < 16; ++i1_2b) {
        const float v0 = b0[i1_2b + i1_1 * 16];
        out[i1_2a * 16 + i1_2b + i1_1 * 48] = v0;
      }
    }
  }
}
static void free(void *state) {
  for (int t = 0; t < 1; ++t) {
    void **const own = (void **)state + t * 4;
    (void)own;
  }
  free(state);
}
static int init(void **state, const void *const *in) {
  int status = 0;
  #ifdef _OPENMP
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  #endif
  void **const all = calloc(4, sizeof *all);
  if (!all) status = 1;
  for (int t = 0; !status && t < 1; ++t) {
    void **const own = all + t * 4;
  }
  #ifdef _OPENMP
  omp_set_num_threads(threads);
  #endif
  if (status && all) free(all);
  *state = status ? NULL : all;
  return status;
}
static void strip0(void **own, const void *const *in, char *out, char *scratch, const int64_t *at) {
  {
    char *const made = scratch + 0 + at[1];
    const void *const given[] = {(const char *)in[1] + at[0], made};
    stage0_run(own[0], given, made, scratch + 31680);
  }
  {
    char *const made = scratch + 6336 + at[4];
    const void *const given[] = {(const char *)in[0] + at[2], scratch + 0 + at[3], (const char *)in[2], made};
    stage1_run(own[1], given, made, scratch + 31680);
  }
  {
    char *const made = scratch + 19008 + at[6];
    const void *const given[] = {scratch + 6336 + at[5], made};
    stage2_run(own[2], given, made, scratch + 31680);
  }
  {
    char *const made = out + at[9];
    const void *const given[] = {scratch + 19008 + at[7], (const char *)in[3] + at[8], made};
    stage3_run(own[3], given, made, scratch + 31680);
  }
}
static void strip1(void **own, const void *const *in, char *out, char *scratch, const int64_t *at) {
  {
    char *const made = scratch + 6336 + at[2];
    const void *const given[] = {(const char *)in[0] + at[0], scratch + 0 + at[1], (const char *)in[2], made};
    stage1_run(own[1], given, made, scratch + 31680);
  }
  {
    char *const made = scratch + 19008 + at[4];
    const void *const given[] = {scratch + 6336 + at[3], made};
    stage2_run(own[2], given, made, scratch + 31680);
  }
  {
    char *const made = out + at[7];
    const void *const given[] = {scratch + 19008 + at[5], (const char *)in[3] + at[6], made};
    stage3_run(own[3], given, made, scratch + 31680);
  }
}
static const int64_t at[][10] = {
  {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
  {6144, 0, 0, 0, 0, 0, 0, 6144},
  {12288, 0, 0, 0, 0, 0, 0, 12288},
};
static const short form[] = {0, 1, 1};
static void run(void *state, const void *const *in, void *out, void *workspace) {
  void **const own = (void **)state;
  char *const scratch = (char *)workspace;
  for (int i = 0; i < 3; ++i)
  switch (form[i]) {
    case 0: strip0(own, in, out, scratch, at[i]); break;
    case 1: strip1(own, in, out, scratch, at[i]); break;
  }
}
