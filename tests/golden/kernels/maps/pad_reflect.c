// t1 = pad(x0, mode='reflect', pads=(0, 0, 1, 2, 0, 0, 3, 4), value=1.5)  # f32[1,8,17,19]
// t2 = exp(t1)  # f32[1,8,17,19]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t2 = exp(t1)  # f32[1,8,17,19]
  for (int i0_1 = 0; i0_1 < 8; ++i0_1) {
    for (int i0_3 = 0; i0_3 < 2; ++i0_3) {
      const float v0 = in0[-i0_3 * 1 + i0_1 * 169 + 15];
      const float v1 = korch_expf(v0);
      out[i0_3 + i0_1 * 323] = v1;
    }
    #pragma omp simd
    for (int i0_3 = 2; i0_3 < 15; ++i0_3) {
      const float v0 = in0[i0_3 + i0_1 * 169 + 11];
      const float v1 = korch_expf(v0);
      out[i0_3 + i0_1 * 323] = v1;
    }
    #pragma omp simd
    for (int i0_3 = 15; i0_3 < 19; ++i0_3) {
      const float v0 = in0[-i0_3 * 1 + i0_1 * 169 + 39];
      const float v1 = korch_expf(v0);
      out[i0_3 + i0_1 * 323] = v1;
    }
  }
  for (int i0_1 = 0; i0_1 < 8; ++i0_1) {
    for (int i0_2 = 1; i0_2 < 14; ++i0_2) {
      for (int i0_3 = 0; i0_3 < 2; ++i0_3) {
        const float v0 = in0[-i0_3 * 1 + i0_2 * 13 + i0_1 * 169 - 11];
        const float v1 = korch_expf(v0);
        out[i0_3 + i0_2 * 19 + i0_1 * 323] = v1;
      }
      #pragma omp simd
      for (int i0_3 = 2; i0_3 < 15; ++i0_3) {
        const float v0 = in0[i0_3 + i0_2 * 13 + i0_1 * 169 - 15];
        const float v1 = korch_expf(v0);
        out[i0_3 + i0_2 * 19 + i0_1 * 323] = v1;
      }
      #pragma omp simd
      for (int i0_3 = 15; i0_3 < 19; ++i0_3) {
        const float v0 = in0[-i0_3 * 1 + i0_2 * 13 + i0_1 * 169 + 13];
        const float v1 = korch_expf(v0);
        out[i0_3 + i0_2 * 19 + i0_1 * 323] = v1;
      }
    }
  }
  for (int i0_1 = 0; i0_1 < 8; ++i0_1) {
    for (int i0_2 = 14; i0_2 < 17; ++i0_2) {
      for (int i0_3 = 0; i0_3 < 2; ++i0_3) {
        const float v0 = in0[-i0_3 * 1 - i0_2 * 13 + i0_1 * 169 + 327];
        const float v1 = korch_expf(v0);
        out[i0_3 + i0_2 * 19 + i0_1 * 323] = v1;
      }
      #pragma omp simd
      for (int i0_3 = 2; i0_3 < 15; ++i0_3) {
        const float v0 = in0[i0_3 - i0_2 * 13 + i0_1 * 169 + 323];
        const float v1 = korch_expf(v0);
        out[i0_3 + i0_2 * 19 + i0_1 * 323] = v1;
      }
      #pragma omp simd
      for (int i0_3 = 15; i0_3 < 19; ++i0_3) {
        const float v0 = in0[-i0_3 * 1 - i0_2 * 13 + i0_1 * 169 + 351];
        const float v1 = korch_expf(v0);
        out[i0_3 + i0_2 * 19 + i0_1 * 323] = v1;
      }
    }
  }
}
