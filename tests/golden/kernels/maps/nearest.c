// t1 = gather(x0, axis=2, indices=<26 values>)  # f32[1,8,26,13]
// t2 = gather(t1, axis=3, indices=<26 values>)  # f32[1,8,26,26]
// t4 = mul(t2, 2.0)  # f32[1,8,26,26]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t4 = mul(t2, 2.0)  # f32[1,8,26,26]
  for (int i0_1 = 0; i0_1 < 8; ++i0_1) {
    for (int i0_2a = 0; i0_2a < 13; ++i0_2a) {
      for (int i0_2b = 0; i0_2b < 2; ++i0_2b) {
        for (int i0_3a = 0; i0_3a < 13; ++i0_3a) {
          for (int i0_3b = 0; i0_3b < 2; ++i0_3b) {
            const float v0 = in0[i0_3a + i0_2a * 13 + i0_1 * 169];
            const float v1 = v0 * 2.0e+0f;
            out[i0_3a * 2 + i0_3b + i0_2a * 52 + i0_2b * 26 + i0_1 * 676] = v1;
          }
        }
      }
    }
  }
}
