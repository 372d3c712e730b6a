// t1 = reduce_prod(x0, axes=(1,), keepdims=1)  # f32[40,1]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t1 = reduce_prod(x0, axes=(1,), keepdims=1)  # f32[40,1]
  for (int i0_0 = 0; i0_0 < 40; ++i0_0) {
    float acc = 1;
    float part = 1;
    #pragma omp simd reduction(*:part)
    for (int r0_1 = 0; r0_1 < 9; ++r0_1) {
      const float v0 = in0[r0_1 + i0_0 * 9];
      part *= v0;
    }
    acc *= part;
    out[i0_0] = acc;
  }
}
