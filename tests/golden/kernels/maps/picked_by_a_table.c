// t1 = gather(x0, axis=0, indices=(0, 0, 1, 2, 2, 3))  # f32[6,4]
static const int32_t table_0d8507b3ff[] = {0, 0, 1, 2, 2, 3};
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t1 = gather(x0, axis=0, indices=(0, 0, 1, 2, 2, 3))  # f32[6,4]
  for (int i0_0 = 0; i0_0 < 6; ++i0_0) {
    #pragma omp simd
    for (int i0_1 = 0; i0_1 < 4; ++i0_1) {
      const float v0 = in0[i0_1 + table_0d8507b3ff[i0_0] * 4];
      out[i0_1 + i0_0 * 4] = v0;
    }
  }
}
