// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,20,45,16]
// t4 = add(t2, bias)  # f32[1,20,45,16]
// t6 = add(t4, residual)  # f32[1,20,45,16]
// t7 = sigmoid(t6)  # f32[1,20,45,16]
// t8 = mul(t6, t7)  # f32[1,20,45,16]
// t10 = add(t8, 0.25)  # f32[1,20,45,16]
static int init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(1728);
  if (!to) return 1;
  static const int groups[][3] = {{0, 16, 16}};
  for (int g = 0; g < 1; ++g)
    for (int l = 0; l < 3; ++l)
      for (int o = 0; o < 1; ++o)
        for (int k = 0; k < 9; ++k)
          for (int n = 0; n < groups[g][2]; ++n) {
            const int channel = k % 3, tap = k / 3;
            const int at = ((groups[g][0] + n) * 3 + channel) * 3 + l;
            *to++ = n < groups[g][1] ? w[at * 3 + tap] : 0.0f;
          }
  return korch_pack(state, 1728);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile16(const float *restrict a, int line, int plane, const float *restrict b, float *restrict y, int lines, int runs, int more) {
  (void)plane;
  korch_f16 s0_0 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s4_0 = {0};
  korch_f16 s5_0 = {0};
  korch_f16 s6_0 = {0};
  korch_f16 s7_0 = {0};
  korch_f16 s8_0 = {0};
  korch_f16 s9_0 = {0};
  korch_f16 s10_0 = {0};
  korch_f16 s11_0 = {0};
  korch_f16 s12_0 = {0};
  korch_f16 s13_0 = {0};
  korch_f16 s14_0 = {0};
  for (int l = 0; l < lines; ++l, a += line)
    for (int o = 0; o < runs; ++o) {
      for (int k0 = 0; k0 < 9; k0 += 9)
      #pragma GCC unroll 9
        for (int i = 0; i < 9; ++i, b += 16) {
          const int k = k0 + i;
          korch_f16 b0 = *(const korch_at16 *)(b + 0);
          KORCH_FMA_FROM16(s0_0, a[o * 0 + 0 + k * 1], b0);
          KORCH_FMA_FROM16(s1_0, a[o * 0 + 3 + k * 1], b0);
          KORCH_FMA_FROM16(s2_0, a[o * 0 + 6 + k * 1], b0);
          KORCH_FMA_FROM16(s3_0, a[o * 0 + 9 + k * 1], b0);
          KORCH_FMA_FROM16(s4_0, a[o * 0 + 12 + k * 1], b0);
          KORCH_FMA_FROM16(s5_0, a[o * 0 + 15 + k * 1], b0);
          KORCH_FMA_FROM16(s6_0, a[o * 0 + 18 + k * 1], b0);
          KORCH_FMA_FROM16(s7_0, a[o * 0 + 21 + k * 1], b0);
          KORCH_FMA_FROM16(s8_0, a[o * 0 + 24 + k * 1], b0);
          KORCH_FMA_FROM16(s9_0, a[o * 0 + 27 + k * 1], b0);
          KORCH_FMA_FROM16(s10_0, a[o * 0 + 30 + k * 1], b0);
          KORCH_FMA_FROM16(s11_0, a[o * 0 + 33 + k * 1], b0);
          KORCH_FMA_FROM16(s12_0, a[o * 0 + 36 + k * 1], b0);
          KORCH_FMA_FROM16(s13_0, a[o * 0 + 39 + k * 1], b0);
          KORCH_FMA_FROM16(s14_0, a[o * 0 + 42 + k * 1], b0);
          __asm__ volatile("" ::: "memory");
        }
    }
  if (more) {
    s0_0 += *(korch_at16 *)(y + 0);
    s1_0 += *(korch_at16 *)(y + 16);
    s2_0 += *(korch_at16 *)(y + 32);
    s3_0 += *(korch_at16 *)(y + 48);
    s4_0 += *(korch_at16 *)(y + 64);
    s5_0 += *(korch_at16 *)(y + 80);
    s6_0 += *(korch_at16 *)(y + 96);
    s7_0 += *(korch_at16 *)(y + 112);
    s8_0 += *(korch_at16 *)(y + 128);
    s9_0 += *(korch_at16 *)(y + 144);
    s10_0 += *(korch_at16 *)(y + 160);
    s11_0 += *(korch_at16 *)(y + 176);
    s12_0 += *(korch_at16 *)(y + 192);
    s13_0 += *(korch_at16 *)(y + 208);
    s14_0 += *(korch_at16 *)(y + 224);
  }
  *(korch_at16 *)(y + 0) = s0_0;
  *(korch_at16 *)(y + 16) = s1_0;
  *(korch_at16 *)(y + 32) = s2_0;
  *(korch_at16 *)(y + 48) = s3_0;
  *(korch_at16 *)(y + 64) = s4_0;
  *(korch_at16 *)(y + 80) = s5_0;
  *(korch_at16 *)(y + 96) = s6_0;
  *(korch_at16 *)(y + 112) = s7_0;
  *(korch_at16 *)(y + 128) = s8_0;
  *(korch_at16 *)(y + 144) = s9_0;
  *(korch_at16 *)(y + 160) = s10_0;
  *(korch_at16 *)(y + 176) = s11_0;
  *(korch_at16 *)(y + 192) = s12_0;
  *(korch_at16 *)(y + 208) = s13_0;
  *(korch_at16 *)(y + 224) = s14_0;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict in3 = in[3];
  const float *restrict x = in0;
  float *restrict out = out_;
  for (int image = 0; image < 1; image += 1) {
    for (int h = 0; h < 20; h += 1) {
      for (int part = 0; part < 3; part += 1) {
        const int left = KORCH_MIN(part * 15, 30);
        const int top = h * 1 - 1;
        const int first = top < 0 ? (0 - top) / 1 : 0;
        const int last = top < 20 ? KORCH_MIN(3, (20 - top) / 1) : 0;
        const int column = left * 1 - 1;
        const float *a = x + image * INT64_C(2700) + (0 + top + first * 1) * 135 + column * 3;
        int line = 135, plane = 0;
        float patch[153] __attribute__((aligned(64)));
        if (column < 0 || column + 17 > 45) {
          const int from = KORCH_MIN(KORCH_MAX(0, -column), 17);
          const int to = KORCH_MAX(KORCH_MIN(17, 45 - column), from);
          for (int l = 0; l < (last - first) * 1; ++l) {
            float *const copy = patch + l * 51;
            const float *const seen = a + l / 1 * line + l % 1 * plane;
            memset(copy, 0, from * 12);
            memcpy(copy + from * 3, seen + from * 3, (to - from) * 12);
            memset(copy + to * 3, 0, (17 - to) * 12);
          }
          a = patch, line = 51, plane = 51;
        }
        float y[240] __attribute__((aligned(64)));
        for (int some = 0; some < 1; ++some) {
          const float *const own = a + some * 3;
          const float *const packed = (const float *)state + some * 432;
          for (int group = 0; group < 1; ++group) {
            enum { count = 16 };
            const int c0 = some * 16 + 0 + group * 16;
            const float *b = packed + 27 * (0 + group * 16);
            int more = 0;
            for (int l = first; l < last || !more; l += 14)
              for (int o = 0; o < 1; o += 1, more = 1)
                tile16(own + (l - first) * line + o * 0, line, plane, b + (l * 9 + o * 9) * 16, y, KORCH_MIN(14, last - l), KORCH_MIN(1, 1 - o), more);
            for (int w = left; w < left + 15; ++w) {
              const float *restrict z = y + (w - left) * 16;
              for (int c = 0; c < count; c += 16) {
                const korch_f16 v0 = *(const korch_at16 *)&z[c];
                const korch_f16 v1 = *(const korch_at16 *)&in2[c0 + c];
                const korch_f16 v2 = v0 + v1;
                const korch_f16 v3 = *(const korch_at16 *)&in3[c0 + c + w * 16 + h * 720];
                const korch_f16 v4 = v2 + v3;
                const korch_f16 v5 = korch_silu16(v4);
                const korch_f16 v6 = v5 + (2.5e-1f - (korch_f16){0});
                *(korch_at16 *)(out + w * 16 + h * 720 + c0 + c) = v6;
              }
            }
          }
        }
      }
    }
  }
}
