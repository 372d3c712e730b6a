// t3 = mul(x0, 2.0)  # f32[3,4,9,5]
// t4 = take(t3, indices, axis=2, batch=2)  # f32[3,4,6,5]
// t5 = relu(t4)  # f32[3,4,6,5]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const int64_t *restrict in2 = in[2];
  float *restrict out = out_;
  // every index in indices: i64[3,4,6] lies in -9..8
  {
    int wrong = 0;
    for (int n0_0 = 0; n0_0 < 3; ++n0_0) {
      for (int n0_1 = 0; n0_1 < 4; ++n0_1) {
        for (int n0_2 = 0; n0_2 < 6; ++n0_2) {
          const int64_t v0 = in2[n0_2 + n0_1 * 6 + n0_0 * 24];
          wrong |= v0 < -9 || v0 >= 9;
        }
      }
    }
    if (wrong) korch_out_of_range = 1;
  }
  // t5 = relu(t4)  # f32[3,4,6,5]
  for (int i0_0m1 = 0; i0_0m1 < 12; ++i0_0m1) {
    for (int i0_2 = 0; i0_2 < 6; ++i0_2) {
      #pragma omp simd
      for (int i0_3 = 0; i0_3 < 5; ++i0_3) {
        const int64_t v0 = in2[i0_2 + i0_0m1 * 6];
        const int64_t v1 = v0 < 0 ? v0 + 9 : v0;
        const int32_t v2 = KORCH_MIN(KORCH_MAX(v1, 0), 8);
        const float v3 = in0[i0_3 + v2 * 5 + i0_0m1 * 45];
        const float v4 = v3 * 2.0e+0f;
        const float v5 = KORCH_MAX(0.0e+0f, v4);
        out[i0_3 + i0_2 * 5 + i0_0m1 * 30] = v5;
      }
    }
  }
}
