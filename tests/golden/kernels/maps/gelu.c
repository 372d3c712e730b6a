// t2 = mul(x0, 0.5)  # f32[1,100,64]
// t4 = mul(x0, 0.7071067690849304)  # f32[1,100,64]
// t5 = erf(t4)  # f32[1,100,64]
// t7 = add(t5, 1.0)  # f32[1,100,64]
// t8 = mul(t2, t7)  # f32[1,100,64]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t8 = mul(t2, t7)  # f32[1,100,64]
  #pragma omp simd
  for (int i0_1m2 = 0; i0_1m2 < 6400; ++i0_1m2) {
    const float v0 = in0[i0_1m2];
    const float v1 = korch_geluf(v0);
    out[i0_1m2] = v1;
  }
}
