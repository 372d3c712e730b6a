// t4 = recurrence(x, c1, h, b, cells=0, direction='forward', kind='GRU', relu=0)  # f32[5,1,2,33]
typedef struct { korch_meeting meeting; float *of; } weights;
static void free(void *state) {
  korch_unpack(((weights *)state)->of);
  free(state);
}
static int init(void **state, const void *const *in) {
  weights *w = *state = korch_aligned(sizeof *w);
  if (!w) return 1;
  memset(w, 0, sizeof *w);
  float *to = w->of = korch_aligned(19008);
  if (!to) return free(w), *state = NULL, 1;
  for (int d = 0; d < 1; ++d) {
    for (int u = 0; u < 48; u += 16) {
      for (int k = 0; k < 33; ++k) {
        for (int g = 0; g < 3; ++g) {
          for (int i = 0; i < 16; ++i) *to++ = u + i < 33 ? ((const float *)in[1])[((size_t)d * 99 + g * 33 + u + i) * 33 + k] : 0;
        }
      }
    }
  }
  return korch_pack((void **)&w->of, 19008);
}
__attribute__((noinline))
static void units1(const float *restrict w, const float *restrict x, const float *restrict before, const float *bias, float *restrict out, int unit) {
  const int wanted = KORCH_MIN(33 - unit, 16);
  korch_f16 s0_0_0 = korch_load_first16(x + 0 + unit, wanted);
  korch_f16 s0_1_0 = korch_load_first16(x + 33 + unit, wanted);
  korch_f16 s0_2_0 = korch_load_first16(bias + unit, wanted);
  int k = 0;
  for (; k + 1 <= 33; k += 1) {
    {
      const korch_f16 w0 = *(const korch_f16 *)(w + k * 48 + 0);
      const korch_f16 w1 = *(const korch_f16 *)(w + k * 48 + 16);
      const korch_f16 w2 = *(const korch_f16 *)(w + k * 48 + 32);
      { const float h = before[0 + k]; s0_0_0 += h * w0; s0_1_0 += h * w1; s0_2_0 += h * w2; }
    }
  }
  {
    const korch_f16 fresh = korch_tanh16(korch_sigmoid16(s0_1_0) * s0_2_0 + korch_load_first16(x + 66 + unit, wanted)), z = korch_sigmoid16(s0_0_0);
    korch_store_first16(out + 0 + unit, z * (korch_load_first16(before + 0 + unit, wanted) - fresh) + fresh, wanted);
  }
}
static void step(const weights *weights, const void *const *in, float *all, float *workspace, int d, int t, int unit, int end, int from, int to) {
  const int back = 0, at = back ? 4 - t : t, previous = back ? at + 1 : at - 1;
  const size_t own = (size_t)d * 66;
  const float *before = (t ? all + (ptrdiff_t)previous * 66 : ((const float *)in[2])) + own;
  (void)workspace;
  for (; unit < end; unit += 16) {
    const float *w = weights->of + (size_t)d * 4752 + (size_t)unit * 99;
    int b = from;
    for (; b + 1 <= to; b += 1) {
      units1(w, ((const float *)in[0]) + ((size_t)at * 2 + b) * 99 + d * 99, before + (size_t)b * 33, ((const float *)in[3]) + d * 33, all + (size_t)at * 66 + own + (size_t)b * 33, unit);
    }
  }
}
static void team(void *state, const void *const *in, void *out, void *workspace) {
  weights *weights = state;
  static const int ends[] = {0, 1, 2};
  #pragma omp for schedule(static) nowait
  for (int i = 0; i < 2; ++i) {
    for (int t = 0; t < 5; ++t) {
      step(weights, in, out, workspace, i / 2, t, 0, 33, ends[i % 2], ends[i % 2 + 1]);
    }
  }
}
