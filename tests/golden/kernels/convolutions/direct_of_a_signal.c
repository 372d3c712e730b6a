// t2 = conv(x, c1, channels_last=1, dilations=(2,), group=1, pads=(4, 1), strides=(2,))  # f32[1,21,16]
static int init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(9216);
  if (!to) return 1;
  static const int groups[][3] = {{0, 16, 16}};
  for (int g = 0; g < 1; ++g)
    for (int l = 0; l < 1; ++l)
      for (int o = 0; o < 3; ++o)
        for (int k = 0; k < 48; ++k)
          for (int n = 0; n < groups[g][2]; ++n) {
            const int channel = k, tap = o;
            const int at = ((groups[g][0] + n) * 48 + channel) * 1 + l;
            *to++ = n < groups[g][1] ? w[at * 3 + tap] : 0.0f;
          }
  return korch_pack(state, 9216);
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
  for (int l = 0; l < lines; ++l, a += line)
    for (int o = 0; o < runs; ++o) {
      for (int k0 = 0; k0 < 48; k0 += 8)
      #pragma GCC unroll 8
        for (int i = 0; i < 8; ++i, b += 16) {
          const int k = k0 + i;
          korch_f16 b0 = *(const korch_at16 *)(b + 0);
          KORCH_FMA_FROM16(s0_0, a[o * 96 + 0 + k * 1], b0);
          KORCH_FMA_FROM16(s1_0, a[o * 96 + 96 + k * 1], b0);
          KORCH_FMA_FROM16(s2_0, a[o * 96 + 192 + k * 1], b0);
          KORCH_FMA_FROM16(s3_0, a[o * 96 + 288 + k * 1], b0);
          KORCH_FMA_FROM16(s4_0, a[o * 96 + 384 + k * 1], b0);
          KORCH_FMA_FROM16(s5_0, a[o * 96 + 480 + k * 1], b0);
          KORCH_FMA_FROM16(s6_0, a[o * 96 + 576 + k * 1], b0);
          KORCH_FMA_FROM16(s7_0, a[o * 96 + 672 + k * 1], b0);
          KORCH_FMA_FROM16(s8_0, a[o * 96 + 768 + k * 1], b0);
          KORCH_FMA_FROM16(s9_0, a[o * 96 + 864 + k * 1], b0);
          KORCH_FMA_FROM16(s10_0, a[o * 96 + 960 + k * 1], b0);
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
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict x = in0;
  float *restrict out = out_;
  for (int image = 0; image < 1; image += 1) {
    for (int h = 0; h < 1; h += 1) {
      for (int part = 0; part < 2; part += 1) {
        const int left = KORCH_MIN(part * 11, 10);
        const int top = h * 1 - 0;
        const int first = top < 0 ? (0 - top) / 1 : 0;
        const int last = top < 1 ? KORCH_MIN(1, (1 - top) / 1) : 0;
        const int column = left * 2 - 4;
        const float *a = x + image * INT64_C(1968) + (0 + top + first * 1) * 1968 + column * 48;
        int line = 1968, plane = 0;
        float patch[1200] __attribute__((aligned(64)));
        if (column < 0 || column + 25 > 41) {
          const int from = KORCH_MIN(KORCH_MAX(0, -column), 25);
          const int to = KORCH_MAX(KORCH_MIN(25, 41 - column), from);
          for (int l = 0; l < (last - first) * 1; ++l) {
            float *const copy = patch + l * 1200;
            const float *const seen = a + l / 1 * line + l % 1 * plane;
            memset(copy, 0, from * 192);
            memcpy(copy + from * 48, seen + from * 48, (to - from) * 192);
            memset(copy + to * 48, 0, (25 - to) * 192);
          }
          a = patch, line = 1200, plane = 1200;
        }
        float y[176] __attribute__((aligned(64)));
        for (int some = 0; some < 1; ++some) {
          const float *const own = a + some * 48;
          const float *const packed = (const float *)state + some * 2304;
          for (int group = 0; group < 1; ++group) {
            enum { count = 16 };
            const int c0 = some * 16 + 0 + group * 16;
            const float *b = packed + 144 * (0 + group * 16);
            int more = 0;
            for (int l = first; l < last || !more; l += 1)
              for (int o = 0; o < 3; o += 2, more = 1)
                tile16(own + (l - first) * line + o * 96, line, plane, b + (l * 144 + o * 48) * 16, y, KORCH_MIN(1, last - l), KORCH_MIN(2, 3 - o), more);
            for (int w = left; w < left + 11; ++w) {
              const float *restrict z = y + (w - left) * 16;
              #pragma omp simd
              for (int c = 0; c < count; ++c) {
                const float v0 = z[c];
                out[w * 16 + c0 + c] = v0;
              }
            }
          }
        }
      }
    }
  }
}
