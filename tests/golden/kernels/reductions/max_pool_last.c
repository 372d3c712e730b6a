// t1 = max_pool(x0, channels_last=1, dilations=(1, 1), kernel_shape=(3, 3), pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,20,20,24]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t1 = max_pool(x0, channels_last=1, dilations=(1, 1), kernel_shape=(3, 3), pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,20,20,24]
  for (int i0_1 = 0; i0_1 < 20; ++i0_1) {
    for (int i0_2 = 0; i0_2 < 20; ++i0_2) {
      float acc[24] __attribute__((aligned(64)));
      #pragma omp simd
      for (int i0_3 = 0; i0_3 < 24; ++i0_3) {
        acc[i0_3 - 0] = -INFINITY;
      }
      for (int k0_0 = KORCH_MAX(0, (-i0_1 * 1 + 1 + 0) / 1); k0_0 < KORCH_MIN(3, (20 - (i0_1 - 1)) / 1); ++k0_0) {
        for (int k0_1 = KORCH_MAX(0, (-i0_2 * 1 + 1 + 0) / 1); k0_1 < KORCH_MIN(3, (20 - (i0_2 - 1)) / 1); ++k0_1) {
          #pragma omp simd
          for (int i0_3 = 0; i0_3 < 24; ++i0_3) {
            const float v0 = in0[i0_3 + i0_2 * 24 + k0_1 * 24 + i0_1 * 480 + k0_0 * 480 - 504];
            acc[i0_3 - 0] = KORCH_LARGER(acc[i0_3 - 0], v0);
          }
        }
      }
      #pragma omp simd
      for (int i0_3 = 0; i0_3 < 24; ++i0_3) {
        out[i0_3 + i0_2 * 24 + i0_1 * 480] = acc[i0_3 - 0];
      }
    }
  }
}
