// t1 = softplus(x0)  # f32[1,100,65]
// t2 = tanh(t1)  # f32[1,100,65]
// t3 = mul(x0, t2)  # f32[1,100,65]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t3 = mul(x0, t2)  # f32[1,100,65]
  #pragma omp simd
  for (int i0_1m2 = 0; i0_1m2 < 6500; ++i0_1m2) {
    const float v0 = in0[i0_1m2];
    const float v1 = korch_mishf(v0);
    out[i0_1m2] = v1;
  }
}
