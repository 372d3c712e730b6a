// t4 = recurrence(x, c1, h, c, cells=0, direction='forward', kind='LSTM', relu=0)  # f32[5,1,3,32]
typedef struct { korch_meeting meeting; float *of; } weights;
static void free(void *state) {
  korch_unpack(((weights *)state)->of);
  free(state);
}
static int init(void **state, const void *const *in) {
  weights *w = *state = korch_aligned(sizeof *w);
  if (!w) return 1;
  memset(w, 0, sizeof *w);
  float *to = w->of = korch_aligned(16384);
  if (!to) return free(w), *state = NULL, 1;
  for (int d = 0; d < 1; ++d) {
    for (int u = 0; u < 32; u += 16) {
      for (int k = 0; k < 32; ++k) {
        for (int g = 0; g < 4; ++g) {
          for (int i = 0; i < 16; ++i) *to++ = u + i < 32 ? ((const float *)in[1])[((size_t)d * 128 + g * 32 + u + i) * 32 + k] : 0;
        }
      }
    }
  }
  return korch_pack((void **)&w->of, 16384);
}
__attribute__((noinline))
static void units3(const float *restrict w, const float *restrict x, const float *restrict before, const float *cells_before, float *cells, float *restrict out, int unit) {
  korch_f16 s0_0_0 = *(const korch_at16 *)(x + 0 + unit);
  korch_f16 s0_1_0 = *(const korch_at16 *)(x + 32 + unit);
  korch_f16 s0_2_0 = *(const korch_at16 *)(x + 64 + unit);
  korch_f16 s0_3_0 = *(const korch_at16 *)(x + 96 + unit);
  korch_f16 s1_0_0 = *(const korch_at16 *)(x + 128 + unit);
  korch_f16 s1_1_0 = *(const korch_at16 *)(x + 160 + unit);
  korch_f16 s1_2_0 = *(const korch_at16 *)(x + 192 + unit);
  korch_f16 s1_3_0 = *(const korch_at16 *)(x + 224 + unit);
  korch_f16 s2_0_0 = *(const korch_at16 *)(x + 256 + unit);
  korch_f16 s2_1_0 = *(const korch_at16 *)(x + 288 + unit);
  korch_f16 s2_2_0 = *(const korch_at16 *)(x + 320 + unit);
  korch_f16 s2_3_0 = *(const korch_at16 *)(x + 352 + unit);
  int k = 0;
  for (; k + 1 <= 32; k += 1) {
    {
      const korch_f16 w0 = *(const korch_f16 *)(w + k * 64 + 0);
      const korch_f16 w1 = *(const korch_f16 *)(w + k * 64 + 16);
      const korch_f16 w2 = *(const korch_f16 *)(w + k * 64 + 32);
      const korch_f16 w3 = *(const korch_f16 *)(w + k * 64 + 48);
      { const float h = before[0 + k]; s0_0_0 += h * w0; s0_1_0 += h * w1; s0_2_0 += h * w2; s0_3_0 += h * w3; }
      { const float h = before[32 + k]; s1_0_0 += h * w0; s1_1_0 += h * w1; s1_2_0 += h * w2; s1_3_0 += h * w3; }
      { const float h = before[64 + k]; s2_0_0 += h * w0; s2_1_0 += h * w1; s2_2_0 += h * w2; s2_3_0 += h * w3; }
    }
  }
  {
    const korch_f16 kept = korch_sigmoid16(s0_2_0) * *(const korch_at16 *)(cells_before + 0 + unit);
    const korch_f16 cell = korch_sigmoid16(s0_0_0) * korch_tanh16(s0_3_0) + kept;
    *(korch_at16 *)(cells + 0 + unit) = cell;
    *(korch_at16 *)(out + 0 + unit) = korch_sigmoid16(s0_1_0) * korch_tanh16(cell);
  }
  {
    const korch_f16 kept = korch_sigmoid16(s1_2_0) * *(const korch_at16 *)(cells_before + 32 + unit);
    const korch_f16 cell = korch_sigmoid16(s1_0_0) * korch_tanh16(s1_3_0) + kept;
    *(korch_at16 *)(cells + 32 + unit) = cell;
    *(korch_at16 *)(out + 32 + unit) = korch_sigmoid16(s1_1_0) * korch_tanh16(cell);
  }
  {
    const korch_f16 kept = korch_sigmoid16(s2_2_0) * *(const korch_at16 *)(cells_before + 64 + unit);
    const korch_f16 cell = korch_sigmoid16(s2_0_0) * korch_tanh16(s2_3_0) + kept;
    *(korch_at16 *)(cells + 64 + unit) = cell;
    *(korch_at16 *)(out + 64 + unit) = korch_sigmoid16(s2_1_0) * korch_tanh16(cell);
  }
}
static void step(const weights *weights, const void *const *in, float *all, float *workspace, int d, int t, int unit, int end, int from, int to) {
  const int back = 0, at = back ? 4 - t : t, previous = back ? at + 1 : at - 1;
  const size_t own = (size_t)d * 96;
  const float *before = (t ? all + (ptrdiff_t)previous * 96 : ((const float *)in[2])) + own;
  float *cells = workspace + own;
  const float *cells_before = t ? cells : ((const float *)in[3]) + own;
  (void)workspace;
  for (; unit < end; unit += 16) {
    const float *w = weights->of + (size_t)d * 4096 + (size_t)unit * 128;
    int b = from;
    for (; b + 3 <= to; b += 3) {
      units3(w, ((const float *)in[0]) + ((size_t)at * 3 + b) * 128 + d * 128, before + (size_t)b * 32, cells_before + (size_t)b * 32, cells + (size_t)b * 32, all + (size_t)at * 96 + own + (size_t)b * 32, unit);
    }
  }
}
static void run(void *state, const void *const *in, void *out, void *workspace) {
  weights *weights = state;
  for (int i = 0; i < 1; ++i) {
    for (int t = 0; t < 5; ++t) {
      step(weights, in, out, workspace, i, t, 0, 32, 0, 3);
    }
  }
}
