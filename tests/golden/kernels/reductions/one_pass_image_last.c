// t2 = reduce_mean(x0, axes=(1, 2), keepdims=1)  # f32[1,1,1,32]
// t4 = sub(x0, t2)  # f32[1,40,40,32]
// t1 = mul(x0, x0)  # f32[1,40,40,32]
// t3 = reduce_mean(t1, axes=(1, 2), keepdims=1)  # f32[1,1,1,32]
// t5 = mul(t2, t2)  # f32[1,1,1,32]
// t6 = sub(t3, t5)  # f32[1,1,1,32]
// t7 = relu(t6)  # f32[1,1,1,32]
// t9 = add(t7, 9.999999747378752e-06)  # f32[1,1,1,32]
// t10 = sqrt(t9)  # f32[1,1,1,32]
// t11 = div(t4, t10)  # f32[1,40,40,32]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  float *restrict b0 = (float *)((char *)workspace + 0);
  float *restrict b1 = (float *)((char *)workspace + 128);
  float *restrict b2 = (float *)((char *)workspace + 256);
  // t2 = reduce_mean(x0, axes=(1, 2), keepdims=1)  # f32[1,1,1,32]
  // t3 = reduce_mean(t1, axes=(1, 2), keepdims=1)  # f32[1,1,1,32]
  {
    float *restrict p0 = (float *)((char *)workspace + 384);
    float *restrict p1 = (float *)((char *)workspace + 2432);
    for (int chunk = 0; chunk < 16; ++chunk) {
      {
        float acc[32] __attribute__((aligned(64)));
        float acc1[32] __attribute__((aligned(64)));
        #pragma omp simd
        for (int i0_3 = 0; i0_3 < 32; ++i0_3) {
          acc[i0_3 - 0] = 0;
          acc1[i0_3 - 0] = 0;
        }
        for (int r0_1m2 = 0 + (int)(chunk * INT64_C(1600) / 16); r0_1m2 < 0 + (int)((chunk + 1) * INT64_C(1600) / 16); ++r0_1m2) {
          #pragma omp simd
          for (int i0_3 = 0; i0_3 < 32; ++i0_3) {
            const float v0 = in0[i0_3 + r0_1m2 * 32];
            const float v1 = v0 * v0;
            acc[i0_3 - 0] += v0;
            acc1[i0_3 - 0] += v1;
          }
        }
        #pragma omp simd
        for (int i0_3 = 0; i0_3 < 32; ++i0_3) {
          p0[chunk * 32 + i0_3] = acc[i0_3 - 0];
          p1[chunk * 32 + i0_3] = acc1[i0_3 - 0];
        }
      }
    }
    for (int i0_3 = 0; i0_3 < 32; ++i0_3) {
      {
        float acc = p0[i0_3];
        for (int chunk = 1; chunk < 16; ++chunk) acc += p0[chunk * 32 + i0_3];
        b0[i0_3] = acc / 1600;
        float acc1 = p1[i0_3];
        for (int chunk = 1; chunk < 16; ++chunk) acc1 += p1[chunk * 32 + i0_3];
        b1[i0_3] = acc1 / 1600;
      }
    }
  }
  // t10 = sqrt(t9)  # f32[1,1,1,32]
  #pragma omp simd
  for (int i2_3 = 0; i2_3 < 32; ++i2_3) {
    const float v0 = b1[i2_3];
    const float v1 = b0[i2_3];
    const float v2 = v1 * v1;
    const float v3 = v0 - v2;
    const float v4 = KORCH_MAX(0.0e+0f, v3);
    const float v5 = v4 + 1.0e-5f;
    const float v6 = sqrtf(v5);
    b2[i2_3] = v6;
  }
  // t11 = div(t4, t10)  # f32[1,40,40,32]
  for (int i3_1m2 = 0; i3_1m2 < 1600; ++i3_1m2) {
    #pragma omp simd
    for (int i3_3 = 0; i3_3 < 32; ++i3_3) {
      const float v0 = in0[i3_3 + i3_1m2 * 32];
      const float v1 = b0[i3_3];
      const float v2 = v0 - v1;
      const float v3 = b2[i3_3];
      const float v4 = v2 / v3;
      out[i3_3 + i3_1m2 * 32] = v4;
    }
  }
}
