// t1 = mul(x0, x0)  # f32[8,320]
// t2 = transpose(t1, perm=(1, 0))  # f32[320,8]
// t3 = exp(t2)  # f32[320,8]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t3 = exp(t2)  # f32[320,8]
  for (int i0_10 = 0; i0_10 < 8; i0_10 += 16) {
    for (int i0_00 = 0; i0_00 < 320; i0_00 += 16) {
      for (int i0_0 = i0_00; i0_0 < KORCH_MIN(i0_00 + 16, 320); ++i0_0) {
        #pragma omp simd
        for (int i0_1 = i0_10; i0_1 < KORCH_MIN(i0_10 + 16, 8); ++i0_1) {
          const float v0 = in0[i0_0 + i0_1 * 320];
          const float v1 = v0 * v0;
          const float v2 = korch_expf(v1);
          out[i0_1 + i0_0 * 8] = v2;
        }
      }
    }
  }
}
