// t2 = mul(x0, x1)  # f32[4096,1040]
// t3 = exp(t2)  # f32[4096,1040]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  // t3 = exp(t2)  # f32[4096,1040]
  for (int i0_0 = 0; i0_0 < 4096; ++i0_0) {
    for (int i0_10 = 0; i0_10 < 1040; i0_10 += 208) {
      float piece[208] __attribute__((aligned(64)));
      #pragma omp simd
      for (int i0_1 = i0_10; i0_1 < i0_10 + 208; ++i0_1) {
        const float v0 = in0[i0_1 + i0_0 * 1040];
        const float v1 = in1[i0_1];
        const float v2 = v0 * v1;
        const float v3 = korch_expf(v2);
        piece[i0_1 - i0_10] = v3;
      }
      korch_stream(out + i0_0 * 1040 + i0_10, piece, 208);
    }
  }
  korch_streamed();
}
