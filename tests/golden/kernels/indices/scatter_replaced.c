// t3 = scatter(1.0, i, u, axis=0, length=50, reduction='none')  # f32[50,64]
__attribute__((noinline))
static int unit(const int64_t *restrict in1, const float *restrict in2, float *restrict out, int unit) {
  const int o = unit / 1, row = unit / 1 % 1, column = unit % 1;
  const int begin = (int)(INT64_C(50) * row / 1), end = (int)(INT64_C(50) * (row + 1) / 1);
  const int first = column * 64, last = first + 64;
  int wrong = 0;
  (void)o;
  // c0: f32[]
  for (int n = begin; n < end; ++n) {
    for (int c = first; c < last; ++c) {
      out[c + n * 64] = 1.0e+0f;
    }
  }
  // t3 = scatter(1.0, i, u, axis=0, length=50, reduction='none')  # f32[50,64]
  for (int k = 0; k < 90; ++k) {
    const int64_t v0 = in1[k];
    const int64_t wrapped = v0 < 0 ? v0 + 50 : v0;
    const int at = (int)korch_nearest(wrapped, 50);
    wrong |= at != wrapped;
    for (int c = first; c < last; ++c) {
      const float v1 = in2[c + k * 64];
      out[c + at * 64] = v1;
    }
  }
  return wrong;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const int64_t *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  float *restrict out = out_;
  int wrong = 0;
  for (int unit = 0; unit < 1; ++unit) wrong |= unit(in1, in2, out, unit);
  if (wrong) korch_out_of_range = 1;
}
