// t2 = conv(x, c1, channels_last=1, dilations=(1,), group=8, pads=(7, 7), strides=(1,))  # f32[1,24,8]
static int init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(960);
  if (!to) return 1;
  for (int c = 0; c < 8; ++c)
    for (int t = 0; t < 15; ++t) to[(c / 16 * 15 + t) * 16 + c % 16] = w[c * 15 + t];
  return korch_pack(state, 960);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void block1_0(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 1 - 7;
  const float *x = in0 + ((image * height + row) * 24 + column) * 8;
  int c0 = 0;
  for (; c0 + 8 <= 8; c0 += 8) {
    korch_f8 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a0_3 = {0};
    const float *taps = weights + c0 / 16 * 240 + c0 % 16;
    if ((unsigned)(row + 0) < (unsigned)height) {
      const korch_f8 w0_0 = *(const korch_at8 *)(taps + 0);
      const korch_f8 w0_1 = *(const korch_at8 *)(taps + 16);
      const korch_f8 w0_2 = *(const korch_at8 *)(taps + 32);
      const korch_f8 w0_3 = *(const korch_at8 *)(taps + 48);
      const korch_f8 w0_4 = *(const korch_at8 *)(taps + 64);
      const korch_f8 w0_5 = *(const korch_at8 *)(taps + 80);
      const korch_f8 w0_6 = *(const korch_at8 *)(taps + 96);
      const korch_f8 w0_7 = *(const korch_at8 *)(taps + 112);
      const korch_f8 w0_8 = *(const korch_at8 *)(taps + 128);
      const korch_f8 w0_9 = *(const korch_at8 *)(taps + 144);
      const korch_f8 w0_10 = *(const korch_at8 *)(taps + 160);
      const korch_f8 w0_11 = *(const korch_at8 *)(taps + 176);
      const korch_f8 w0_12 = *(const korch_at8 *)(taps + 192);
      const korch_f8 w0_13 = *(const korch_at8 *)(taps + 208);
      const korch_f8 w0_14 = *(const korch_at8 *)(taps + 224);
      { const korch_f8 v = *(const korch_at8 *)(x + 56 + c0); a0_0 += v * w0_7; a0_1 += v * w0_6; a0_2 += v * w0_5; a0_3 += v * w0_4; }
      { const korch_f8 v = *(const korch_at8 *)(x + 64 + c0); a0_0 += v * w0_8; a0_1 += v * w0_7; a0_2 += v * w0_6; a0_3 += v * w0_5; }
      { const korch_f8 v = *(const korch_at8 *)(x + 72 + c0); a0_0 += v * w0_9; a0_1 += v * w0_8; a0_2 += v * w0_7; a0_3 += v * w0_6; }
      { const korch_f8 v = *(const korch_at8 *)(x + 80 + c0); a0_0 += v * w0_10; a0_1 += v * w0_9; a0_2 += v * w0_8; a0_3 += v * w0_7; }
      { const korch_f8 v = *(const korch_at8 *)(x + 88 + c0); a0_0 += v * w0_11; a0_1 += v * w0_10; a0_2 += v * w0_9; a0_3 += v * w0_8; }
      { const korch_f8 v = *(const korch_at8 *)(x + 96 + c0); a0_0 += v * w0_12; a0_1 += v * w0_11; a0_2 += v * w0_10; a0_3 += v * w0_9; }
      { const korch_f8 v = *(const korch_at8 *)(x + 104 + c0); a0_0 += v * w0_13; a0_1 += v * w0_12; a0_2 += v * w0_11; a0_3 += v * w0_10; }
      { const korch_f8 v = *(const korch_at8 *)(x + 112 + c0); a0_0 += v * w0_14; a0_1 += v * w0_13; a0_2 += v * w0_12; a0_3 += v * w0_11; }
      { const korch_f8 v = *(const korch_at8 *)(x + 120 + c0); a0_1 += v * w0_14; a0_2 += v * w0_13; a0_3 += v * w0_12; }
      { const korch_f8 v = *(const korch_at8 *)(x + 128 + c0); a0_2 += v * w0_14; a0_3 += v * w0_13; }
      { const korch_f8 v = *(const korch_at8 *)(x + 136 + c0); a0_3 += v * w0_14; }
    }
    {
      const int h = top + 0, w = left + 0;
      const korch_f8 v0 = a0_0;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 1;
      const korch_f8 v0 = a0_1;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 2;
      const korch_f8 v0 = a0_2;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 3;
      const korch_f8 v0 = a0_3;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
  }
}
__attribute__((noinline))
static void block1_1(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 1 - 7;
  const float *x = in0 + ((image * height + row) * 24 + column) * 8;
  int c0 = 0;
  for (; c0 + 8 <= 8; c0 += 8) {
    korch_f8 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a0_3 = {0};
    const float *taps = weights + c0 / 16 * 240 + c0 % 16;
    if ((unsigned)(row + 0) < (unsigned)height) {
      const korch_f8 w0_0 = *(const korch_at8 *)(taps + 0);
      const korch_f8 w0_1 = *(const korch_at8 *)(taps + 16);
      const korch_f8 w0_2 = *(const korch_at8 *)(taps + 32);
      const korch_f8 w0_3 = *(const korch_at8 *)(taps + 48);
      const korch_f8 w0_4 = *(const korch_at8 *)(taps + 64);
      const korch_f8 w0_5 = *(const korch_at8 *)(taps + 80);
      const korch_f8 w0_6 = *(const korch_at8 *)(taps + 96);
      const korch_f8 w0_7 = *(const korch_at8 *)(taps + 112);
      const korch_f8 w0_8 = *(const korch_at8 *)(taps + 128);
      const korch_f8 w0_9 = *(const korch_at8 *)(taps + 144);
      const korch_f8 w0_10 = *(const korch_at8 *)(taps + 160);
      const korch_f8 w0_11 = *(const korch_at8 *)(taps + 176);
      const korch_f8 w0_12 = *(const korch_at8 *)(taps + 192);
      const korch_f8 w0_13 = *(const korch_at8 *)(taps + 208);
      const korch_f8 w0_14 = *(const korch_at8 *)(taps + 224);
      { const korch_f8 v = *(const korch_at8 *)(x + 24 + c0); a0_0 += v * w0_3; a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 32 + c0); a0_0 += v * w0_4; a0_1 += v * w0_3; a0_2 += v * w0_2; a0_3 += v * w0_1; }
      { const korch_f8 v = *(const korch_at8 *)(x + 40 + c0); a0_0 += v * w0_5; a0_1 += v * w0_4; a0_2 += v * w0_3; a0_3 += v * w0_2; }
      { const korch_f8 v = *(const korch_at8 *)(x + 48 + c0); a0_0 += v * w0_6; a0_1 += v * w0_5; a0_2 += v * w0_4; a0_3 += v * w0_3; }
      { const korch_f8 v = *(const korch_at8 *)(x + 56 + c0); a0_0 += v * w0_7; a0_1 += v * w0_6; a0_2 += v * w0_5; a0_3 += v * w0_4; }
      { const korch_f8 v = *(const korch_at8 *)(x + 64 + c0); a0_0 += v * w0_8; a0_1 += v * w0_7; a0_2 += v * w0_6; a0_3 += v * w0_5; }
      { const korch_f8 v = *(const korch_at8 *)(x + 72 + c0); a0_0 += v * w0_9; a0_1 += v * w0_8; a0_2 += v * w0_7; a0_3 += v * w0_6; }
      { const korch_f8 v = *(const korch_at8 *)(x + 80 + c0); a0_0 += v * w0_10; a0_1 += v * w0_9; a0_2 += v * w0_8; a0_3 += v * w0_7; }
      { const korch_f8 v = *(const korch_at8 *)(x + 88 + c0); a0_0 += v * w0_11; a0_1 += v * w0_10; a0_2 += v * w0_9; a0_3 += v * w0_8; }
      { const korch_f8 v = *(const korch_at8 *)(x + 96 + c0); a0_0 += v * w0_12; a0_1 += v * w0_11; a0_2 += v * w0_10; a0_3 += v * w0_9; }
      { const korch_f8 v = *(const korch_at8 *)(x + 104 + c0); a0_0 += v * w0_13; a0_1 += v * w0_12; a0_2 += v * w0_11; a0_3 += v * w0_10; }
      { const korch_f8 v = *(const korch_at8 *)(x + 112 + c0); a0_0 += v * w0_14; a0_1 += v * w0_13; a0_2 += v * w0_12; a0_3 += v * w0_11; }
      { const korch_f8 v = *(const korch_at8 *)(x + 120 + c0); a0_1 += v * w0_14; a0_2 += v * w0_13; a0_3 += v * w0_12; }
      { const korch_f8 v = *(const korch_at8 *)(x + 128 + c0); a0_2 += v * w0_14; a0_3 += v * w0_13; }
      { const korch_f8 v = *(const korch_at8 *)(x + 136 + c0); a0_3 += v * w0_14; }
    }
    {
      const int h = top + 0, w = left + 0;
      const korch_f8 v0 = a0_0;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 1;
      const korch_f8 v0 = a0_1;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 2;
      const korch_f8 v0 = a0_2;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 3;
      const korch_f8 v0 = a0_3;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
  }
}
__attribute__((noinline))
static void block1_2(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 1 - 7;
  const float *x = in0 + ((image * height + row) * 24 + column) * 8;
  int c0 = 0;
  for (; c0 + 8 <= 8; c0 += 8) {
    korch_f8 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a0_3 = {0};
    const float *taps = weights + c0 / 16 * 240 + c0 % 16;
    if ((unsigned)(row + 0) < (unsigned)height) {
      const korch_f8 w0_0 = *(const korch_at8 *)(taps + 0);
      const korch_f8 w0_1 = *(const korch_at8 *)(taps + 16);
      const korch_f8 w0_2 = *(const korch_at8 *)(taps + 32);
      const korch_f8 w0_3 = *(const korch_at8 *)(taps + 48);
      const korch_f8 w0_4 = *(const korch_at8 *)(taps + 64);
      const korch_f8 w0_5 = *(const korch_at8 *)(taps + 80);
      const korch_f8 w0_6 = *(const korch_at8 *)(taps + 96);
      const korch_f8 w0_7 = *(const korch_at8 *)(taps + 112);
      const korch_f8 w0_8 = *(const korch_at8 *)(taps + 128);
      const korch_f8 w0_9 = *(const korch_at8 *)(taps + 144);
      const korch_f8 w0_10 = *(const korch_at8 *)(taps + 160);
      const korch_f8 w0_11 = *(const korch_at8 *)(taps + 176);
      const korch_f8 w0_12 = *(const korch_at8 *)(taps + 192);
      const korch_f8 w0_13 = *(const korch_at8 *)(taps + 208);
      const korch_f8 w0_14 = *(const korch_at8 *)(taps + 224);
      { const korch_f8 v = *(const korch_at8 *)(x + 0 + c0); a0_0 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 8 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 16 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 24 + c0); a0_0 += v * w0_3; a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 32 + c0); a0_0 += v * w0_4; a0_1 += v * w0_3; a0_2 += v * w0_2; a0_3 += v * w0_1; }
      { const korch_f8 v = *(const korch_at8 *)(x + 40 + c0); a0_0 += v * w0_5; a0_1 += v * w0_4; a0_2 += v * w0_3; a0_3 += v * w0_2; }
      { const korch_f8 v = *(const korch_at8 *)(x + 48 + c0); a0_0 += v * w0_6; a0_1 += v * w0_5; a0_2 += v * w0_4; a0_3 += v * w0_3; }
      { const korch_f8 v = *(const korch_at8 *)(x + 56 + c0); a0_0 += v * w0_7; a0_1 += v * w0_6; a0_2 += v * w0_5; a0_3 += v * w0_4; }
      { const korch_f8 v = *(const korch_at8 *)(x + 64 + c0); a0_0 += v * w0_8; a0_1 += v * w0_7; a0_2 += v * w0_6; a0_3 += v * w0_5; }
      { const korch_f8 v = *(const korch_at8 *)(x + 72 + c0); a0_0 += v * w0_9; a0_1 += v * w0_8; a0_2 += v * w0_7; a0_3 += v * w0_6; }
      { const korch_f8 v = *(const korch_at8 *)(x + 80 + c0); a0_0 += v * w0_10; a0_1 += v * w0_9; a0_2 += v * w0_8; a0_3 += v * w0_7; }
      { const korch_f8 v = *(const korch_at8 *)(x + 88 + c0); a0_0 += v * w0_11; a0_1 += v * w0_10; a0_2 += v * w0_9; a0_3 += v * w0_8; }
      { const korch_f8 v = *(const korch_at8 *)(x + 96 + c0); a0_0 += v * w0_12; a0_1 += v * w0_11; a0_2 += v * w0_10; a0_3 += v * w0_9; }
      { const korch_f8 v = *(const korch_at8 *)(x + 104 + c0); a0_0 += v * w0_13; a0_1 += v * w0_12; a0_2 += v * w0_11; a0_3 += v * w0_10; }
      { const korch_f8 v = *(const korch_at8 *)(x + 112 + c0); a0_0 += v * w0_14; a0_1 += v * w0_13; a0_2 += v * w0_12; a0_3 += v * w0_11; }
      { const korch_f8 v = *(const korch_at8 *)(x + 120 + c0); a0_1 += v * w0_14; a0_2 += v * w0_13; a0_3 += v * w0_12; }
      { const korch_f8 v = *(const korch_at8 *)(x + 128 + c0); a0_2 += v * w0_14; a0_3 += v * w0_13; }
      { const korch_f8 v = *(const korch_at8 *)(x + 136 + c0); a0_3 += v * w0_14; }
    }
    {
      const int h = top + 0, w = left + 0;
      const korch_f8 v0 = a0_0;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 1;
      const korch_f8 v0 = a0_1;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 2;
      const korch_f8 v0 = a0_2;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 3;
      const korch_f8 v0 = a0_3;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
  }
}
__attribute__((noinline))
static void block1_3(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 1 - 7;
  const float *x = in0 + ((image * height + row) * 24 + column) * 8;
  int c0 = 0;
  for (; c0 + 8 <= 8; c0 += 8) {
    korch_f8 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a0_3 = {0};
    const float *taps = weights + c0 / 16 * 240 + c0 % 16;
    if ((unsigned)(row + 0) < (unsigned)height) {
      const korch_f8 w0_0 = *(const korch_at8 *)(taps + 0);
      const korch_f8 w0_1 = *(const korch_at8 *)(taps + 16);
      const korch_f8 w0_2 = *(const korch_at8 *)(taps + 32);
      const korch_f8 w0_3 = *(const korch_at8 *)(taps + 48);
      const korch_f8 w0_4 = *(const korch_at8 *)(taps + 64);
      const korch_f8 w0_5 = *(const korch_at8 *)(taps + 80);
      const korch_f8 w0_6 = *(const korch_at8 *)(taps + 96);
      const korch_f8 w0_7 = *(const korch_at8 *)(taps + 112);
      const korch_f8 w0_8 = *(const korch_at8 *)(taps + 128);
      const korch_f8 w0_9 = *(const korch_at8 *)(taps + 144);
      const korch_f8 w0_10 = *(const korch_at8 *)(taps + 160);
      const korch_f8 w0_11 = *(const korch_at8 *)(taps + 176);
      const korch_f8 w0_12 = *(const korch_at8 *)(taps + 192);
      const korch_f8 w0_13 = *(const korch_at8 *)(taps + 208);
      const korch_f8 w0_14 = *(const korch_at8 *)(taps + 224);
      { const korch_f8 v = *(const korch_at8 *)(x + 0 + c0); a0_0 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 8 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 16 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 24 + c0); a0_0 += v * w0_3; a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 32 + c0); a0_0 += v * w0_4; a0_1 += v * w0_3; a0_2 += v * w0_2; a0_3 += v * w0_1; }
      { const korch_f8 v = *(const korch_at8 *)(x + 40 + c0); a0_0 += v * w0_5; a0_1 += v * w0_4; a0_2 += v * w0_3; a0_3 += v * w0_2; }
      { const korch_f8 v = *(const korch_at8 *)(x + 48 + c0); a0_0 += v * w0_6; a0_1 += v * w0_5; a0_2 += v * w0_4; a0_3 += v * w0_3; }
      { const korch_f8 v = *(const korch_at8 *)(x + 56 + c0); a0_0 += v * w0_7; a0_1 += v * w0_6; a0_2 += v * w0_5; a0_3 += v * w0_4; }
      { const korch_f8 v = *(const korch_at8 *)(x + 64 + c0); a0_0 += v * w0_8; a0_1 += v * w0_7; a0_2 += v * w0_6; a0_3 += v * w0_5; }
      { const korch_f8 v = *(const korch_at8 *)(x + 72 + c0); a0_0 += v * w0_9; a0_1 += v * w0_8; a0_2 += v * w0_7; a0_3 += v * w0_6; }
      { const korch_f8 v = *(const korch_at8 *)(x + 80 + c0); a0_0 += v * w0_10; a0_1 += v * w0_9; a0_2 += v * w0_8; a0_3 += v * w0_7; }
      { const korch_f8 v = *(const korch_at8 *)(x + 88 + c0); a0_0 += v * w0_11; a0_1 += v * w0_10; a0_2 += v * w0_9; a0_3 += v * w0_8; }
      { const korch_f8 v = *(const korch_at8 *)(x + 96 + c0); a0_0 += v * w0_12; a0_1 += v * w0_11; a0_2 += v * w0_10; a0_3 += v * w0_9; }
      { const korch_f8 v = *(const korch_at8 *)(x + 104 + c0); a0_0 += v * w0_13; a0_1 += v * w0_12; a0_2 += v * w0_11; a0_3 += v * w0_10; }
      { const korch_f8 v = *(const korch_at8 *)(x + 112 + c0); a0_0 += v * w0_14; a0_1 += v * w0_13; a0_2 += v * w0_12; a0_3 += v * w0_11; }
    }
    {
      const int h = top + 0, w = left + 0;
      const korch_f8 v0 = a0_0;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 1;
      const korch_f8 v0 = a0_1;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 2;
      const korch_f8 v0 = a0_2;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 3;
      const korch_f8 v0 = a0_3;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
  }
}
__attribute__((noinline))
static void block1_4(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 1 - 7;
  const float *x = in0 + ((image * height + row) * 24 + column) * 8;
  int c0 = 0;
  for (; c0 + 8 <= 8; c0 += 8) {
    korch_f8 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a0_3 = {0};
    const float *taps = weights + c0 / 16 * 240 + c0 % 16;
    if ((unsigned)(row + 0) < (unsigned)height) {
      const korch_f8 w0_0 = *(const korch_at8 *)(taps + 0);
      const korch_f8 w0_1 = *(const korch_at8 *)(taps + 16);
      const korch_f8 w0_2 = *(const korch_at8 *)(taps + 32);
      const korch_f8 w0_3 = *(const korch_at8 *)(taps + 48);
      const korch_f8 w0_4 = *(const korch_at8 *)(taps + 64);
      const korch_f8 w0_5 = *(const korch_at8 *)(taps + 80);
      const korch_f8 w0_6 = *(const korch_at8 *)(taps + 96);
      const korch_f8 w0_7 = *(const korch_at8 *)(taps + 112);
      const korch_f8 w0_8 = *(const korch_at8 *)(taps + 128);
      const korch_f8 w0_9 = *(const korch_at8 *)(taps + 144);
      const korch_f8 w0_10 = *(const korch_at8 *)(taps + 160);
      const korch_f8 w0_11 = *(const korch_at8 *)(taps + 176);
      const korch_f8 w0_12 = *(const korch_at8 *)(taps + 192);
      const korch_f8 w0_13 = *(const korch_at8 *)(taps + 208);
      const korch_f8 w0_14 = *(const korch_at8 *)(taps + 224);
      { const korch_f8 v = *(const korch_at8 *)(x + 0 + c0); a0_0 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 8 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 16 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 24 + c0); a0_0 += v * w0_3; a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
      { const korch_f8 v = *(const korch_at8 *)(x + 32 + c0); a0_0 += v * w0_4; a0_1 += v * w0_3; a0_2 += v * w0_2; a0_3 += v * w0_1; }
      { const korch_f8 v = *(const korch_at8 *)(x + 40 + c0); a0_0 += v * w0_5; a0_1 += v * w0_4; a0_2 += v * w0_3; a0_3 += v * w0_2; }
      { const korch_f8 v = *(const korch_at8 *)(x + 48 + c0); a0_0 += v * w0_6; a0_1 += v * w0_5; a0_2 += v * w0_4; a0_3 += v * w0_3; }
      { const korch_f8 v = *(const korch_at8 *)(x + 56 + c0); a0_0 += v * w0_7; a0_1 += v * w0_6; a0_2 += v * w0_5; a0_3 += v * w0_4; }
      { const korch_f8 v = *(const korch_at8 *)(x + 64 + c0); a0_0 += v * w0_8; a0_1 += v * w0_7; a0_2 += v * w0_6; a0_3 += v * w0_5; }
      { const korch_f8 v = *(const korch_at8 *)(x + 72 + c0); a0_0 += v * w0_9; a0_1 += v * w0_8; a0_2 += v * w0_7; a0_3 += v * w0_6; }
      { const korch_f8 v = *(const korch_at8 *)(x + 80 + c0); a0_0 += v * w0_10; a0_1 += v * w0_9; a0_2 += v * w0_8; a0_3 += v * w0_7; }
    }
    {
      const int h = top + 0, w = left + 0;
      const korch_f8 v0 = a0_0;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 1;
      const korch_f8 v0 = a0_1;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 2;
      const korch_f8 v0 = a0_2;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
    }
    {
      const int h = top + 0, w = left + 3;
      const korch_f8 v0 = a0_3;
      *(korch_at8 *)(out + c0 + w * 8) = v0;
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
  static Block *const blocks1[] = {block1_0, block1_1, block1_2, block1_2, block1_3, block1_4};
  for (int image = 0; image < 1; image += 1) {
    for (int top = 0; top < 1; top += 1) {
      for (int block = 0; block < 6; block += 1) {
        const int left = KORCH_MIN(block * 4, 20);
        const int row = top * 1 - 0;
        blocks1[block](state, in, out, image, top, left, row, 1);
      }
    }
  }
}
