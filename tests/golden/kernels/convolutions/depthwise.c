// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=16, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,8,8,16]
// t4 = add(t2, bias)  # f32[1,8,8,16]
// t6 = add(t4, residual)  # f32[1,8,8,16]
// t7 = tanh(t6)  # f32[1,8,8,16]
// t9 = mul(t7, 0.5)  # f32[1,8,8,16]
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
  const float *restrict in2 = in[2]; (void)in2;
  const float *restrict in3 = in[3]; (void)in3;
  const int column = left * 1 - 1;
  const float *x = in0 + ((image * height + row) * 8 + column) * 16;
  int c0 = 0;
  for (; c0 + 16 <= 16; c0 += 16) {
    korch_f16 a0_0 = {0}, a0_1 = {0}, a0_2 = {0}, a0_3 = {0}, a0_4 = {0}, a0_5 = {0}, a0_6 = {0}, a0_7 = {0}, a1_0 = {0}, a1_1 = {0}, a1_2 = {0}, a1_3 = {0}, a1_4 = {0}, a1_5 = {0}, a1_6 = {0}, a1_7 = {0};
    const float *taps = weights + c0 / 16 * 144 + c0 % 16;
    if ((unsigned)(row + 0) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 0);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 16);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 32);
      { const korch_f16 v = *(const korch_at16 *)(x + 16 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 32 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 48 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 64 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; a0_4 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 80 + c0); a0_3 += v * w0_2; a0_4 += v * w0_1; a0_5 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 96 + c0); a0_4 += v * w0_2; a0_5 += v * w0_1; a0_6 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 112 + c0); a0_5 += v * w0_2; a0_6 += v * w0_1; a0_7 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 128 + c0); a0_6 += v * w0_2; a0_7 += v * w0_1; }
    }
    if ((unsigned)(row + 1) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 48);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 64);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 80);
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 0);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 16);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 32);
      { const korch_f16 v = *(const korch_at16 *)(x + 144 + c0); a0_0 += v * w0_1; a1_0 += v * w1_1; a0_1 += v * w0_0; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 160 + c0); a0_0 += v * w0_2; a1_0 += v * w1_2; a0_1 += v * w0_1; a1_1 += v * w1_1; a0_2 += v * w0_0; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 176 + c0); a0_1 += v * w0_2; a1_1 += v * w1_2; a0_2 += v * w0_1; a1_2 += v * w1_1; a0_3 += v * w0_0; a1_3 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 192 + c0); a0_2 += v * w0_2; a1_2 += v * w1_2; a0_3 += v * w0_1; a1_3 += v * w1_1; a0_4 += v * w0_0; a1_4 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 208 + c0); a0_3 += v * w0_2; a1_3 += v * w1_2; a0_4 += v * w0_1; a1_4 += v * w1_1; a0_5 += v * w0_0; a1_5 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 224 + c0); a0_4 += v * w0_2; a1_4 += v * w1_2; a0_5 += v * w0_1; a1_5 += v * w1_1; a0_6 += v * w0_0; a1_6 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 240 + c0); a0_5 += v * w0_2; a1_5 += v * w1_2; a0_6 += v * w0_1; a1_6 += v * w1_1; a0_7 += v * w0_0; a1_7 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 256 + c0); a0_6 += v * w0_2; a1_6 += v * w1_2; a0_7 += v * w0_1; a1_7 += v * w1_1; }
    }
    if ((unsigned)(row + 2) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 96);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 112);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 128);
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 48);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 64);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 80);
      { const korch_f16 v = *(const korch_at16 *)(x + 272 + c0); a0_0 += v * w0_1; a1_0 += v * w1_1; a0_1 += v * w0_0; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 288 + c0); a0_0 += v * w0_2; a1_0 += v * w1_2; a0_1 += v * w0_1; a1_1 += v * w1_1; a0_2 += v * w0_0; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 304 + c0); a0_1 += v * w0_2; a1_1 += v * w1_2; a0_2 += v * w0_1; a1_2 += v * w1_1; a0_3 += v * w0_0; a1_3 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 320 + c0); a0_2 += v * w0_2; a1_2 += v * w1_2; a0_3 += v * w0_1; a1_3 += v * w1_1; a0_4 += v * w0_0; a1_4 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 336 + c0); a0_3 += v * w0_2; a1_3 += v * w1_2; a0_4 += v * w0_1; a1_4 += v * w1_1; a0_5 += v * w0_0; a1_5 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 352 + c0); a0_4 += v * w0_2; a1_4 += v * w1_2; a0_5 += v * w0_1; a1_5 += v * w1_1; a0_6 += v * w0_0; a1_6 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 368 + c0); a0_5 += v * w0_2; a1_5 += v * w1_2; a0_6 += v * w0_1; a1_6 += v * w1_1; a0_7 += v * w0_0; a1_7 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 384 + c0); a0_6 += v * w0_2; a1_6 += v * w1_2; a0_7 += v * w0_1; a1_7 += v * w1_1; }
    }
    if ((unsigned)(row + 3) < (unsigned)height) {
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 96);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 112);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 128);
      { const korch_f16 v = *(const korch_at16 *)(x + 400 + c0); a1_0 += v * w1_1; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 416 + c0); a1_0 += v * w1_2; a1_1 += v * w1_1; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 432 + c0); a1_1 += v * w1_2; a1_2 += v * w1_1; a1_3 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 448 + c0); a1_2 += v * w1_2; a1_3 += v * w1_1; a1_4 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 464 + c0); a1_3 += v * w1_2; a1_4 += v * w1_1; a1_5 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 480 + c0); a1_4 += v * w1_2; a1_5 += v * w1_1; a1_6 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 496 + c0); a1_5 += v * w1_2; a1_6 += v * w1_1; a1_7 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 512 + c0); a1_6 += v * w1_2; a1_7 += v * w1_1; }
    }
    enum { count = 16 };
    float y[256] __attribute__((aligned(64)));
    *(korch_at16 *)(y + 0) = a0_0;
    *(korch_at16 *)(y + 16) = a0_1;
    *(korch_at16 *)(y + 32) = a0_2;
    *(korch_at16 *)(y + 48) = a0_3;
    *(korch_at16 *)(y + 64) = a0_4;
    *(korch_at16 *)(y + 80) = a0_5;
    *(korch_at16 *)(y + 96) = a0_6;
    *(korch_at16 *)(y + 112) = a0_7;
    *(korch_at16 *)(y + 128) = a1_0;
    *(korch_at16 *)(y + 144) = a1_1;
    *(korch_at16 *)(y + 160) = a1_2;
    *(korch_at16 *)(y + 176) = a1_3;
    *(korch_at16 *)(y + 192) = a1_4;
    *(korch_at16 *)(y + 208) = a1_5;
    *(korch_at16 *)(y + 224) = a1_6;
    *(korch_at16 *)(y + 240) = a1_7;
    for (int h = top; h < top + 2; ++h) {
      for (int w = left; w < left + 8; ++w) {
        const float *restrict z = y + ((h - top) * 8 + w - left) * 16;
        #pragma omp simd
        for (int c = 0; c < count; ++c) {
          const float v0 = z[c];
          const float v1 = in2[c0 + c];
          const float v2 = v0 + v1;
          const float v3 = in3[c0 + c + w * 16 + h * 128];
          const float v4 = v2 + v3;
          const float v5 = korch_tanhf(v4);
          const float v6 = v5 * 5.0e-1f;
          out[w * 16 + h * 128 + c0 + c] = v6;
        }
      }
    }
  }
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict in3 = in[3];
  const float *restrict x = in0;
  float *restrict out = out_;
  typedef void Block(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height);
  static Block *const blocks2[] = {block2_0};
  for (int image = 0; image < 1; image += 1) {
    for (int top = 0; top < 8; top += 2) {
      for (int block = 0; block < 1; block += 1) {
        const int left = KORCH_MIN(block * 8, 0);
        const int row = top * 1 - 1;
        blocks2[block](state, in, out, image, top, left, row, 8);
      }
    }
  }
}
