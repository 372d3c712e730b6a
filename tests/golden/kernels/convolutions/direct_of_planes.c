// t1 = transpose(x, perm=(0, 2, 3, 1))  # f32[1,33,65,3]
// t3 = conv(t1, c2, channels_last=1, dilations=(1, 1), group=1, pads=(3, 3, 3, 3), strides=(4, 4))  # f32[1,9,17,32]
static int init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(18816);
  if (!to) return 1;
  static const int groups[][3] = {{0, 32, 32}};
  for (int g = 0; g < 1; ++g)
    for (int l = 0; l < 7; ++l)
      for (int o = 0; o < 3; ++o)
        for (int k = 0; k < 7; ++k)
          for (int n = 0; n < groups[g][2]; ++n) {
            const int channel = o, tap = k;
            const int at = ((groups[g][0] + n) * 3 + channel) * 7 + l;
            *to++ = n < groups[g][1] ? w[at * 7 + tap] : 0.0f;
          }
  return korch_pack(state, 18816);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile16_16(const float *restrict a, int line, int plane, const float *restrict b, float *restrict y, int lines, int runs, int more) {
  (void)plane;
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s1_1 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s2_1 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s3_1 = {0};
  korch_f16 s4_0 = {0};
  korch_f16 s4_1 = {0};
  korch_f16 s5_0 = {0};
  korch_f16 s5_1 = {0};
  korch_f16 s6_0 = {0};
  korch_f16 s6_1 = {0};
  korch_f16 s7_0 = {0};
  korch_f16 s7_1 = {0};
  korch_f16 s8_0 = {0};
  korch_f16 s8_1 = {0};
  for (int l = 0; l < lines; ++l, a += line)
    for (int o = 0; o < runs; ++o) {
      for (int k0 = 0; k0 < 7; k0 += 7)
      #pragma GCC unroll 7
        for (int i = 0; i < 7; ++i, b += 32) {
          const int k = k0 + i;
          korch_f16 b0 = *(const korch_at16 *)(b + 0);
          korch_f16 b1 = *(const korch_at16 *)(b + 16);
          { const float x = a[o * plane + 0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); }
          { const float x = a[o * plane + 4 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); }
          { const float x = a[o * plane + 8 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); }
          { const float x = a[o * plane + 12 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); }
          { const float x = a[o * plane + 16 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); }
          { const float x = a[o * plane + 20 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s5_0, all, b0); KORCH_FMA16(s5_1, all, b1); }
          { const float x = a[o * plane + 24 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s6_0, all, b0); KORCH_FMA16(s6_1, all, b1); }
          { const float x = a[o * plane + 28 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s7_0, all, b0); KORCH_FMA16(s7_1, all, b1); }
          { const float x = a[o * plane + 32 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s8_0, all, b0); KORCH_FMA16(s8_1, all, b1); }
          __asm__ volatile("" ::: "memory");
        }
    }
  if (more) {
    s0_0 += *(korch_at16 *)(y + 0);
    s0_1 += *(korch_at16 *)(y + 16);
    s1_0 += *(korch_at16 *)(y + 32);
    s1_1 += *(korch_at16 *)(y + 48);
    s2_0 += *(korch_at16 *)(y + 64);
    s2_1 += *(korch_at16 *)(y + 80);
    s3_0 += *(korch_at16 *)(y + 96);
    s3_1 += *(korch_at16 *)(y + 112);
    s4_0 += *(korch_at16 *)(y + 128);
    s4_1 += *(korch_at16 *)(y + 144);
    s5_0 += *(korch_at16 *)(y + 160);
    s5_1 += *(korch_at16 *)(y + 176);
    s6_0 += *(korch_at16 *)(y + 192);
    s6_1 += *(korch_at16 *)(y + 208);
    s7_0 += *(korch_at16 *)(y + 224);
    s7_1 += *(korch_at16 *)(y + 240);
    s8_0 += *(korch_at16 *)(y + 256);
    s8_1 += *(korch_at16 *)(y + 272);
  }
  *(korch_at16 *)(y + 0) = s0_0;
  *(korch_at16 *)(y + 16) = s0_1;
  *(korch_at16 *)(y + 32) = s1_0;
  *(korch_at16 *)(y + 48) = s1_1;
  *(korch_at16 *)(y + 64) = s2_0;
  *(korch_at16 *)(y + 80) = s2_1;
  *(korch_at16 *)(y + 96) = s3_0;
  *(korch_at16 *)(y + 112) = s3_1;
  *(korch_at16 *)(y + 128) = s4_0;
  *(korch_at16 *)(y + 144) = s4_1;
  *(korch_at16 *)(y + 160) = s5_0;
  *(korch_at16 *)(y + 176) = s5_1;
  *(korch_at16 *)(y + 192) = s6_0;
  *(korch_at16 *)(y + 208) = s6_1;
  *(korch_at16 *)(y + 224) = s7_0;
  *(korch_at16 *)(y + 240) = s7_1;
  *(korch_at16 *)(y + 256) = s8_0;
  *(korch_at16 *)(y + 272) = s8_1;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict x = in0;
  float *restrict out = out_;
  for (int image = 0; image < 1; image += 1) {
    for (int h = 0; h < 9; h += 1) {
      for (int part = 0; part < 2; part += 1) {
        const int left = KORCH_MIN(part * 9, 8);
        const int top = h * 4 - 3;
        const int first = top < 0 ? (0 - top) / 1 : 0;
        const int last = top < 33 ? KORCH_MIN(7, (33 - top) / 1) : 0;
        const int column = left * 4 - 3;
        const float *a = x + image * INT64_C(6435) + (0 + top + first * 1) * 65 + column * 1;
        int line = 65, plane = 2145;
        float patch[819] __attribute__((aligned(64)));
        if (column < 0 || column + 39 > 65) {
          const int from = KORCH_MIN(KORCH_MAX(0, -column), 39);
          const int to = KORCH_MAX(KORCH_MIN(39, 65 - column), from);
          for (int l = 0; l < (last - first) * 3; ++l) {
            float *const copy = patch + l * 39;
            const float *const seen = a + l / 3 * line + l % 3 * plane;
            memset(copy, 0, from * 4);
            memcpy(copy + from * 1, seen + from * 1, (to - from) * 4);
            memset(copy + to * 1, 0, (39 - to) * 4);
          }
          a = patch, line = 117, plane = 39;
        }
        float y[288] __attribute__((aligned(64)));
        for (int some = 0; some < 1; ++some) {
          const float *const own = a + some * 3;
          const float *const packed = (const float *)state + some * 4704;
          for (int group = 0; group < 1; ++group) {
            enum { count = 32 };
            const int c0 = some * 32 + 0 + group * 32;
            const float *b = packed + 147 * (0 + group * 32);
            int more = 0;
            for (int l = first; l < last || !more; l += 6)
              for (int o = 0; o < 3; o += 3, more = 1)
                tile16_16(own + (l - first) * line + o * plane, line, plane, b + (l * 21 + o * 7) * 32, y, KORCH_MIN(6, last - l), KORCH_MIN(3, 3 - o), more);
            for (int w = left; w < left + 9; ++w) {
              const float *restrict z = y + (w - left) * 32;
              #pragma omp simd
              for (int c = 0; c < count; ++c) {
                const float v0 = z[c];
                out[w * 32 + h * 544 + c0 + c] = v0;
              }
            }
          }
        }
      }
    }
  }
}
