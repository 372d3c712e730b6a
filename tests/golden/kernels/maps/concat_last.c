// t2 = concat(x0, x1, axis=2)  # f32[1,169,29]
// t3 = relu(t2)  # f32[1,169,29]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  // t3 = relu(t2)  # f32[1,169,29]
  for (int i0_1 = 0; i0_1 < 169; ++i0_1) {
    #pragma omp simd
    for (int i0_2 = 0; i0_2 < 24; ++i0_2) {
      const float v0 = in0[i0_2 + i0_1 * 24];
      const float v1 = KORCH_MAX(0.0e+0f, v0);
      out[i0_2 + i0_1 * 29] = v1;
    }
    #pragma omp simd
    for (int i0_2 = 24; i0_2 < 29; ++i0_2) {
      const float v0 = in1[i0_2 + i0_1 * 5 - 24];
      const float v1 = KORCH_MAX(0.0e+0f, v0);
      out[i0_2 + i0_1 * 29] = v1;
    }
  }
}
