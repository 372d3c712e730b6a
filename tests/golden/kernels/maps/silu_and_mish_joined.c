// t2 = sigmoid(x0)  # f32[3,41,32]
// t3 = mul(x0, t2)  # f32[3,41,32]
// t4 = softplus(x1)  # f32[3,41,48]
// t5 = tanh(t4)  # f32[3,41,48]
// t6 = mul(x1, t5)  # f32[3,41,48]
// t7 = concat(t3, t6, axis=2)  # f32[3,41,80]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  // t7 = concat(t3, t6, axis=2)  # f32[3,41,80]
  for (int i0_0m1 = 0; i0_0m1 < 123; ++i0_0m1) {
    for (int i0_2 = 0; i0_2 < 32; i0_2 += 16) {
      const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i0_0m1 * 32];
      const korch_f16 v1 = korch_silu16(v0);
      *(korch_at16 *)(out + i0_2 + i0_0m1 * 80) = v1;
    }
    for (int i0_2 = 32; i0_2 < 80; i0_2 += 16) {
      const korch_f16 v0 = *(const korch_at16 *)&in1[i0_2 + i0_0m1 * 48 - 32];
      const korch_f16 v1 = korch_mish16(v0);
      *(korch_at16 *)(out + i0_2 + i0_0m1 * 80) = v1;
    }
  }
}
