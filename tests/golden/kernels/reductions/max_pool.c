// t1 = max_pool(x0, channels_last=0, dilations=(1, 1), kernel_shape=(3, 3), pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,8,20,20]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t1 = max_pool(x0, channels_last=0, dilations=(1, 1), kernel_shape=(3, 3), pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,8,20,20]
  for (int i0_1 = 0; i0_1 < 8; ++i0_1) {
    for (int i0_2 = 0; i0_2 < 20; ++i0_2) {
      float acc = -INFINITY;
      for (int k0_0 = KORCH_MAX(0, (-i0_2 * 1 + 1 + 0) / 1); k0_0 < KORCH_MIN(3, (20 - (i0_2 - 1)) / 1); ++k0_0) {
        const float v0 = in0[i0_2 * 20 + k0_0 * 20 + i0_1 * 400 - 20];
        const float v1 = in0[i0_2 * 20 + k0_0 * 20 + i0_1 * 400 - 19];
        const float most_0 = KORCH_MAX(acc, v0);
        const float most_1 = KORCH_MAX(most_0, v1);
        acc = __builtin_isunordered(acc, v0) | __builtin_isunordered(v1, v1) ? NAN : most_1;
      }
      out[i0_2 * 20 + i0_1 * 400] = acc;
    }
  }
  for (int i0_1 = 0; i0_1 < 8; ++i0_1) {
    for (int i0_2 = 0; i0_2 < 20; ++i0_2) {
      float acc[18] __attribute__((aligned(64)));
      #pragma omp simd
      for (int i0_3 = 1; i0_3 < 19; ++i0_3) {
        acc[i0_3 - 1] = -INFINITY;
      }
      for (int k0_0 = KORCH_MAX(0, (-i0_2 * 1 + 1 + 0) / 1); k0_0 < KORCH_MIN(3, (20 - (i0_2 - 1)) / 1); ++k0_0) {
        #pragma omp simd
        for (int i0_3 = 1; i0_3 < 19; ++i0_3) {
          const float v0 = in0[i0_3 + i0_2 * 20 + k0_0 * 20 + i0_1 * 400 - 21];
          const float v1 = in0[i0_3 + i0_2 * 20 + k0_0 * 20 + i0_1 * 400 - 20];
          const float v2 = in0[i0_3 + i0_2 * 20 + k0_0 * 20 + i0_1 * 400 - 19];
          const float most_0 = KORCH_MAX(acc[i0_3 - 1], v0);
          const float most_1 = KORCH_MAX(most_0, v1);
          const float most_2 = KORCH_MAX(most_1, v2);
          acc[i0_3 - 1] = __builtin_isunordered(acc[i0_3 - 1], v0) | __builtin_isunordered(v1, v2) ? NAN : most_2;
        }
      }
      #pragma omp simd
      for (int i0_3 = 1; i0_3 < 19; ++i0_3) {
        out[i0_3 + i0_2 * 20 + i0_1 * 400] = acc[i0_3 - 1];
      }
    }
  }
  for (int i0_1 = 0; i0_1 < 8; ++i0_1) {
    for (int i0_2 = 0; i0_2 < 20; ++i0_2) {
      float acc = -INFINITY;
      for (int k0_0 = KORCH_MAX(0, (-i0_2 * 1 + 1 + 0) / 1); k0_0 < KORCH_MIN(3, (20 - (i0_2 - 1)) / 1); ++k0_0) {
        const float v0 = in0[i0_2 * 20 + k0_0 * 20 + i0_1 * 400 - 2];
        const float v1 = in0[i0_2 * 20 + k0_0 * 20 + i0_1 * 400 - 1];
        const float most_0 = KORCH_MAX(acc, v0);
        const float most_1 = KORCH_MAX(most_0, v1);
        acc = __builtin_isunordered(acc, v0) | __builtin_isunordered(v1, v1) ? NAN : most_1;
      }
      out[i0_2 * 20 + i0_1 * 400 + 19] = acc;
    }
  }
}
