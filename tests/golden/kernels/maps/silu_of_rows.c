// t3 = add(x0, x1)  # f32[2,50,64]
// t4 = sigmoid(t3)  # f32[2,50,64]
// t5 = mul(t3, t4)  # f32[2,50,64]
// t6 = mul(t5, x2)  # f32[2,50,64]
// t8 = add(t6, 0.5)  # f32[2,50,64]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  float *restrict out = out_;
  // t8 = add(t6, 0.5)  # f32[2,50,64]
  for (int i0_0m1 = 0; i0_0m1 < 100; ++i0_0m1) {
    for (int i0_2 = 0; i0_2 < 64; i0_2 += 16) {
      const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i0_0m1 * 64];
      const korch_f16 v1 = *(const korch_at16 *)&in1[i0_2];
      const korch_f16 v2 = v0 + v1;
      const korch_f16 v3 = korch_silu16(v2);
      const korch_f16 v4 = in2[i0_0m1] - (korch_f16){0};
      const korch_f16 v5 = v3 * v4;
      const korch_f16 v6 = v5 + (5.0e-1f - (korch_f16){0});
      *(korch_at16 *)(out + i0_2 + i0_0m1 * 64) = v6;
    }
  }
}
