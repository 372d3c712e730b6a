// t4 = take(x0, ids, axis=0, batch=0)  # f32[2,50,64]
// t5 = take(x1, places, axis=0, batch=0)  # f32[50,64]
// t6 = add(t4, t5)  # f32[2,50,64]
// t7 = reduce_mean(t6, axes=(2,), keepdims=1)  # f32[2,50,1]
// t8 = sub(t6, t7)  # f32[2,50,64]
// t9 = mul(t8, t8)  # f32[2,50,64]
// t10 = reduce_mean(t9, axes=(2,), keepdims=1)  # f32[2,50,1]
// t12 = add(t10, 9.999999747378752e-06)  # f32[2,50,1]
// t13 = sqrt(t12)  # f32[2,50,1]
// t14 = div(t8, t13)  # f32[2,50,64]
// t15 = relu(t14)  # f32[2,50,64]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const int64_t *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const int32_t *restrict in3 = in[3];
  float *restrict out = out_;
  // every index in ids: i64[2,50] lies in -1000..999
  {
    int wrong = 0;
    for (int n0_0 = 0; n0_0 < 2; ++n0_0) {
      for (int n0_1 = 0; n0_1 < 50; ++n0_1) {
        const int64_t v0 = in1[n0_1 + n0_0 * 50];
        wrong |= v0 < -1000 || v0 >= 1000;
      }
    }
    if (wrong) korch_out_of_range = 1;
  }
  // every index in places: i32[50] lies in -60..59
  {
    int wrong = 0;
    for (int n1_0 = 0; n1_0 < 50; ++n1_0) {
      const int32_t v0 = in3[n1_0];
      wrong |= v0 < -60 || v0 >= 60;
    }
    if (wrong) korch_out_of_range = 1;
  }
  for (int i2_0 = 0; i2_0 < 2; ++i2_0) {
    for (int i2_1 = 0; i2_1 < 50; ++i2_1) {
      float b0[1] __attribute__((aligned(64)));
      float b1[1] __attribute__((aligned(64)));
      // t7 = reduce_mean(t6, axes=(2,), keepdims=1)  # f32[2,50,1]
      {
        float acc = 0;
        const int r0_21 = 0 + (64 - (0)) / 32 * 32;
        float part[32] __attribute__((aligned(64))) = {0};
        for (int r0_20 = 0; r0_20 < r0_21; r0_20 += 32) {
          #pragma omp simd
          for (int r0_2 = r0_20; r0_2 < r0_20 + 32; ++r0_2) {
            const int64_t v0 = in1[i2_1 + i2_0 * 50];
            const int64_t v1 = v0 < 0 ? v0 + 1000 : v0;
            const int32_t v2 = KORCH_MIN(KORCH_MAX(v1, 0), 999);
            const float v3 = in0[r0_2 + v2 * 64];
            const int32_t v4 = in3[i2_1];
            const int32_t v5 = v4 < 0 ? v4 + 60 : v4;
            const int32_t v6 = KORCH_MIN(KORCH_MAX(v5, 0), 59);
            const float v7 = in2[r0_2 + v6 * 64];
            const float v8 = v3 + v7;
            part[r0_2 - r0_20] += v8;
          }
        }
        acc += korch_sum32(part);
        b0[0] = acc / 64;
      }
      // t10 = reduce_mean(t9, axes=(2,), keepdims=1)  # f32[2,50,1]
      {
        float acc = 0;
        const int r1_21 = 0 + (64 - (0)) / 32 * 32;
        float part[32] __attribute__((aligned(64))) = {0};
        for (int r1_20 = 0; r1_20 < r1_21; r1_20 += 32) {
          #pragma omp simd
          for (int r1_2 = r1_20; r1_2 < r1_20 + 32; ++r1_2) {
            const int64_t v0 = in1[i2_1 + i2_0 * 50];
            const int64_t v1 = v0 < 0 ? v0 + 1000 : v0;
            const int32_t v2 = KORCH_MIN(KORCH_MAX(v1, 0), 999);
            const float v3 = in0[r1_2 + v2 * 64];
            const int32_t v4 = in3[i2_1];
            const int32_t v5 = v4 < 0 ? v4 + 60 : v4;
            const int32_t v6 = KORCH_MIN(KORCH_MAX(v5, 0), 59);
            const float v7 = in2[r1_2 + v6 * 64];
            const float v8 = v3 + v7;
            const float v9 = b0[0];
            const float v10 = v8 - v9;
            const float v11 = v10 * v10;
            part[r1_2 - r1_20] += v11;
          }
        }
        acc += korch_sum32(part);
        b1[0] = acc / 64;
      }
      // t15 = relu(t14)  # f32[2,50,64]
      #pragma omp simd
      for (int i2_2 = 0; i2_2 < 64; ++i2_2) {
        const int64_t v0 = in1[i2_1 + i2_0 * 50];
        const int64_t v1 = v0 < 0 ? v0 + 1000 : v0;
        const int32_t v2 = KORCH_MIN(KORCH_MAX(v1, 0), 999);
        const float v3 = in0[i2_2 + v2 * 64];
        const int32_t v4 = in3[i2_1];
        const int32_t v5 = v4 < 0 ? v4 + 60 : v4;
        const int32_t v6 = KORCH_MIN(KORCH_MAX(v5, 0), 59);
        const float v7 = in2[i2_2 + v6 * 64];
        const float v8 = v3 + v7;
        const float v9 = b0[0];
        const float v10 = v8 - v9;
        const float v11 = b1[0];
        const float v12 = v11 + 1.0e-5f;
        const float v13 = sqrtf(v12);
        const float v14 = v10 / v13;
        const float v15 = KORCH_MAX(0.0e+0f, v14);
        out[i2_2 + i2_1 * 64 + i2_0 * 3200] = v15;
      }
    }
  }
}
