// t2 = reduce_mean(x0, axes=(2,), keepdims=1)  # f32[1,300,1]
// t4 = sub(x0, t2)  # f32[1,300,32]
// t1 = mul(x0, x0)  # f32[1,300,32]
// t3 = reduce_mean(t1, axes=(2,), keepdims=1)  # f32[1,300,1]
// t5 = mul(t2, t2)  # f32[1,300,1]
// t6 = sub(t3, t5)  # f32[1,300,1]
// t7 = relu(t6)  # f32[1,300,1]
// t9 = add(t7, 9.999999747378752e-06)  # f32[1,300,1]
// t10 = sqrt(t9)  # f32[1,300,1]
// t11 = div(t4, t10)  # f32[1,300,32]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  for (int i2_1 = 0; i2_1 < 300; ++i2_1) {
    float b0[1] __attribute__((aligned(64)));
    float b1[1] __attribute__((aligned(64)));
    // t2 = reduce_mean(x0, axes=(2,), keepdims=1)  # f32[1,300,1]
    // t3 = reduce_mean(t1, axes=(2,), keepdims=1)  # f32[1,300,1]
    {
      float acc = 0;
      float acc1 = 0;
      const int r0_21 = 0 + (32 - (0)) / 16 * 16;
      float part[16] __attribute__((aligned(64))) = {0};
      float part1[16] __attribute__((aligned(64))) = {0};
      for (int r0_20 = 0; r0_20 < r0_21; r0_20 += 16) {
        #pragma omp simd
        for (int r0_2 = r0_20; r0_2 < r0_20 + 16; ++r0_2) {
          const float v0 = in0[r0_2 + i2_1 * 32];
          const float v1 = v0 * v0;
          part[r0_2 - r0_20] += v0;
          part1[r0_2 - r0_20] += v1;
        }
      }
      acc += korch_sum16(part);
      acc1 += korch_sum16(part1);
      b0[0] = acc / 32;
      b1[0] = acc1 / 32;
    }
    // t11 = div(t4, t10)  # f32[1,300,32]
    #pragma omp simd
    for (int i2_2 = 0; i2_2 < 32; ++i2_2) {
      const float v0 = in0[i2_2 + i2_1 * 32];
      const float v1 = b0[0];
      const float v2 = v0 - v1;
      const float v3 = b1[0];
      const float v4 = v1 * v1;
      const float v5 = v3 - v4;
      const float v6 = KORCH_MAX(0.0e+0f, v5);
      const float v7 = v6 + 1.0e-5f;
      const float v8 = sqrtf(v7);
      const float v9 = v2 / v8;
      out[i2_2 + i2_1 * 32] = v9;
    }
  }
}
