// t3 = scatter(x, i, u, axis=0, length=7, reduction='max')  # i32[7,5]
__attribute__((noinline))
static int unit(const int32_t *restrict in0, const int64_t *restrict in1, const int32_t *restrict in2, int32_t *restrict out, int unit) {
  const int o = unit / 1, row = unit / 1 % 1, column = unit % 1;
  const int begin = (int)(INT64_C(7) * row / 1), end = (int)(INT64_C(7) * (row + 1) / 1);
  const int first = column * 5, last = first + 5;
  int wrong = 0;
  (void)o;
  // x: i32[7,5]
  for (int n = begin; n < end; ++n) {
    for (int c = first; c < last; ++c) {
      const int32_t v0 = in0[c + n * 5];
      out[c + n * 5] = v0;
    }
  }
  // t3 = scatter(x, i, u, axis=0, length=7, reduction='max')  # i32[7,5]
  for (int k = 0; k < 30; ++k) {
    for (int c = first; c < last; ++c) {
      const int64_t v0 = in1[c + k * 5];
      const int64_t wrapped = v0 < 0 ? v0 + 7 : v0;
      const int at = (int)korch_nearest(wrapped, 7);
      wrong |= at != wrapped;
      const int32_t v1 = in2[c + k * 5];
      const int32_t old = out[c + at * 5];
      out[c + at * 5] = KORCH_MAX(old, v1);
    }
  }
  return wrong;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const int32_t *restrict in0 = in[0];
  const int64_t *restrict in1 = in[1];
  const int32_t *restrict in2 = in[2];
  int32_t *restrict out = out_;
  int wrong = 0;
  for (int unit = 0; unit < 1; ++unit) wrong |= unit(in0, in1, in2, out, unit);
  if (wrong) korch_out_of_range = 1;
}
