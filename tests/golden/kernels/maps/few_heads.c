// t1 = transpose(x0, perm=(0, 2, 1, 3))  # f32[1,2000,12,16]
// t2 = relu(t1)  # f32[1,2000,12,16]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t2 = relu(t1)  # f32[1,2000,12,16]
  for (int i0_1 = 0; i0_1 < 2000; ++i0_1) {
    for (int i0_2 = 0; i0_2 < 12; ++i0_2) {
      #pragma omp simd
      for (int i0_3 = 0; i0_3 < 16; ++i0_3) {
        const float v0 = in0[i0_3 + i0_1 * 16 + i0_2 * 32000];
        const float v1 = KORCH_MAX(0.0e+0f, v0);
        out[i0_3 + i0_2 * 16 + i0_1 * 192] = v1;
      }
    }
  }
}
