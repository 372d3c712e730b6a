// t1 = arg_max(x0, axis=2, keepdims=0, select_last_index=1)  # i64[4,50]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  int64_t *restrict out = out_;
  // t1 = arg_max(x0, axis=2, keepdims=0, select_last_index=1)  # i64[4,50]
  for (int i0_0m1 = 0; i0_0m1 < 200; ++i0_0m1) {
    float best = 0;
    int64_t at = 0, seen = 0;
    for (int r0_2 = 0; r0_2 < 70; ++r0_2) {
      const float v0 = in0[r0_2 + i0_0m1 * 70];
      if (!seen || ((v0 >= best) | (v0 != v0))) { best = v0; at = seen; }
      ++seen;
    }
    out[i0_0m1] = at;
  }
}
