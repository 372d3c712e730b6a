// t1 = reshape(x0, shape=(1, 500, 4, 16))  # f32[1,500,4,16]
// t2 = transpose(t1, perm=(0, 2, 1, 3))  # f32[1,4,500,16]
// t7 = relu(t2)  # f32[1,4,500,16]
// t3 = mul(t2, t2)  # f32[1,4,500,16]
// t4 = reduce_sum(t3, axes=(3,), keepdims=1)  # f32[1,4,500,1]
// t6 = add(t4, 1.0)  # f32[1,4,500,1]
// t8 = div(t7, t6)  # f32[1,4,500,16]
// t9 = transpose(t8, perm=(0, 2, 1, 3))  # f32[1,500,4,16]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  for (int i1_1 = 0; i1_1 < 500; ++i1_1) {
    #pragma GCC unroll 4
    for (int i1_2 = 0; i1_2 < 4; ++i1_2) {
      float b0[1] __attribute__((aligned(64)));
      // t4 = reduce_sum(t3, axes=(3,), keepdims=1)  # f32[1,4,500,1]
      {
        float acc = 0;
        const int r0_31 = 0 + (16 - (0)) / 16 * 16;
        float part[16] __attribute__((aligned(64))) = {0};
        for (int r0_30 = 0; r0_30 < r0_31; r0_30 += 16) {
          #pragma omp simd
          for (int r0_3 = r0_30; r0_3 < r0_30 + 16; ++r0_3) {
            const float v0 = in0[r0_3 + i1_2 * 16 + i1_1 * 64];
            const float v1 = v0 * v0;
            part[r0_3 - r0_30] += v1;
          }
        }
        acc += korch_sum16(part);
        b0[0] = acc;
      }
      // t9 = transpose(t8, perm=(0, 2, 1, 3))  # f32[1,500,4,16]
      #pragma omp simd
      for (int i1_3 = 0; i1_3 < 16; ++i1_3) {
        const float v0 = in0[i1_3 + i1_2 * 16 + i1_1 * 64];
        const float v1 = KORCH_MAX(0.0e+0f, v0);
        const float v2 = b0[0];
        const float v3 = v2 + 1.0e+0f;
        const float v4 = v1 / v3;
        out[i1_3 + i1_2 * 16 + i1_1 * 64] = v4;
      }
    }
  }
}
