// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=32, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,17,16,32]
static int init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(1152);
  if (!to) return 1;
  for (int c = 0; c < 32; ++c)
    for (int t = 0; t < 9; ++t) to[(c / 16 * 9 + t) * 16 + c % 16] = w[c * 9 + t];
  return korch_pack(state, 1152);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void block1_0(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 1 - 1;
  const int first = top, from = row;
  for (int top = first, row = from; top < KORCH_MIN(first + 6, 17); ++top, row += 1) {
    const float *x = in0 + ((image * height + row) * 16 + column) * 32;
    int c0 = 0;
    for (; c0 + 8 <= 32; c0 += 8) {
      korch_f8 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a0_3 = {0}, a0_4 = {0}, a0_5 = {0}, a0_6 = {0}, a0_7 = {0};
      const float *taps = weights + c0 / 16 * 144 + c0 % 16;
      if ((unsigned)(row + 0) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 0);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 16);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 32);
        { const korch_f8 v = *(const korch_at8 *)(x + 32 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 64 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 96 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 128 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 160 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 192 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 224 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 256 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
        { const korch_f8 v = *(const korch_at8 *)(x + 288 + c0); a0_7 += v * w0_2; }
      }
      if ((unsigned)(row + 1) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 48);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 64);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 80);
        { const korch_f8 v = *(const korch_at8 *)(x + 544 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 576 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 608 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 640 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 672 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 704 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 736 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 768 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
        { const korch_f8 v = *(const korch_at8 *)(x + 800 + c0); a0_7 += v * w0_2; }
      }
      if ((unsigned)(row + 2) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 96);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 112);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 128);
        { const korch_f8 v = *(const korch_at8 *)(x + 1056 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1088 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1120 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1152 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1184 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1216 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1248 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1280 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1312 + c0); a0_7 += v * w0_2; }
      }
      {
        const int h = top + 0, w = left + 0;
        const korch_f8 v0 = a0_0;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 1;
        const korch_f8 v0 = a0_1;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 2;
        const korch_f8 v0 = a0_2;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 3;
        const korch_f8 v0 = a0_3;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 4;
        const korch_f8 v0 = a0_4;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 5;
        const korch_f8 v0 = a0_5;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 6;
        const korch_f8 v0 = a0_6;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 7;
        const korch_f8 v0 = a0_7;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
    }
  }
}
__attribute__((noinline))
static void block1_1(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 1 - 1;
  const int first = top, from = row;
  for (int top = first, row = from; top < KORCH_MIN(first + 6, 17); ++top, row += 1) {
    const float *x = in0 + ((image * height + row) * 16 + column) * 32;
    int c0 = 0;
    for (; c0 + 8 <= 32; c0 += 8) {
      korch_f8 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a0_3 = {0}, a0_4 = {0}, a0_5 = {0}, a0_6 = {0}, a0_7 = {0};
      const float *taps = weights + c0 / 16 * 144 + c0 % 16;
      if ((unsigned)(row + 0) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 0);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 16);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 32);
        { const korch_f8 v = *(const korch_at8 *)(x + 0 + c0); a0_0 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 32 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 64 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 96 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 128 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 160 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 192 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 224 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 256 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
      }
      if ((unsigned)(row + 1) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 48);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 64);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 80);
        { const korch_f8 v = *(const korch_at8 *)(x + 512 + c0); a0_0 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 544 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 576 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 608 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 640 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 672 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 704 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 736 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 768 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
      }
      if ((unsigned)(row + 2) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 96);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 112);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 128);
        { const korch_f8 v = *(const korch_at8 *)(x + 1024 + c0); a0_0 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1056 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1088 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1120 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1152 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1184 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1216 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1248 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 1280 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
      }
      {
        const int h = top + 0, w = left + 0;
        const korch_f8 v0 = a0_0;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 1;
        const korch_f8 v0 = a0_1;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 2;
        const korch_f8 v0 = a0_2;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 3;
        const korch_f8 v0 = a0_3;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 4;
        const korch_f8 v0 = a0_4;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 5;
        const korch_f8 v0 = a0_5;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 6;
        const korch_f8 v0 = a0_6;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
      {
        const int h = top + 0, w = left + 7;
        const korch_f8 v0 = a0_7;
        *(korch_at8 *)(out + c0 + w * 32 + h * 512) = v0;
      }
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
  static Block *const blocks1[] = {block1_0, block1_1};
  for (int image = 0; image < 1; image += 1) {
    for (int top = 0; top < 18; top += 6) {
      for (int block = 0; block < 2; block += 1) {
        const int left = KORCH_MIN(block * 8, 8);
        const int row = top * 1 - 1;
        blocks1[block](state, in, out, image, top, left, row, 17);
      }
    }
  }
}
