// t2 = transpose(x0, perm=(0, 2, 1))  # f32[2,19,1024]
// t3 = relu(t2)  # f32[2,19,1024]
// t4 = transpose(x1, perm=(0, 2, 1))  # f32[2,19,1024]
// t5 = mul(t3, t4)  # f32[2,19,1024]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  // t5 = mul(t3, t4)  # f32[2,19,1024]
  for (int i0_0 = 0; i0_0 < 2; ++i0_0) {
    for (int i0_20 = 0; i0_20 < 1024; i0_20 += 16) {
      for (int i0_10 = 0; i0_10 < 19; i0_10 += 16) {
        float turned0[256] __attribute__((aligned(64)));
        korch_turn(turned0, in0 + i0_0 * 19456 + i0_20 * 19 + i0_10, 19, KORCH_MIN(19 - i0_10, 16));
        float turned1[256] __attribute__((aligned(64)));
        korch_turn(turned1, in1 + i0_0 * 19456 + i0_20 * 19 + i0_10, 19, KORCH_MIN(19 - i0_10, 16));
        for (int i0_1 = i0_10; i0_1 < KORCH_MIN(i0_10 + 16, 19); ++i0_1) {
          #pragma omp simd
          for (int i0_2 = i0_20; i0_2 < i0_20 + 16; ++i0_2) {
            const float v0 = turned0[(i0_1 - i0_10) * 16 + i0_2 - i0_20];
            const float v1 = KORCH_MAX(0.0e+0f, v0);
            const float v2 = turned1[(i0_1 - i0_10) * 16 + i0_2 - i0_20];
            const float v3 = v1 * v2;
            out[i0_2 + i0_1 * 1024 + i0_0 * 19456] = v3;
          }
        }
      }
    }
  }
}
