// t1 = pad(x0, mode='constant', pads=(0, 0, 1, 0, 0, 0, 1, 0), value=0.0)  # f32[1,16,64,512]
// t2 = reduce_max(t1, axes=(1,), keepdims=0)  # f32[1,64,512]
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t2 = reduce_max(t1, axes=(1,), keepdims=0)  # f32[1,64,512]
  #pragma omp for schedule(static) nowait collapse(1)
  for (int i0_20 = 0; i0_20 < 512; i0_20 += 256) {
    const int i0_21 = KORCH_MIN(i0_20 + 256, 512);
    float acc[256] __attribute__((aligned(64)));
    #pragma omp simd
    for (int i0_2 = i0_20; i0_2 < i0_21; ++i0_2) {
      acc[i0_2 - i0_20] = -INFINITY;
    }
    for (int r0_1 = 0; r0_1 < 16; ++r0_1) {
      #pragma omp simd
      for (int i0_2 = i0_20; i0_2 < i0_21; ++i0_2) {
        const float v0 = 0.0e+0f;
        acc[i0_2 - i0_20] = KORCH_LARGER(acc[i0_2 - i0_20], v0);
      }
    }
    #pragma omp simd
    for (int i0_2 = i0_20; i0_2 < i0_21; ++i0_2) {
      out[i0_2] = acc[i0_2 - i0_20];
    }
  }
  #pragma omp for schedule(static) nowait collapse(2)
  for (int i0_1 = 1; i0_1 < 63; ++i0_1) {
    for (int i0_20 = 0; i0_20 < 512; i0_20 += 256) {
      const int i0_21 = KORCH_MIN(i0_20 + 256, 512);
      float acc[256] __attribute__((aligned(64)));
      #pragma omp simd
      for (int i0_2 = i0_20; i0_2 < i0_21; ++i0_2) {
        acc[i0_2 - i0_20] = -INFINITY;
      }
      for (int r0_1 = 0; r0_1 < 16; ++r0_1) {
        #pragma omp simd
        for (int i0_2 = i0_20; i0_2 < i0_21; ++i0_2) {
          const float v0 = in0[i0_2 + i0_1 * 512 + r0_1 * 31744 - 512];
          acc[i0_2 - i0_20] = KORCH_LARGER(acc[i0_2 - i0_20], v0);
        }
      }
      #pragma omp simd
      for (int i0_2 = i0_20; i0_2 < i0_21; ++i0_2) {
        out[i0_2 + i0_1 * 512] = acc[i0_2 - i0_20];
      }
    }
  }
  #pragma omp for schedule(static) nowait collapse(1)
  for (int i0_20 = 0; i0_20 < 512; i0_20 += 256) {
    const int i0_21 = KORCH_MIN(i0_20 + 256, 512);
    float acc[256] __attribute__((aligned(64)));
    #pragma omp simd
    for (int i0_2 = i0_20; i0_2 < i0_21; ++i0_2) {
      acc[i0_2 - i0_20] = -INFINITY;
    }
    for (int r0_1 = 0; r0_1 < 16; ++r0_1) {
      #pragma omp simd
      for (int i0_2 = i0_20; i0_2 < i0_21; ++i0_2) {
        const float v0 = 0.0e+0f;
        acc[i0_2 - i0_20] = KORCH_LARGER(acc[i0_2 - i0_20], v0);
      }
    }
    #pragma omp simd
    for (int i0_2 = i0_20; i0_2 < i0_21; ++i0_2) {
      out[i0_2 + 32256] = acc[i0_2 - i0_20];
    }
  }
}
