// t1 = reduce_sum(x0, axes=(0, 1, 2, 3), keepdims=0)  # f32[]
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t1 = reduce_sum(x0, axes=(0, 1, 2, 3), keepdims=0)  # f32[]
  {
    float *restrict p0 = (float *)((char *)workspace + 0);
    #pragma omp for schedule(static)
    for (int chunk = 0; chunk < 16; ++chunk) {
      {
        float acc = 0;
        const int r0_1m31 = 0 + (int)(chunk * INT64_C(135200) / 16) + (0 + (int)((chunk + 1) * INT64_C(135200) / 16) - (0 + (int)(chunk * INT64_C(135200) / 16))) / 32 * 32;
        float part[32] __attribute__((aligned(64))) = {0};
        for (int r0_1m30 = 0 + (int)(chunk * INT64_C(135200) / 16); r0_1m30 < r0_1m31; r0_1m30 += 32) {
          #pragma omp simd
          for (int r0_1m3 = r0_1m30; r0_1m3 < r0_1m30 + 32; ++r0_1m3) {
            const float v0 = in0[r0_1m3];
            part[r0_1m3 - r0_1m30] += v0;
          }
        }
        #pragma omp simd
        for (int r0_1m3 = r0_1m31; r0_1m3 < 0 + (int)((chunk + 1) * INT64_C(135200) / 16); ++r0_1m3) {
          const float v0 = in0[r0_1m3];
          part[r0_1m3 - r0_1m31] += v0;
        }
        acc += korch_sum32(part);
        p0[chunk * 1 + 0] = acc;
      }
    }
    #pragma omp single nowait
    {
      float acc = p0[0];
      for (int chunk = 1; chunk < 16; ++chunk) acc += p0[chunk * 1 + 0];
      out[0] = acc;
    }
  }
}
