// t1 = slice(x0, lengths=(5, 13), starts=(0, 12), steps=(1, -1))  # f32[5,13]
// t3 = mul(t1, 2.0)  # f32[5,13]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t3 = mul(t1, 2.0)  # f32[5,13]
  for (int i0_0 = 0; i0_0 < 5; ++i0_0) {
    #pragma omp simd
    for (int i0_1 = 0; i0_1 < 13; ++i0_1) {
      const float v0 = in0[-i0_1 * 1 + i0_0 * 13 + 12];
      const float v1 = v0 * 2.0e+0f;
      out[i0_1 + i0_0 * 13] = v1;
    }
  }
}
