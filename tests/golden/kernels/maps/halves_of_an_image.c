// t1 = slice(x0, lengths=(2, 3, 20, 32), starts=(0, 0, 0, 0), steps=(1, 1, 2, 2))  # f32[2,3,20,32]
// t2 = slice(x0, lengths=(2, 3, 20, 32), starts=(0, 0, 1, 0), steps=(1, 1, 2, 2))  # f32[2,3,20,32]
// t3 = slice(x0, lengths=(2, 3, 20, 32), starts=(0, 0, 0, 1), steps=(1, 1, 2, 2))  # f32[2,3,20,32]
// t4 = slice(x0, lengths=(2, 3, 20, 32), starts=(0, 0, 1, 1), steps=(1, 1, 2, 2))  # f32[2,3,20,32]
// t5 = concat(t1, t2, t3, t4, axis=1)  # f32[2,12,20,32]
// t6 = transpose(t5, perm=(0, 2, 3, 1))  # f32[2,20,32,12]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t6 = transpose(t5, perm=(0, 2, 3, 1))  # f32[2,20,32,12]
  for (int i0_0 = 0; i0_0 < 2; ++i0_0) {
    for (int i0_1 = 0; i0_1 < 20; ++i0_1) {
      for (int i0_2 = 0; i0_2 < 32; i0_2 += 16) {
        korch_f16 y0, y1, y2, y3;
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680]); y0 = v0; }
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680 + 2560]); y1 = v0; }
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680 + 5120]); y2 = v0; }
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680 + 64]); y3 = v0; }
        korch_interleave16(out + i0_2 * 12 + i0_1 * 384 + i0_0 * 7680 + 0, 12, y0, y1, y2, y3);
        korch_f16 y4, y5, y6, y7;
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680 + 2624]); y4 = v0; }
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680 + 5184]); y5 = v0; }
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680 + 1]); y6 = v0; }
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680 + 2561]); y7 = v0; }
        korch_interleave16(out + i0_2 * 12 + i0_1 * 384 + i0_0 * 7680 + 4, 12, y4, y5, y6, y7);
        korch_f16 y8, y9, y10, y11;
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680 + 5121]); y8 = v0; }
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680 + 65]); y9 = v0; }
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680 + 2625]); y10 = v0; }
        { const korch_f16 v0 = korch_every_other16(&in0[i0_2 * 2 + i0_1 * 128 + i0_0 * 7680 + 5185]); y11 = v0; }
        korch_interleave16(out + i0_2 * 12 + i0_1 * 384 + i0_0 * 7680 + 8, 12, y8, y9, y10, y11);
      }
    }
  }
}
