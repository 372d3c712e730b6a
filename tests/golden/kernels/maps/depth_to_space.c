// t1 = reshape(x0, shape=(1, 2, 2, 8, 5, 5))  # f32[1,2,2,8,5,5]
// t2 = transpose(t1, perm=(0, 3, 4, 1, 5, 2))  # f32[1,8,5,2,5,2]
// t3 = reshape(t2, shape=(1, 8, 10, 10))  # f32[1,8,10,10]
// t5 = mul(t3, 2.0)  # f32[1,8,10,10]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t5 = mul(t3, 2.0)  # f32[1,8,10,10]
  for (int i0_1 = 0; i0_1 < 8; ++i0_1) {
    for (int i0_2a = 0; i0_2a < 5; ++i0_2a) {
      for (int i0_2b = 0; i0_2b < 2; ++i0_2b) {
        for (int i0_3a = 0; i0_3a < 5; ++i0_3a) {
          for (int i0_3b = 0; i0_3b < 2; ++i0_3b) {
            const float v0 = in0[i0_3a + i0_2a * 5 + i0_1 * 25 + i0_3b * 200 + i0_2b * 400];
            const float v1 = v0 * 2.0e+0f;
            out[i0_3a * 2 + i0_3b + i0_2a * 20 + i0_2b * 10 + i0_1 * 100] = v1;
          }
        }
      }
    }
  }
}
