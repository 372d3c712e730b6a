// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=16, pads=(1, 1, 1, 1), strides=(2, 2))  # f32[1,3,3,16]
static int init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(576);
  if (!to) return 1;
  for (int c = 0; c < 16; ++c)
    for (int t = 0; t < 9; ++t) to[(c / 16 * 9 + t) * 16 + c % 16] = w[c * 9 + t];
  return korch_pack(state, 576);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void block2_0(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 2 - 1;
  const float *x = in0 + ((image * height + row) * 5 + column) * 16;
  int c0 = 0;
  for (; c0 + 16 <= 16; c0 += 16) {
    korch_f16 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a1_0 = {0}, a1_1 = {0}, a1_2 = {0};
    const float *taps = weights + c0 / 16 * 144 + c0 % 16;
    if ((unsigned)(row + 0) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 0);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 16);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 32);
      { const korch_f16 v = *(const korch_at16 *)(x + 16 + c0); a0_0 += v * w0_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 32 + c0); a0_0 += v * w0_2; a0_1 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 48 + c0); a0_1 += v * w0_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 64 + c0); a0_1 += v * w0_2; a0_2 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 80 + c0); a0_2 += v * w0_1; }
    }
    if ((unsigned)(row + 1) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 48);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 64);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 80);
      { const korch_f16 v = *(const korch_at16 *)(x + 96 + c0); a0_0 += v * w0_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 112 + c0); a0_0 += v * w0_2; a0_1 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 128 + c0); a0_1 += v * w0_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 144 + c0); a0_1 += v * w0_2; a0_2 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 160 + c0); a0_2 += v * w0_1; }
    }
    if ((unsigned)(row + 2) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 96);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 112);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 128);
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 0);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 16);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 32);
      { const korch_f16 v = *(const korch_at16 *)(x + 176 + c0); a0_0 += v * w0_1; a1_0 += v * w1_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 192 + c0); a0_0 += v * w0_2; a1_0 += v * w1_2; a0_1 += v * w0_0; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 208 + c0); a0_1 += v * w0_1; a1_1 += v * w1_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 224 + c0); a0_1 += v * w0_2; a1_1 += v * w1_2; a0_2 += v * w0_0; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 240 + c0); a0_2 += v * w0_1; a1_2 += v * w1_1; }
    }
    if ((unsigned)(row + 3) < (unsigned)height) {
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 48);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 64);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 80);
      { const korch_f16 v = *(const korch_at16 *)(x + 256 + c0); a1_0 += v * w1_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 272 + c0); a1_0 += v * w1_2; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 288 + c0); a1_1 += v * w1_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 304 + c0); a1_1 += v * w1_2; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 320 + c0); a1_2 += v * w1_1; }
    }
    if ((unsigned)(row + 4) < (unsigned)height) {
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 96);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 112);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 128);
      { const korch_f16 v = *(const korch_at16 *)(x + 336 + c0); a1_0 += v * w1_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 352 + c0); a1_0 += v * w1_2; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 368 + c0); a1_1 += v * w1_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 384 + c0); a1_1 += v * w1_2; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 400 + c0); a1_2 += v * w1_1; }
    }
    {
      const int h = top + 0, w = left + 0;
      const korch_f16 v0 = a0_0;
      *(korch_at16 *)(out + c0 + w * 16 + h * 48) = v0;
    }
    {
      const int h = top + 0, w = left + 1;
      const korch_f16 v0 = a0_1;
      *(korch_at16 *)(out + c0 + w * 16 + h * 48) = v0;
    }
    {
      const int h = top + 0, w = left + 2;
      const korch_f16 v0 = a0_2;
      *(korch_at16 *)(out + c0 + w * 16 + h * 48) = v0;
    }
    {
      const int h = top + 1, w = left + 0;
      const korch_f16 v0 = a1_0;
      *(korch_at16 *)(out + c0 + w * 16 + h * 48) = v0;
    }
    {
      const int h = top + 1, w = left + 1;
      const korch_f16 v0 = a1_1;
      *(korch_at16 *)(out + c0 + w * 16 + h * 48) = v0;
    }
    {
      const int h = top + 1, w = left + 2;
      const korch_f16 v0 = a1_2;
      *(korch_at16 *)(out + c0 + w * 16 + h * 48) = v0;
    }
  }
}
__attribute__((noinline))
static void block1_0(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 2 - 1;
  const float *x = in0 + ((image * height + row) * 5 + column) * 16;
  int c0 = 0;
  for (; c0 + 16 <= 16; c0 += 16) {
    korch_f16 a0_0 = {0}, a0_1 = {0}, a0_2 = {0};
    const float *taps = weights + c0 / 16 * 144 + c0 % 16;
    if ((unsigned)(row + 0) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 0);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 16);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 32);
      { const korch_f16 v = *(const korch_at16 *)(x + 16 + c0); a0_0 += v * w0_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 32 + c0); a0_0 += v * w0_2; a0_1 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 48 + c0); a0_1 += v * w0_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 64 + c0); a0_1 += v * w0_2; a0_2 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 80 + c0); a0_2 += v * w0_1; }
    }
    if ((unsigned)(row + 1) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 48);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 64);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 80);
      { const korch_f16 v = *(const korch_at16 *)(x + 96 + c0); a0_0 += v * w0_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 112 + c0); a0_0 += v * w0_2; a0_1 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 128 + c0); a0_1 += v * w0_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 144 + c0); a0_1 += v * w0_2; a0_2 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 160 + c0); a0_2 += v * w0_1; }
    }
    if ((unsigned)(row + 2) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 96);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 112);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 128);
      { const korch_f16 v = *(const korch_at16 *)(x + 176 + c0); a0_0 += v * w0_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 192 + c0); a0_0 += v * w0_2; a0_1 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 208 + c0); a0_1 += v * w0_1; }
      { const korch_f16 v = *(const korch_at16 *)(x + 224 + c0); a0_1 += v * w0_2; a0_2 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 240 + c0); a0_2 += v * w0_1; }
    }
    {
      const int h = top + 0, w = left + 0;
      const korch_f16 v0 = a0_0;
      *(korch_at16 *)(out + c0 + w * 16 + h * 48) = v0;
    }
    {
      const int h = top + 0, w = left + 1;
      const korch_f16 v0 = a0_1;
      *(korch_at16 *)(out + c0 + w * 16 + h * 48) = v0;
    }
    {
      const int h = top + 0, w = left + 2;
      const korch_f16 v0 = a0_2;
      *(korch_at16 *)(out + c0 + w * 16 + h * 48) = v0;
    }
  }
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict x = in0;
  float *restrict out = out_;
  typedef void Block(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height);
  static Block *const blocks2[] = {block2_0};
  static Block *const blocks1[] = {block1_0};
  for (int image = 0; image < 1; image += 1) {
    for (int top = 0; top < 4; top += 2) {
      for (int block = 0; block < 1; block += 1) {
        const int left = KORCH_MIN(block * 3, 0);
        const int row = top * 2 - 1;
        if (top == 2) blocks1[block](state, in, out, image, top, left, row, 5);
        else
        blocks2[block](state, in, out, image, top, left, row, 5);
      }
    }
  }
}
