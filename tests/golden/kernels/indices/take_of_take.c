// t3 = transpose(first, perm=(1, 0))  # i64[3,7]
// t4 = cast(second, to='int64')  # i64[4,5]
// t5 = take(t3, t4, axis=1, batch=0)  # i64[3,4,5]
// t6 = take(x0, t5, axis=1, batch=0)  # f32[2,3,4,5,3]
// t7 = exp(t6)  # f32[2,3,4,5,3]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const int64_t *restrict in0 = in[0];
  const int32_t *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  float *restrict out = out_;
  // every index in t4: i64[4,5] lies in -7..6
  {
    int wrong = 0;
    for (int n0_0 = 0; n0_0 < 4; ++n0_0) {
      for (int n0_1 = 0; n0_1 < 5; ++n0_1) {
        const int32_t v0 = in1[n0_1 + n0_0 * 5];
        const int64_t v1 = (int64_t)v0;
        wrong |= v1 < -7 || v1 >= 7;
      }
    }
    if (wrong) korch_out_of_range = 1;
  }
  // every index in t5: i64[3,4,5] lies in -7..6
  {
    int wrong = 0;
    for (int n1_0 = 0; n1_0 < 3; ++n1_0) {
      for (int n1_1 = 0; n1_1 < 4; ++n1_1) {
        for (int n1_2 = 0; n1_2 < 5; ++n1_2) {
          const int32_t v0 = in1[n1_2 + n1_1 * 5];
          const int64_t v1 = (int64_t)v0;
          const int64_t v2 = v1 < 0 ? v1 + 7 : v1;
          const int32_t v3 = KORCH_MIN(KORCH_MAX(v2, 0), 6);
          const int64_t v4 = in0[n1_0 + v3 * 3];
          wrong |= v4 < -7 || v4 >= 7;
        }
      }
    }
    if (wrong) korch_out_of_range = 1;
  }
  // t7 = exp(t6)  # f32[2,3,4,5,3]
  for (int i0_0 = 0; i0_0 < 2; ++i0_0) {
    for (int i0_1 = 0; i0_1 < 3; ++i0_1) {
      for (int i0_2m3 = 0; i0_2m3 < 20; ++i0_2m3) {
        for (int i0_4 = 0; i0_4 < 3; ++i0_4) {
          const int32_t v0 = in1[i0_2m3];
          const int64_t v1 = (int64_t)v0;
          const int64_t v2 = v1 < 0 ? v1 + 7 : v1;
          const int32_t v3 = KORCH_MIN(KORCH_MAX(v2, 0), 6);
          const int64_t v4 = in0[i0_1 + v3 * 3];
          const int64_t v5 = v4 < 0 ? v4 + 7 : v4;
          const int32_t v6 = KORCH_MIN(KORCH_MAX(v5, 0), 6);
          const float v7 = in2[i0_4 + v6 * 3 + i0_0 * 21];
          const float v8 = korch_expf(v7);
          out[i0_4 + i0_2m3 * 3 + i0_1 * 60 + i0_0 * 180] = v8;
        }
      }
    }
  }
}
