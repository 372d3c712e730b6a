// t2 = reduce_mean(x0, axes=(1,), keepdims=1)  # f32[1,1]
// t4 = sub(x0, t2)  # f32[1,200000]
// t1 = mul(x0, x0)  # f32[1,200000]
// t3 = reduce_mean(t1, axes=(1,), keepdims=1)  # f32[1,1]
// t5 = mul(t2, t2)  # f32[1,1]
// t6 = sub(t3, t5)  # f32[1,1]
// t7 = relu(t6)  # f32[1,1]
// t9 = add(t7, 9.999999747378752e-06)  # f32[1,1]
// t10 = sqrt(t9)  # f32[1,1]
// t11 = div(t4, t10)  # f32[1,200000]
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  float *restrict b0 = (float *)((char *)workspace + 0);
  float *restrict b1 = (float *)((char *)workspace + 64);
  // t2 = reduce_mean(x0, axes=(1,), keepdims=1)  # f32[1,1]
  // t3 = reduce_mean(t1, axes=(1,), keepdims=1)  # f32[1,1]
  {
    float *restrict p0 = (float *)((char *)workspace + 128);
    float *restrict p1 = (float *)((char *)workspace + 192);
    #pragma omp for schedule(static)
    for (int chunk = 0; chunk < 16; ++chunk) {
      {
        float acc = 0;
        float acc1 = 0;
        const int r0_11 = 0 + (int)(chunk * INT64_C(200000) / 16) + (0 + (int)((chunk + 1) * INT64_C(200000) / 16) - (0 + (int)(chunk * INT64_C(200000) / 16))) / 32 * 32;
        float part[32] __attribute__((aligned(64))) = {0};
        float part1[32] __attribute__((aligned(64))) = {0};
        for (int r0_10 = 0 + (int)(chunk * INT64_C(200000) / 16); r0_10 < r0_11; r0_10 += 32) {
          #pragma omp simd
          for (int r0_1 = r0_10; r0_1 < r0_10 + 32; ++r0_1) {
            const float v0 = in0[r0_1];
            const float v1 = v0 * v0;
            part[r0_1 - r0_10] += v0;
            part1[r0_1 - r0_10] += v1;
          }
        }
        #pragma omp simd
        for (int r0_1 = r0_11; r0_1 < 0 + (int)((chunk + 1) * INT64_C(200000) / 16); ++r0_1) {
          const float v0 = in0[r0_1];
          const float v1 = v0 * v0;
          part[r0_1 - r0_11] += v0;
          part1[r0_1 - r0_11] += v1;
        }
        acc += korch_sum32(part);
        acc1 += korch_sum32(part1);
        p0[chunk * 1 + 0] = acc;
        p1[chunk * 1 + 0] = acc1;
      }
    }
    #pragma omp single
    {
      float acc = p0[0];
      for (int chunk = 1; chunk < 16; ++chunk) acc += p0[chunk * 1 + 0];
      b0[0] = acc / 200000;
      float acc1 = p1[0];
      for (int chunk = 1; chunk < 16; ++chunk) acc1 += p1[chunk * 1 + 0];
      b1[0] = acc1 / 200000;
    }
  }
  #pragma omp barrier
  // t11 = div(t4, t10)  # f32[1,200000]
  #pragma omp for simd schedule(static) nowait collapse(1)
  for (int i2_1 = 0; i2_1 < 200000; ++i2_1) {
    const float v0 = in0[i2_1];
    const float v1 = b0[0];
    const float v2 = v0 - v1;
    const float v3 = b1[0];
    const float v4 = v1 * v1;
    const float v5 = v3 - v4;
    const float v6 = KORCH_MAX(0.0e+0f, v5);
    const float v7 = v6 + 1.0e-5f;
    const float v8 = sqrtf(v7);
    const float v9 = v2 / v8;
    out[i2_1] = v9;
  }
}
