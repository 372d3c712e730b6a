// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=16, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,300,300,16]
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
static void block1_0(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 1 - 1;
  const int below = left + 8 >= 300;
  const float *next = in0 + ((image * height + row + below * 8) * 300 + (below ? 0 : (left + 8) * 1 + 1)) * 16;
  const float *edge = next + 128;
  const int first = top, from = row;
  for (int top = first, row = from; top < KORCH_MIN(first + 8, 300); ++top, row += 1) {
    const float *x = in0 + ((image * height + row) * 300 + column) * 16;
    int c0 = 0;
    float line[128] __attribute__((aligned(64)));
    for (; c0 + 8 <= 16; c0 += 8) {
      korch_f8 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a0_3 = {0}, a0_4 = {0}, a0_5 = {0}, a0_6 = {0}, a0_7 = {0};
      const float *taps = weights + c0 / 16 * 144 + c0 % 16;
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      if ((unsigned)(row + 0) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 0);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 16);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 32);
        { const korch_f8 v = *(const korch_at8 *)(x + 16 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 32 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 48 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 64 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 80 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 96 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 112 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 128 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
        { const korch_f8 v = *(const korch_at8 *)(x + 144 + c0); a0_7 += v * w0_2; }
      }
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      if ((unsigned)(row + 1) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 48);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 64);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 80);
        { const korch_f8 v = *(const korch_at8 *)(x + 4816 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4832 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4848 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4864 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4880 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4896 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4912 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4928 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4944 + c0); a0_7 += v * w0_2; }
      }
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      if ((unsigned)(row + 2) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 96);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 112);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 128);
        { const korch_f8 v = *(const korch_at8 *)(x + 9616 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9632 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9648 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9664 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9680 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9696 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9712 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9728 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9744 + c0); a0_7 += v * w0_2; }
      }
      {
        const int h = top + 0, w = left + 0;
        const korch_f8 v0 = a0_0;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 0 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 0));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 1;
        const korch_f8 v0 = a0_1;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 16 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 16));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 2;
        const korch_f8 v0 = a0_2;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 32 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 32));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 3;
        const korch_f8 v0 = a0_3;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 48 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 48));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 4;
        const korch_f8 v0 = a0_4;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 64 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 64));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 5;
        const korch_f8 v0 = a0_5;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 80 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 80));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 6;
        const korch_f8 v0 = a0_6;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 96 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 96));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 7;
        const korch_f8 v0 = a0_7;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 112 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 112));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
    }
  }
}
__attribute__((noinline))
static void block1_1(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 1 - 1;
  const int below = left + 8 >= 300;
  const float *next = in0 + ((image * height + row + below * 8) * 300 + (below ? 0 : (left + 8) * 1 + 1)) * 16;
  const float *edge = next + 128;
  const int first = top, from = row;
  for (int top = first, row = from; top < KORCH_MIN(first + 8, 300); ++top, row += 1) {
    const float *x = in0 + ((image * height + row) * 300 + column) * 16;
    int c0 = 0;
    float line[128] __attribute__((aligned(64)));
    for (; c0 + 8 <= 16; c0 += 8) {
      korch_f8 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a0_3 = {0}, a0_4 = {0}, a0_5 = {0}, a0_6 = {0}, a0_7 = {0};
      const float *taps = weights + c0 / 16 * 144 + c0 % 16;
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      if ((unsigned)(row + 0) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 0);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 16);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 32);
        { const korch_f8 v = *(const korch_at8 *)(x + 0 + c0); a0_0 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 16 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 32 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 48 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 64 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 80 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 96 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 112 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 128 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
        { const korch_f8 v = *(const korch_at8 *)(x + 144 + c0); a0_7 += v * w0_2; }
      }
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      if ((unsigned)(row + 1) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 48);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 64);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 80);
        { const korch_f8 v = *(const korch_at8 *)(x + 4800 + c0); a0_0 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4816 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4832 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4848 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4864 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4880 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4896 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4912 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4928 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4944 + c0); a0_7 += v * w0_2; }
      }
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      if ((unsigned)(row + 2) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 96);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 112);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 128);
        { const korch_f8 v = *(const korch_at8 *)(x + 9600 + c0); a0_0 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9616 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9632 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9648 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9664 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9680 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9696 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9712 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9728 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9744 + c0); a0_7 += v * w0_2; }
      }
      {
        const int h = top + 0, w = left + 0;
        const korch_f8 v0 = a0_0;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 0 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 0));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 1;
        const korch_f8 v0 = a0_1;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 16 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 16));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 2;
        const korch_f8 v0 = a0_2;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 32 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 32));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 3;
        const korch_f8 v0 = a0_3;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 48 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 48));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 4;
        const korch_f8 v0 = a0_4;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 64 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 64));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 5;
        const korch_f8 v0 = a0_5;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 80 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 80));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 6;
        const korch_f8 v0 = a0_6;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 96 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 96));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 7;
        const korch_f8 v0 = a0_7;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 112 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 112));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
    }
  }
}
__attribute__((noinline))
static void block1_2(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const int column = left * 1 - 1;
  const int below = left + 8 >= 300;
  const float *next = in0 + ((image * height + row + below * 8) * 300 + (below ? 0 : (left + 8) * 1 + 1)) * 16;
  const float *edge = next + 128;
  const int first = top, from = row;
  for (int top = first, row = from; top < KORCH_MIN(first + 8, 300); ++top, row += 1) {
    const float *x = in0 + ((image * height + row) * 300 + column) * 16;
    int c0 = 0;
    float line[128] __attribute__((aligned(64)));
    for (; c0 + 8 <= 16; c0 += 8) {
      korch_f8 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a0_3 = {0}, a0_4 = {0}, a0_5 = {0}, a0_6 = {0}, a0_7 = {0};
      const float *taps = weights + c0 / 16 * 144 + c0 % 16;
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      if ((unsigned)(row + 0) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 0);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 16);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 32);
        { const korch_f8 v = *(const korch_at8 *)(x + 0 + c0); a0_0 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 16 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 32 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 48 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 64 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 80 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 96 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 112 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 128 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
      }
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      if ((unsigned)(row + 1) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 48);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 64);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 80);
        { const korch_f8 v = *(const korch_at8 *)(x + 4800 + c0); a0_0 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4816 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4832 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4848 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4864 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4880 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4896 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4912 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 4928 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
      }
      __builtin_prefetch(next, 0, 2), next += 16; if (next >= edge) next = (edge += 4800) - 128;
      if ((unsigned)(row + 2) < (unsigned)height) {
        const korch_f8 w0_0 = *(const korch_at8 *)(taps + 96);
        const korch_f8 w0_1 = *(const korch_at8 *)(taps + 112);
        const korch_f8 w0_2 = *(const korch_at8 *)(taps + 128);
        { const korch_f8 v = *(const korch_at8 *)(x + 9600 + c0); a0_0 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9616 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9632 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9648 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9664 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9680 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9696 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9712 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
        { const korch_f8 v = *(const korch_at8 *)(x + 9728 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
      }
      {
        const int h = top + 0, w = left + 0;
        const korch_f8 v0 = a0_0;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 0 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 0));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 1;
        const korch_f8 v0 = a0_1;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 16 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 16));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 2;
        const korch_f8 v0 = a0_2;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 32 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 32));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 3;
        const korch_f8 v0 = a0_3;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 48 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 48));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 4;
        const korch_f8 v0 = a0_4;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 64 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 64));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 5;
        const korch_f8 v0 = a0_5;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 80 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 80));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 6;
        const korch_f8 v0 = a0_6;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 96 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 96));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
      {
        const int h = top + 0, w = left + 7;
        const korch_f8 v0 = a0_7;
        if (c0 % 16 < 8)
          *(korch_f8 *)(line + 112 + c0 % 16) = v0;
        else {
          korch_stream8(out + c0 + w * 16 + h * 4800 - 8, *(korch_f8 *)(line + 112));
          korch_stream8(out + c0 + w * 16 + h * 4800, v0);
        }
      }
    }
  }
}
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict x = in0;
  float *restrict out = out_;
  typedef void Block(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height);
  static Block *const blocks1[] = {block1_0, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_1, block1_2};
  static const int begins[] = {0, 722, 1444};
  korch_turns turns = korch_share_out(omp_get_thread_num(), 2, begins, NULL);
  for (int turn; (turn = korch_take(&turns)) >= 0;) {
    const int image = turn / 1444;
    const int top = turn / 38 * 8;
    const int block = turn % 38;
    const int left = KORCH_MIN(block * 8, 292);
    const int row = top * 1 - 1;
    blocks1[block](state, in, out, image, top, left, row, 300);
  }
  korch_streamed();
}
