// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=16, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,32,4,16]
// t4 = add(t2, c3)  # f32[1,32,4,16]
// t5 = relu(t4)  # f32[1,32,4,16]
// t7 = conv(t5, c6, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,32,4,16]
// t9 = add(t7, c8)  # f32[1,32,4,16]
// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=16, pads=(1, 1, 0, 1), strides=(1, 1))  # f32[1,16,4,16]
// t4 = add(t2, c3)  # f32[1,16,4,16]
// t5 = relu(t4)  # f32[1,16,4,16]
static int stage0_init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(576);
  if (!to) return 1;
  for (int c = 0; c < 16; ++c)
    for (int t = 0; t < 9; ++t) to[(c / 16 * 9 + t) * 16 + c % 16] = w[c * 9 + t];
  return korch_pack(state, 576);
}
static void stage0_free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void stage0_block2_0(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const float *restrict in2 = in[2]; (void)in2;
  const int column = left * 1 - 1;
  const float *x = in0 + ((image * height + row) * 4 + column) * 16;
  int c0 = 0;
  for (; c0 + 16 <= 16; c0 += 16) {
    korch_f16 a0_0 = *(const korch_at16 *)(in2 + c0), a0_1 = *(const korch_at16 *)(in2 + c0), a0_2 = *(const korch_at16 *)(in2 + c0), a0_3 = *(const korch_at16 *)(in2 + c0), a1_0 = *(const korch_at16 *)(in2 + c0), a1_1 = *(const korch_at16 *)(in2 + c0), a1_2 = *(const korch_at16 *)(in2 + c0), a1_3 = *(const korch_at16 *)(in2 + c0);
    const float *taps = weights + c0 / 16 * 144 + c0 % 16;
    if ((unsigned)(row + 0) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 0);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 16);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 32);
      { const korch_f16 v = *(const korch_at16 *)(x + 16 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 32 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 48 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 64 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; }
    }
    if ((unsigned)(row + 1) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 48);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 64);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 80);
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 0);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 16);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 32);
      { const korch_f16 v = *(const korch_at16 *)(x + 80 + c0); a0_0 += v * w0_1; a1_0 += v * w1_1; a0_1 += v * w0_0; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 96 + c0); a0_0 += v * w0_2; a1_0 += v * w1_2; a0_1 += v * w0_1; a1_1 += v * w1_1; a0_2 += v * w0_0; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 112 + c0); a0_1 += v * w0_2; a1_1 += v * w1_2; a0_2 += v * w0_1; a1_2 += v * w1_1; a0_3 += v * w0_0; a1_3 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 128 + c0); a0_2 += v * w0_2; a1_2 += v * w1_2; a0_3 += v * w0_1; a1_3 += v * w1_1; }
    }
    if ((unsigned)(row + 2) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 96);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 112);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 128);
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 48);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 64);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 80);
      { const korch_f16 v = *(const korch_at16 *)(x + 144 + c0); a0_0 += v * w0_1; a1_0 += v * w1_1; a0_1 += v * w0_0; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 160 + c0); a0_0 += v * w0_2; a1_0 += v * w1_2; a0_1 += v * w0_1; a1_1 += v * w1_1; a0_2 += v * w0_0; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 176 + c0); a0_1 += v * w0_2; a1_1 += v * w1_2; a0_2 += v * w0_1; a1_2 += v * w1_1; a0_3 += v * w0_0; a1_3 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 192 + c0); a0_2 += v * w0_2; a1_2 += v * w1_2; a0_3 += v * w0_1; a1_3 += v * w1_1; }
    }
    if ((unsigned)(row + 3) < (unsigned)height) {
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 96);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 112);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 128);
      { const korch_f16 v = *(const korch_at16 *)(x + 208 + c0); a1_0 += v * w1_1; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 224 + c0); a1_0 += v * w1_2; a1_1 += v * w1_1; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 240 + c0); a1_1 += v * w1_2; a1_2 += v * w1_1; a1_3 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 256 + c0); a1_2 += v * w1_2; a1_3 += v * w1_1; }
    }
    {
      const int h = top + 0, w = left + 0;
      const korch_f16 v0 = a0_0;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 0, w = left + 1;
      const korch_f16 v0 = a0_1;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 0, w = left + 2;
      const korch_f16 v0 = a0_2;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 0, w = left + 3;
      const korch_f16 v0 = a0_3;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 1, w = left + 0;
      const korch_f16 v0 = a1_0;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 1, w = left + 1;
      const korch_f16 v0 = a1_1;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 1, w = left + 2;
      const korch_f16 v0 = a1_2;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 1, w = left + 3;
      const korch_f16 v0 = a1_3;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
  }
}
__attribute__((noinline))
static void stage0_run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict x = in0;
  float *restrict out = out_;
  typedef void Block(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height);
  static Block *const blocks2[] = {stage0_block2_0};
  for (int image = 0; image < 1; image += 1) {
    for (int top = 0; top < 16; top += 2) {
      for (int block = 0; block < 1; block += 1) {
        const int left = KORCH_MIN(block * 4, 0);
        const int row = top * 1 - 1;
        blocks2[block](state, in, out, image, top, left, row, 17);
      }
    }
  }
}
// t7 = conv(t5, c6, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,16,4,16]
// t9 = add(t7, c8)  # f32[1,16,4,16]
static int stage1_init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  const float *in2 = in[2]; (void)in2;
  float *to = *state = korch_aligned(1024);
  if (!to) return 1;
  static const int groups[][3] = {{0, 16, 16}};
  for (int g = 0; g < 1; ++g) {
    for (int k0 = 0; k0 < 16; ++k0) {
      for (int j = 0; j < groups[g][2]; ++j) {
        const int n = KORCH_MIN(groups[g][0] + j, 15);
        const float v0 = in1[k0 + n * 16];
        *to++ = j < groups[g][1] ? v0 : 0.0f;
      }
    }
  }
  return korch_pack(state, 1024);
}
static void stage1_free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void stage1_tile_16_16_16_1_16_16_0_all(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *restrict e0) {
  korch_f16 s0_0 = *(const korch_at16 *)(e0 + 0);
  korch_f16 s1_0 = s0_0;
  korch_f16 s2_0 = s0_0;
  korch_f16 s3_0 = s0_0;
  korch_f16 s4_0 = s0_0;
  korch_f16 s5_0 = s0_0;
  korch_f16 s6_0 = s0_0;
  korch_f16 s7_0 = s0_0;
  korch_f16 s8_0 = s0_0;
  korch_f16 s9_0 = s0_0;
  korch_f16 s10_0 = s0_0;
  korch_f16 s11_0 = s0_0;
  korch_f16 s12_0 = s0_0;
  korch_f16 s13_0 = s0_0;
  korch_f16 s14_0 = s0_0;
  korch_f16 s15_0 = s0_0;
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 16 + 0);
      KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
      KORCH_FMA_FROM16(s1_0, a[16 + k * 1], b0);
      KORCH_FMA_FROM16(s2_0, a[32 + k * 1], b0);
      KORCH_FMA_FROM16(s3_0, a[48 + k * 1], b0);
      KORCH_FMA_FROM16(s4_0, a[64 + k * 1], b0);
      KORCH_FMA_FROM16(s5_0, a[80 + k * 1], b0);
      KORCH_FMA_FROM16(s6_0, a[96 + k * 1], b0);
      KORCH_FMA_FROM16(s7_0, a[112 + k * 1], b0);
      KORCH_FMA_FROM16(s8_0, a[128 + k * 1], b0);
      KORCH_FMA_FROM16(s9_0, a[144 + k * 1], b0);
      KORCH_FMA_FROM16(s10_0, a[160 + k * 1], b0);
      KORCH_FMA_FROM16(s11_0, a[176 + k * 1], b0);
      KORCH_FMA_FROM16(s12_0, a[192 + k * 1], b0);
      KORCH_FMA_FROM16(s13_0, a[208 + k * 1], b0);
      KORCH_FMA_FROM16(s14_0, a[224 + k * 1], b0);
      KORCH_FMA_FROM16(s15_0, a[240 + k * 1], b0);
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 16 + 0);
    KORCH_FMA_FROM16(s0_0, a[0 + k * 1], b0);
    KORCH_FMA_FROM16(s1_0, a[16 + k * 1], b0);
    KORCH_FMA_FROM16(s2_0, a[32 + k * 1], b0);
    KORCH_FMA_FROM16(s3_0, a[48 + k * 1], b0);
    KORCH_FMA_FROM16(s4_0, a[64 + k * 1], b0);
    KORCH_FMA_FROM16(s5_0, a[80 + k * 1], b0);
    KORCH_FMA_FROM16(s6_0, a[96 + k * 1], b0);
    KORCH_FMA_FROM16(s7_0, a[112 + k * 1], b0);
    KORCH_FMA_FROM16(s8_0, a[128 + k * 1], b0);
    KORCH_FMA_FROM16(s9_0, a[144 + k * 1], b0);
    KORCH_FMA_FROM16(s10_0, a[160 + k * 1], b0);
    KORCH_FMA_FROM16(s11_0, a[176 + k * 1], b0);
    KORCH_FMA_FROM16(s12_0, a[192 + k * 1], b0);
    KORCH_FMA_FROM16(s13_0, a[208 + k * 1], b0);
    KORCH_FMA_FROM16(s14_0, a[224 + k * 1], b0);
    KORCH_FMA_FROM16(s15_0, a[240 + k * 1], b0);
    __asm__ volatile("" ::: "memory");
  }
  *(korch_at16 *)(c + 0) = s0_0;
  *(korch_at16 *)(c + 16) = s1_0;
  *(korch_at16 *)(c + 32) = s2_0;
  *(korch_at16 *)(c + 48) = s3_0;
  *(korch_at16 *)(c + 64) = s4_0;
  *(korch_at16 *)(c + 80) = s5_0;
  *(korch_at16 *)(c + 96) = s6_0;
  *(korch_at16 *)(c + 112) = s7_0;
  *(korch_at16 *)(c + 128) = s8_0;
  *(korch_at16 *)(c + 144) = s9_0;
  *(korch_at16 *)(c + 160) = s10_0;
  *(korch_at16 *)(c + 176) = s11_0;
  *(korch_at16 *)(c + 192) = s12_0;
  *(korch_at16 *)(c + 208) = s13_0;
  *(korch_at16 *)(c + 224) = s14_0;
  *(korch_at16 *)(c + 240) = s15_0;
}
__attribute__((noinline))
static void stage1_run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  float *restrict out = out_;
  for (int i0_1a = 0; i0_1a < 2; ++i0_1a) {
    // t7 = conv(t5, c6, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,16,4,16]
    {
      const int k0 = 0;
      const int count = 16;
      const int first = 0;
      const float *restrict a = in0 + i0_1a * 512 + first * 16 + k0 * 1;
      float *restrict c = out + i0_1a * 512 + first * 16;
      const float *restrict b = (const float *)state + 16 * (0);
      const float *restrict e0 = in2 + 0 + first * 0;
      {
        for (int r = 0; r < 32; r += 16) {
          stage1_tile_16_16_16_1_16_16_0_all(a + r * 16, b + 0 + k0 * 16, c + r * 16 + 0, count, e0 + r * 0 + 0);
        }
      }
    }
  }
}
// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=16, pads=(0, 1, 1, 1), strides=(1, 1))  # f32[1,16,4,16]
// t4 = add(t2, c3)  # f32[1,16,4,16]
// t5 = relu(t4)  # f32[1,16,4,16]
static int stage2_init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(576);
  if (!to) return 1;
  for (int c = 0; c < 16; ++c)
    for (int t = 0; t < 9; ++t) to[(c / 16 * 9 + t) * 16 + c % 16] = w[c * 9 + t];
  return korch_pack(state, 576);
}
static void stage2_free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void stage2_block2_0(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height) {
  const float *restrict in0 = in[0]; (void)in0;
  const float *restrict in1 = in[1]; (void)in1;
  const float *restrict in2 = in[2]; (void)in2;
  const int column = left * 1 - 1;
  const float *x = in0 + ((image * height + row) * 4 + column) * 16;
  int c0 = 0;
  for (; c0 + 16 <= 16; c0 += 16) {
    korch_f16 a0_0 = *(const korch_at16 *)(in2 + c0), a0_1 = *(const korch_at16 *)(in2 + c0), a0_2 = *(const korch_at16 *)(in2 + c0), a0_3 = *(const korch_at16 *)(in2 + c0), a1_0 = *(const korch_at16 *)(in2 + c0), a1_1 = *(const korch_at16 *)(in2 + c0), a1_2 = *(const korch_at16 *)(in2 + c0), a1_3 = *(const korch_at16 *)(in2 + c0);
    const float *taps = weights + c0 / 16 * 144 + c0 % 16;
    if ((unsigned)(row + 0) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 0);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 16);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 32);
      { const korch_f16 v = *(const korch_at16 *)(x + 16 + c0); a0_0 += v * w0_1; a0_1 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 32 + c0); a0_0 += v * w0_2; a0_1 += v * w0_1; a0_2 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 48 + c0); a0_1 += v * w0_2; a0_2 += v * w0_1; a0_3 += v * w0_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 64 + c0); a0_2 += v * w0_2; a0_3 += v * w0_1; }
    }
    if ((unsigned)(row + 1) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 48);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 64);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 80);
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 0);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 16);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 32);
      { const korch_f16 v = *(const korch_at16 *)(x + 80 + c0); a0_0 += v * w0_1; a1_0 += v * w1_1; a0_1 += v * w0_0; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 96 + c0); a0_0 += v * w0_2; a1_0 += v * w1_2; a0_1 += v * w0_1; a1_1 += v * w1_1; a0_2 += v * w0_0; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 112 + c0); a0_1 += v * w0_2; a1_1 += v * w1_2; a0_2 += v * w0_1; a1_2 += v * w1_1; a0_3 += v * w0_0; a1_3 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 128 + c0); a0_2 += v * w0_2; a1_2 += v * w1_2; a0_3 += v * w0_1; a1_3 += v * w1_1; }
    }
    if ((unsigned)(row + 2) < (unsigned)height) {
      const korch_f16 w0_0 = *(const korch_at16 *)(taps + 96);
      const korch_f16 w0_1 = *(const korch_at16 *)(taps + 112);
      const korch_f16 w0_2 = *(const korch_at16 *)(taps + 128);
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 48);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 64);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 80);
      { const korch_f16 v = *(const korch_at16 *)(x + 144 + c0); a0_0 += v * w0_1; a1_0 += v * w1_1; a0_1 += v * w0_0; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 160 + c0); a0_0 += v * w0_2; a1_0 += v * w1_2; a0_1 += v * w0_1; a1_1 += v * w1_1; a0_2 += v * w0_0; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 176 + c0); a0_1 += v * w0_2; a1_1 += v * w1_2; a0_2 += v * w0_1; a1_2 += v * w1_1; a0_3 += v * w0_0; a1_3 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 192 + c0); a0_2 += v * w0_2; a1_2 += v * w1_2; a0_3 += v * w0_1; a1_3 += v * w1_1; }
    }
    if ((unsigned)(row + 3) < (unsigned)height) {
      const korch_f16 w1_0 = *(const korch_at16 *)(taps + 96);
      const korch_f16 w1_1 = *(const korch_at16 *)(taps + 112);
      const korch_f16 w1_2 = *(const korch_at16 *)(taps + 128);
      { const korch_f16 v = *(const korch_at16 *)(x + 208 + c0); a1_0 += v * w1_1; a1_1 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 224 + c0); a1_0 += v * w1_2; a1_1 += v * w1_1; a1_2 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 240 + c0); a1_1 += v * w1_2; a1_2 += v * w1_1; a1_3 += v * w1_0; }
      { const korch_f16 v = *(const korch_at16 *)(x + 256 + c0); a1_2 += v * w1_2; a1_3 += v * w1_1; }
    }
    {
      const int h = top + 0, w = left + 0;
      const korch_f16 v0 = a0_0;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 0, w = left + 1;
      const korch_f16 v0 = a0_1;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 0, w = left + 2;
      const korch_f16 v0 = a0_2;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 0, w = left + 3;
      const korch_f16 v0 = a0_3;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 1, w = left + 0;
      const korch_f16 v0 = a1_0;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 1, w = left + 1;
      const korch_f16 v0 = a1_1;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 1, w = left + 2;
      const korch_f16 v0 = a1_2;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
    {
      const int h = top + 1, w = left + 3;
      const korch_f16 v0 = a1_3;
      const korch_f16 v1 = korch_larger16((korch_f16){0}, v0);
      *(korch_at16 *)(out + c0 + w * 16 + h * 64) = v1;
    }
  }
}
__attribute__((noinline))
static void stage2_run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict x = in0;
  float *restrict out = out_;
  typedef void Block(const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, int height);
  static Block *const blocks2[] = {stage2_block2_0};
  for (int image = 0; image < 1; image += 1) {
    for (int top = 0; top < 16; top += 2) {
      for (int block = 0; block < 1; block += 1) {
        const int left = KORCH_MIN(block * 4, 0);
        const int row = top * 1 - 0;
        blocks2[block](state, in, out, image, top, left, row, 17);
      }
    }
  }
}
static void free(void *state) {
  for (int t = 0; t < 2; ++t) {
    void **const own = (void **)state + t * 3;
    (void)own;
    if (own[0] && !t) stage0_free(own[0]);
    if (own[1] && !t) stage1_free(own[1]);
  }
  free(state);
}
static int init(void **state, const void *const *in) {
  int status = 0;
  #ifdef _OPENMP
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  #endif
  void **const all = calloc(6, sizeof *all);
  if (!all) status = 1;
  for (int t = 0; !status && t < 2; ++t) {
    void **const own = all + t * 3;
    const void *const in0[] = {NULL, in[1], in[2]};
    if (t) own[0] = all[0]; else if (!status) status = stage0_init(&own[0], in0);
    const void *const in1[] = {NULL, in[3], in[4]};
    if (t) own[1] = all[1]; else if (!status) status = stage1_init(&own[1], in1);
    own[2] = own[0];
  }
  #ifdef _OPENMP
  omp_set_num_threads(threads);
  #endif
  if (status && all) free(all);
  *state = status ? NULL : all;
  return status;
}
static void strip0(void **own, const void *const *in, char *out, char *scratch, const int64_t *at) {
  {
    char *const made = scratch + 0 + at[1];
    const void *const given[] = {(const char *)in[0] + at[0], (const char *)in[1], (const char *)in[2], made};
    stage0_run(own[0], given, made, scratch + 4096);
  }
  {
    char *const made = out + at[3];
    const void *const given[] = {scratch + 0 + at[2], (const char *)in[3], (const char *)in[4], made};
    stage1_run(own[1], given, made, scratch + 4096);
  }
}
static void strip1(void **own, const void *const *in, char *out, char *scratch, const int64_t *at) {
  {
    char *const made = scratch + 0 + at[1];
    const void *const given[] = {(const char *)in[0] + at[0], (const char *)in[1], (const char *)in[2], made};
    stage2_run(own[2], given, made, scratch + 4096);
  }
  {
    char *const made = out + at[3];
    const void *const given[] = {scratch + 0 + at[2], (const char *)in[3], (const char *)in[4], made};
    stage1_run(own[1], given, made, scratch + 4096);
  }
}
static const int64_t at[][4] = {
  {0, 0, 0, 0},
  {0, 0, 0, 0},
  {3840, 0, 0, 4096},
  {3840, 0, 0, 4096},
};
static const short form[] = {0, 0, 1, 1};
static const int rows[][3] = {
  {0, 1, 2},
  {2, 3, 4},
};
static const unsigned char anew[] = {1, 1};
static const int begins[] = {0, 1, 2};
static void team(void *state, const void *const *in, void *out, void *workspace) {
  const int thread = omp_get_thread_num();
  void **const own = (void **)state + thread * 3;
  char *const scratch = (char *)workspace + thread * INT64_C(4096);
  korch_turns turns = korch_share_out(thread, 2, begins, anew);
  for (int turn, next = -1; (turn = korch_take(&turns)) >= 0; next = turn + 1) {
    const int *const rows = rows[turn] + (turn != next);
    for (int i = rows[0]; i < rows[1]; ++i)
    switch (form[i]) {
      case 0: strip0(own, in, out, scratch, at[i]); break;
      case 1: strip1(own, in, out, scratch, at[i]); break;
    }
  }
}
