// t1 = interpolate(x0, axis=2, indices=<104 values>, taps=2, weights=<104 values>)  # f32[1,8,52,13]
// t3 = add(t1, 1.0)  # f32[1,8,52,13]
static const int32_t table_84bad47bec[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 2, 1, 2, 1, 2, 1, 2, 2, 3, 2, 3, 2, 3, 2, 3, 3, 4, 3, 4, 3, 4, 3, 4, 4, 5, 4, 5, 4, 5, 4, 5, 5, 6, 5, 6, 5, 6, 5, 6, 6, 7, 6, 7, 6, 7, 6, 7, 7, 8, 7, 8, 7, 8, 7, 8, 8, 9, 8, 9, 8, 9, 8, 9, 9, 10, 9, 10, 9, 10, 9, 10, 10, 11, 10, 11, 10, 11, 10, 11, 11, 12, 11, 12, 11, 12, 11, 12, 12, 12, 12, 12};
static const float table_5d2cb07826[] = {1.0e+0f, 0.0e+0f, 1.0e+0f, 0.0e+0f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f, 3.75e-1f, 6.25e-1f, 1.25e-1f, 8.75e-1f, 8.75e-1f, 1.25e-1f, 6.25e-1f, 3.75e-1f};
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t3 = add(t1, 1.0)  # f32[1,8,52,13]
  for (int i0_1 = 0; i0_1 < 8; ++i0_1) {
    for (int i0_2 = 0; i0_2 < 52; ++i0_2) {
      #pragma omp simd
      for (int i0_3 = 0; i0_3 < 13; ++i0_3) {
        const float v0 = in0[i0_3 + table_84bad47bec[i0_2 * 2] * 13 + i0_1 * 169];
        const float v1 = v0 * table_5d2cb07826[i0_2 * 2];
        const float v2 = in0[i0_3 + table_84bad47bec[i0_2 * 2 + 1] * 13 + i0_1 * 169];
        const float v3 = v1 + v2 * table_5d2cb07826[i0_2 * 2 + 1];
        const float v4 = v3 + 1.0e+0f;
        out[i0_3 + i0_2 * 13 + i0_1 * 676] = v4;
      }
    }
  }
}
