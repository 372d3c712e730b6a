// t1 = reshape(x0, shape=(4000, 12, 48))  # f32[4000,12,48]
// t2 = slice(t1, lengths=(4000, 12, 16), starts=(0, 0, 0), steps=(1, 1, 1))  # f32[4000,12,16]
// t3 = relu(t2)  # f32[4000,12,16]
// t4 = reduce_sum(t3, axes=(2,), keepdims=1)  # f32[4000,12,1]
// t6 = add(t4, 1.0)  # f32[4000,12,1]
// t7 = div(t3, t6)  # f32[4000,12,16]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  for (int i1_0 = 0; i1_0 < 4000; ++i1_0) {
    #pragma GCC unroll 12
    for (int i1_1 = 0; i1_1 < 12; ++i1_1) {
      __builtin_prefetch(in0 + i1_1 * 48 + i1_0 * 576 + 9216, 0, 2);
      float b0[1] __attribute__((aligned(64)));
      // t4 = reduce_sum(t3, axes=(2,), keepdims=1)  # f32[4000,12,1]
      {
        float acc = 0;
        const int r0_21 = 0 + (16 - (0)) / 16 * 16;
        float part[16] __attribute__((aligned(64))) = {0};
        for (int r0_20 = 0; r0_20 < r0_21; r0_20 += 16) {
          #pragma omp simd
          for (int r0_2 = r0_20; r0_2 < r0_20 + 16; ++r0_2) {
            const float v0 = in0[r0_2 + i1_1 * 48 + i1_0 * 576];
            const float v1 = KORCH_MAX(0.0e+0f, v0);
            part[r0_2 - r0_20] += v1;
          }
        }
        acc += korch_sum16(part);
        b0[0] = acc;
      }
      // t7 = div(t3, t6)  # f32[4000,12,16]
      #pragma omp simd
      for (int i1_2 = 0; i1_2 < 16; ++i1_2) {
        const float v0 = in0[i1_2 + i1_1 * 48 + i1_0 * 576];
        const float v1 = KORCH_MAX(0.0e+0f, v0);
        const float v2 = b0[0];
        const float v3 = v2 + 1.0e+0f;
        const float v4 = v1 / v3;
        out[i1_2 + i1_1 * 16 + i1_0 * 192] = v4;
      }
    }
  }
}
