// t1 = pad(x0, mode='constant', pads=(0, 1, 1, 0, 0, 1, 1, 0), value=0.0)  # f32[2,14,17,3]
// t2 = gather(t1, axis=1, indices=(0, 2, 4, 2, 4, 6, 4, 6, 8, 6, 8, 10, 8, 10, 12))  # f32[2,15,17,3]
// t3 = gather(t2, axis=2, indices=<24 values>)  # f32[2,15,24,3]
// t4 = reshape(t3, shape=(2, 5, 3, 8, 9))  # f32[2,5,3,8,9]
// t5 = transpose(t4, perm=(0, 1, 3, 2, 4))  # f32[2,5,8,3,9]
// t6 = reshape(t5, shape=(2, 40, 27))  # f32[2,40,27]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t6 = reshape(t5, shape=(2, 40, 27))  # f32[2,40,27]
  for (int i0_0 = 0; i0_0 < 2; ++i0_0) {
    for (int i0_1a = 0; i0_1a < 5; ++i0_1a) {
      for (int i0_1b = 0; i0_1b < 8; ++i0_1b) {
        for (int i0_2a = 0; i0_2a < 3; ++i0_2a) {
          for (int i0_2ba = 0; i0_2ba < 3; ++i0_2ba) {
            for (int i0_2bb = 0; i0_2bb < 3; ++i0_2bb) {
              const float v0 = in0[i0_2bb + KORCH_MIN(KORCH_MAX(i0_1b * 2 + i0_2ba - 1, 0), 14) * 3 + KORCH_MIN(KORCH_MAX(i0_1a * 2 + i0_2a * 2 - 1, 0), 11) * 45 + i0_0 * 540];
              const float v1 = ((i0_1a * 2 + i0_2a * 2 - 1) < 0 || (i0_1b * 2 + i0_2ba - 1) < 0 || (i0_1b * 2 + i0_2ba - 1) >= 15) ? 0.0e+0f : v0;
              out[i0_2a * 9 + i0_2ba * 3 + i0_2bb + i0_1a * 216 + i0_1b * 27 + i0_0 * 1080] = v1;
            }
          }
        }
      }
    }
  }
}
