// t3 = mul(x0, 2.0)  # f32[11,40]
// t4 = take(t3, indices, axis=0, batch=0)  # f32[3,5,40]
// t5 = relu(t4)  # f32[3,5,40]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const int64_t *restrict in2 = in[2];
  float *restrict out = out_;
  // every index in indices: i64[3,5] lies in -11..10
  {
    int wrong = 0;
    for (int n0_0 = 0; n0_0 < 3; ++n0_0) {
      for (int n0_1 = 0; n0_1 < 5; ++n0_1) {
        const int64_t v0 = in2[n0_1 + n0_0 * 5];
        wrong |= v0 < -11 || v0 >= 11;
      }
    }
    if (wrong) korch_out_of_range = 1;
  }
  // t5 = relu(t4)  # f32[3,5,40]
  for (int i0_0m1 = 0; i0_0m1 < 15; ++i0_0m1) {
    #pragma omp simd
    for (int i0_2 = 0; i0_2 < 40; ++i0_2) {
      const int64_t v0 = in2[i0_0m1];
      const int64_t v1 = v0 < 0 ? v0 + 11 : v0;
      const int32_t v2 = KORCH_MIN(KORCH_MAX(v1, 0), 10);
      const float v3 = in0[i0_2 + v2 * 40];
      const float v4 = v3 * 2.0e+0f;
      const float v5 = KORCH_MAX(0.0e+0f, v4);
      out[i0_2 + i0_0m1 * 40] = v5;
    }
  }
}
