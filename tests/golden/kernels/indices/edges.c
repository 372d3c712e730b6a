// t3 = slice(ends, lengths=(1, 500), starts=(1, 0), steps=(1, 1))  # i64[1,500]
// t9 = reshape(t3, shape=(500, 1))  # i64[500,1]
// t2 = slice(ends, lengths=(1, 500), starts=(0, 0), steps=(1, 1))  # i64[1,500]
// t4 = reshape(t2, shape=(500,))  # i64[500]
// t5 = take(x, t4, axis=0, batch=0)  # f32[500,48]
// t7 = mul(t5, w)  # f32[500,48]
// t10 = scatter(0.0, t9, t7, axis=0, length=60, reduction='add')  # f32[60,48]
// t12 = div(t10, n)  # f32[60,48]
// t13 = add(x, t12)  # f32[60,48]
// t14 = relu(t13)  # f32[60,48]
__attribute__((noinline))
static int unit(const int64_t *restrict in0, const float *restrict in1, const float *restrict in2, const float *restrict in4, float *restrict out, int unit) {
  const int o = unit / 2, row = unit / 2 % 1, column = unit % 2;
  const int begin = (int)(INT64_C(60) * row / 1), end = (int)(INT64_C(60) * (row + 1) / 1);
  const int first = column * 32, last = KORCH_MIN(first + 32, 48);
  int wrong = 0;
  (void)o;
  // c8: f32[]
  const volatile float number = 0.0e+0f;
  const float filled = number;
  for (int n = begin; n < end; ++n) {
    for (int c = first; c < last; ++c) {
      out[c + n * 48] = filled;
    }
  }
  // t10 = scatter(0.0, t9, t7, axis=0, length=60, reduction='add')  # f32[60,48]
  for (int k = 0; k < 500; ++k) {
    const int64_t v0 = in0[k + 500];
    const int64_t wrapped = v0 < 0 ? v0 + 60 : v0;
    const int at = (int)korch_nearest(wrapped, 60);
    wrong |= at != wrapped;
    const int64_t v1 = in0[k];
    const int64_t v2 = v1 < 0 ? v1 + 60 : v1;
    const int32_t v3 = (int)korch_nearest(v2, 60);
    const float v5 = in2[k];
    for (int c = first; c < last; ++c) {
      const float v4 = in1[c + v3 * 48];
      const float v6 = v4 * v5;
      const float old = out[c + at * 48];
      out[c + at * 48] = old + v6;
    }
  }
  // t14: f32[60,48]
  for (int n = begin; n < end; ++n) {
    const float v2 = in4[n];
    for (int c = first; c < last; ++c) {
      const float v0 = in1[c + n * 48];
      const float v1 = out[c + n * 48];
      const float v3 = v1 / v2;
      const float v4 = v0 + v3;
      const float v5 = KORCH_MAX(0.0e+0f, v4);
      out[c + n * 48] = v5;
    }
  }
  return wrong;
}
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const int64_t *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict in4 = in[4];
  float *restrict out = out_;
  int wrong = 0;
  // every index in t4: i64[500] lies in -60..59
  {
    int wrong = 0;
    #pragma omp for schedule(static) nowait collapse(1)
    for (int n0_0 = 0; n0_0 < 500; ++n0_0) {
      const int64_t v0 = in0[n0_0];
      wrong |= v0 < -60 || v0 >= 60;
    }
    if (wrong) korch_out_of_range = 1;
  }
  #pragma omp for schedule(static) nowait
  for (int unit = 0; unit < 2; ++unit) wrong |= unit(in0, in1, in2, in4, out, unit);
  if (wrong) korch_out_of_range = 1;
}
