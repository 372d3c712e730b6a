// t1 = transpose(x0, perm=(0, 2, 3, 1))  # f32[1,24,64,4]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t1 = transpose(x0, perm=(0, 2, 3, 1))  # f32[1,24,64,4]
  for (int i0_1m2 = 0; i0_1m2 < 1536; i0_1m2 += 16) {
    korch_f16 y0, y1, y2, y3;
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_1m2]; y0 = v0; }
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_1m2 + 1536]; y1 = v0; }
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_1m2 + 3072]; y2 = v0; }
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_1m2 + 4608]; y3 = v0; }
    korch_interleave16(out + i0_1m2 * 4 + 0, 4, y0, y1, y2, y3);
  }
}
