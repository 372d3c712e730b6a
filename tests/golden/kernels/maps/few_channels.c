// t1 = transpose(x0, perm=(0, 2, 3, 1))  # f32[1,64,64,3]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t1 = transpose(x0, perm=(0, 2, 3, 1))  # f32[1,64,64,3]
  for (int i0_1m2 = 0; i0_1m2 < 4096; ++i0_1m2) {
    for (int i0_3 = 0; i0_3 < 3; ++i0_3) {
      const float v0 = in0[i0_1m2 + i0_3 * 4096];
      out[i0_3 + i0_1m2 * 3] = v0;
    }
  }
}
