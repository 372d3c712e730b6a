// t1 = slice(x0, lengths=(1, 4, 32, 3), starts=(0, 0, 0, 0), steps=(1, 2, 2, 1))  # f32[1,4,32,3]
// t2 = slice(x0, lengths=(1, 4, 32, 3), starts=(0, 1, 0, 0), steps=(1, 2, 2, 1))  # f32[1,4,32,3]
// t3 = slice(x0, lengths=(1, 4, 32, 3), starts=(0, 0, 1, 0), steps=(1, 2, 2, 1))  # f32[1,4,32,3]
// t4 = slice(x0, lengths=(1, 4, 32, 3), starts=(0, 1, 1, 0), steps=(1, 2, 2, 1))  # f32[1,4,32,3]
// t5 = concat(t1, t2, t3, t4, axis=3)  # f32[1,4,32,12]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t5 = concat(t1, t2, t3, t4, axis=3)  # f32[1,4,32,12]
  for (int i0_1 = 0; i0_1 < 4; ++i0_1) {
    for (int i0_2 = 0; i0_2 < 32; ++i0_2) {
      for (int i0_3 = 0; i0_3 < 3; ++i0_3) {
        const float v0 = in0[i0_3 + i0_2 * 6 + i0_1 * 384];
        out[i0_3 + i0_2 * 12 + i0_1 * 384] = v0;
      }
      for (int i0_3 = 3; i0_3 < 6; ++i0_3) {
        const float v0 = in0[i0_3 + i0_2 * 6 + i0_1 * 384 + 189];
        out[i0_3 + i0_2 * 12 + i0_1 * 384] = v0;
      }
      for (int i0_3 = 6; i0_3 < 9; ++i0_3) {
        const float v0 = in0[i0_3 + i0_2 * 6 + i0_1 * 384 - 3];
        out[i0_3 + i0_2 * 12 + i0_1 * 384] = v0;
      }
      for (int i0_3 = 9; i0_3 < 12; ++i0_3) {
        const float v0 = in0[i0_3 + i0_2 * 6 + i0_1 * 384 + 186];
        out[i0_3 + i0_2 * 12 + i0_1 * 384] = v0;
      }
    }
  }
}
