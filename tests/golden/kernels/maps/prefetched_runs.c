// t1 = slice(x0, lengths=(4, 2000, 128), starts=(0, 0, 16), steps=(1, 1, 1))  # f32[4,2000,128]
// t2 = relu(t1)  # f32[4,2000,128]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t2 = relu(t1)  # f32[4,2000,128]
  for (int i0_0m1 = 0; i0_0m1 < 8000; ++i0_0m1) {
    __builtin_prefetch(in0 + i0_0m1 * 576 + 36880, 0, 2);
    __builtin_prefetch(in0 + i0_0m1 * 576 + 36896, 0, 2);
    __builtin_prefetch(in0 + i0_0m1 * 576 + 36912, 0, 2);
    __builtin_prefetch(in0 + i0_0m1 * 576 + 36928, 0, 2);
    __builtin_prefetch(in0 + i0_0m1 * 576 + 36944, 0, 2);
    __builtin_prefetch(in0 + i0_0m1 * 576 + 36960, 0, 2);
    __builtin_prefetch(in0 + i0_0m1 * 576 + 36976, 0, 2);
    __builtin_prefetch(in0 + i0_0m1 * 576 + 36992, 0, 2);
    #pragma omp simd
    for (int i0_2 = 0; i0_2 < 128; ++i0_2) {
      const float v0 = in0[i0_2 + i0_0m1 * 576 + 16];
      const float v1 = KORCH_MAX(0.0e+0f, v0);
      out[i0_2 + i0_0m1 * 128] = v1;
    }
  }
}
