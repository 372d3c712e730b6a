// t1 = reduce_mean(x0, axes=(2,), keepdims=1)  # f32[1,300,1]
// t2 = sub(x0, t1)  # f32[1,300,32]
// t3 = mul(t2, t2)  # f32[1,300,32]
// t4 = reduce_mean(t3, axes=(2,), keepdims=1)  # f32[1,300,1]
// t6 = add(t4, 9.999999747378752e-06)  # f32[1,300,1]
// t7 = sqrt(t6)  # f32[1,300,1]
// t8 = div(t2, t7)  # f32[1,300,32]
// t9 = relu(t8)  # f32[1,300,32]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  for (int i2_1 = 0; i2_1 < 300; ++i2_1) {
    float b0[1] __attribute__((aligned(64)));
    float b1[1] __attribute__((aligned(64)));
    // t1 = reduce_mean(x0, axes=(2,), keepdims=1)  # f32[1,300,1]
    {
      float acc = 0;
      const int r0_21 = 0 + (32 - (0)) / 16 * 16;
      float part[16] __attribute__((aligned(64))) = {0};
      for (int r0_20 = 0; r0_20 < r0_21; r0_20 += 16) {
        #pragma omp simd
        for (int r0_2 = r0_20; r0_2 < r0_20 + 16; ++r0_2) {
          const float v0 = in0[r0_2 + i2_1 * 32];
          part[r0_2 - r0_20] += v0;
        }
      }
      acc += korch_sum16(part);
      b0[0] = acc / 32;
    }
    // t4 = reduce_mean(t3, axes=(2,), keepdims=1)  # f32[1,300,1]
    {
      float acc = 0;
      const int r1_21 = 0 + (32 - (0)) / 16 * 16;
      float part[16] __attribute__((aligned(64))) = {0};
      for (int r1_20 = 0; r1_20 < r1_21; r1_20 += 16) {
        #pragma omp simd
        for (int r1_2 = r1_20; r1_2 < r1_20 + 16; ++r1_2) {
          const float v0 = in0[r1_2 + i2_1 * 32];
          const float v1 = b0[0];
          const float v2 = v0 - v1;
          const float v3 = v2 * v2;
          part[r1_2 - r1_20] += v3;
        }
      }
      acc += korch_sum16(part);
      b1[0] = acc / 32;
    }
    // t9 = relu(t8)  # f32[1,300,32]
    #pragma omp simd
    for (int i2_2 = 0; i2_2 < 32; ++i2_2) {
      const float v0 = in0[i2_2 + i2_1 * 32];
      const float v1 = b0[0];
      const float v2 = v0 - v1;
      const float v3 = b1[0];
      const float v4 = v3 + 1.0e-5f;
      const float v5 = sqrtf(v4);
      const float v6 = v2 / v5;
      const float v7 = KORCH_MAX(0.0e+0f, v6);
      out[i2_2 + i2_1 * 32] = v7;
    }
  }
}
