// t2 = less(x0, 0.0)  # b8[7,33]
// t4 = mul(x0, 2.0)  # f32[7,33]
// t5 = where(t2, x0, t4)  # f32[7,33]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t5 = where(t2, x0, t4)  # f32[7,33]
  #pragma omp simd
  for (int i0_0m1 = 0; i0_0m1 < 231; ++i0_0m1) {
    const float v0 = in0[i0_0m1];
    const uint8_t v1 = v0 < 0.0e+0f;
    const float v2 = v0 * 2.0e+0f;
    const float v3 = v1 ? v0 : v2;
    out[i0_0m1] = v3;
  }
}
