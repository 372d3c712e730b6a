// t1 = reduce_mean(x0, axes=(1, 2), keepdims=1)  # f32[1,1,1,48]
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t1 = reduce_mean(x0, axes=(1, 2), keepdims=1)  # f32[1,1,1,48]
  {
    float *restrict p0 = (float *)((char *)workspace + 0);
    #pragma omp for schedule(static)
    for (int chunk = 0; chunk < 16; ++chunk) {
      {
        float acc[48] __attribute__((aligned(64)));
        #pragma omp simd
        for (int i0_3 = 0; i0_3 < 48; ++i0_3) {
          acc[i0_3 - 0] = 0;
        }
        for (int r0_1m2 = 0 + (int)(chunk * INT64_C(4096) / 16); r0_1m2 < 0 + (int)((chunk + 1) * INT64_C(4096) / 16); ++r0_1m2) {
          #pragma omp simd
          for (int i0_3 = 0; i0_3 < 48; ++i0_3) {
            const float v0 = in0[i0_3 + r0_1m2 * 48];
            acc[i0_3 - 0] += v0;
          }
        }
        #pragma omp simd
        for (int i0_3 = 0; i0_3 < 48; ++i0_3) {
          p0[chunk * 48 + i0_3] = acc[i0_3 - 0];
        }
      }
    }
    #pragma omp single nowait
    for (int i0_3 = 0; i0_3 < 48; ++i0_3) {
      {
        float acc = p0[i0_3];
        for (int chunk = 1; chunk < 16; ++chunk) acc += p0[chunk * 48 + i0_3];
        out[i0_3] = acc / 4096;
      }
    }
  }
}
