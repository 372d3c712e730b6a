// t1 = relu(x0)  # f32[2,21,30,33]
// t2 = arg_max(t1, axis=1, keepdims=1, select_last_index=0)  # i64[2,1,30,33]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  int64_t *restrict out = out_;
  // t2 = arg_max(t1, axis=1, keepdims=1, select_last_index=0)  # i64[2,1,30,33]
  for (int i0_0 = 0; i0_0 < 2; ++i0_0) {
    for (int i0_2m30 = 0; i0_2m30 < 990; i0_2m30 += 256) {
      const int i0_2m31 = KORCH_MIN(i0_2m30 + 256, 990);
      float best[256] __attribute__((aligned(64)));
      int32_t places[256] __attribute__((aligned(64)));
      int32_t seen = 0;
      for (int r0_1 = 0; r0_1 < 21; ++r0_1) {
        if (!seen) {
          #pragma omp simd
          for (int i0_2m3 = i0_2m30; i0_2m3 < i0_2m31; ++i0_2m3) {
            const float v0 = in0[i0_2m3 + r0_1 * 990 + i0_0 * 20790];
            const float v1 = KORCH_MAX(0.0e+0f, v0);
            best[i0_2m3 - i0_2m30] = v1;
            places[i0_2m3 - i0_2m30] = 0;
          }
        }
        else {
          #pragma omp simd
          for (int i0_2m3 = i0_2m30; i0_2m3 < i0_2m31; ++i0_2m3) {
            const float v0 = in0[i0_2m3 + r0_1 * 990 + i0_0 * 20790];
            const float v1 = KORCH_MAX(0.0e+0f, v0);
            const int better = !(v1 <= best[i0_2m3 - i0_2m30]) & (best[i0_2m3 - i0_2m30] == best[i0_2m3 - i0_2m30]);
            best[i0_2m3 - i0_2m30] = better ? v1 : best[i0_2m3 - i0_2m30];
            places[i0_2m3 - i0_2m30] = better ? seen : places[i0_2m3 - i0_2m30];
          }
        }
        ++seen;
      }
      #pragma omp simd
      for (int i0_2m3 = i0_2m30; i0_2m3 < i0_2m31; ++i0_2m3) {
        out[i0_2m3 + i0_0 * 990] = places[i0_2m3 - i0_2m30];
      }
    }
  }
}
