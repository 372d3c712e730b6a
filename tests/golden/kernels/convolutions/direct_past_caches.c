// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,160,90,208]
static int init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(22464);
  if (!to) return 1;
  static const int groups[][3] = {{0, 64, 64}, {64, 64, 64}, {128, 80, 80}};
  for (int g = 0; g < 3; ++g)
    for (int l = 0; l < 3; ++l)
      for (int o = 0; o < 1; ++o)
        for (int k = 0; k < 9; ++k)
          for (int n = 0; n < groups[g][2]; ++n) {
            const int channel = k % 3, tap = k / 3;
            const int at = ((groups[g][0] + n) * 3 + channel) * 3 + l;
            *to++ = n < groups[g][1] ? w[at * 3 + tap] : 0.0f;
          }
  return korch_pack(state, 22464);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile16_16_16_16(const float *restrict a, int line, int plane, const float *restrict b, float *restrict y, int lines, int runs, int more) {
  (void)plane;
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s0_2 = {0};
  korch_f16 s0_3 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s1_1 = {0};
  korch_f16 s1_2 = {0};
  korch_f16 s1_3 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s2_1 = {0};
  korch_f16 s2_2 = {0};
  korch_f16 s2_3 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s3_1 = {0};
  korch_f16 s3_2 = {0};
  korch_f16 s3_3 = {0};
  korch_f16 s4_0 = {0};
  korch_f16 s4_1 = {0};
  korch_f16 s4_2 = {0};
  korch_f16 s4_3 = {0};
  for (int l = 0; l < lines; ++l, a += line)
    for (int o = 0; o < runs; ++o) {
      for (int k0 = 0; k0 < 9; k0 += 9)
      #pragma GCC unroll 9
        for (int i = 0; i < 9; ++i, b += 64) {
          const int k = k0 + i;
          korch_f16 b0 = *(const korch_at16 *)(b + 0);
          korch_f16 b1 = *(const korch_at16 *)(b + 16);
          korch_f16 b2 = *(const korch_at16 *)(b + 32);
          korch_f16 b3 = *(const korch_at16 *)(b + 48);
          { const float x = a[o * 0 + 0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
          { const float x = a[o * 0 + 3 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); }
          { const float x = a[o * 0 + 6 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); }
          { const float x = a[o * 0 + 9 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); }
          { const float x = a[o * 0 + 12 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); KORCH_FMA16(s4_2, all, b2); KORCH_FMA16(s4_3, all, b3); }
          __asm__ volatile("" ::: "memory");
        }
    }
  if (more) {
    s0_0 += *(korch_at16 *)(y + 0);
    s0_1 += *(korch_at16 *)(y + 16);
    s0_2 += *(korch_at16 *)(y + 32);
    s0_3 += *(korch_at16 *)(y + 48);
    s1_0 += *(korch_at16 *)(y + 64);
    s1_1 += *(korch_at16 *)(y + 80);
    s1_2 += *(korch_at16 *)(y + 96);
    s1_3 += *(korch_at16 *)(y + 112);
    s2_0 += *(korch_at16 *)(y + 128);
    s2_1 += *(korch_at16 *)(y + 144);
    s2_2 += *(korch_at16 *)(y + 160);
    s2_3 += *(korch_at16 *)(y + 176);
    s3_0 += *(korch_at16 *)(y + 192);
    s3_1 += *(korch_at16 *)(y + 208);
    s3_2 += *(korch_at16 *)(y + 224);
    s3_3 += *(korch_at16 *)(y + 240);
    s4_0 += *(korch_at16 *)(y + 256);
    s4_1 += *(korch_at16 *)(y + 272);
    s4_2 += *(korch_at16 *)(y + 288);
    s4_3 += *(korch_at16 *)(y + 304);
  }
  *(korch_at16 *)(y + 0) = s0_0;
  *(korch_at16 *)(y + 16) = s0_1;
  *(korch_at16 *)(y + 32) = s0_2;
  *(korch_at16 *)(y + 48) = s0_3;
  *(korch_at16 *)(y + 64) = s1_0;
  *(korch_at16 *)(y + 80) = s1_1;
  *(korch_at16 *)(y + 96) = s1_2;
  *(korch_at16 *)(y + 112) = s1_3;
  *(korch_at16 *)(y + 128) = s2_0;
  *(korch_at16 *)(y + 144) = s2_1;
  *(korch_at16 *)(y + 160) = s2_2;
  *(korch_at16 *)(y + 176) = s2_3;
  *(korch_at16 *)(y + 192) = s3_0;
  *(korch_at16 *)(y + 208) = s3_1;
  *(korch_at16 *)(y + 224) = s3_2;
  *(korch_at16 *)(y + 240) = s3_3;
  *(korch_at16 *)(y + 256) = s4_0;
  *(korch_at16 *)(y + 272) = s4_1;
  *(korch_at16 *)(y + 288) = s4_2;
  *(korch_at16 *)(y + 304) = s4_3;
}
__attribute__((noinline))
static void tile16_16_16_16_16(const float *restrict a, int line, int plane, const float *restrict b, float *restrict y, int lines, int runs, int more) {
  (void)plane;
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s0_2 = {0};
  korch_f16 s0_3 = {0};
  korch_f16 s0_4 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s1_1 = {0};
  korch_f16 s1_2 = {0};
  korch_f16 s1_3 = {0};
  korch_f16 s1_4 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s2_1 = {0};
  korch_f16 s2_2 = {0};
  korch_f16 s2_3 = {0};
  korch_f16 s2_4 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s3_1 = {0};
  korch_f16 s3_2 = {0};
  korch_f16 s3_3 = {0};
  korch_f16 s3_4 = {0};
  korch_f16 s4_0 = {0};
  korch_f16 s4_1 = {0};
  korch_f16 s4_2 = {0};
  korch_f16 s4_3 = {0};
  korch_f16 s4_4 = {0};
  for (int l = 0; l < lines; ++l, a += line)
    for (int o = 0; o < runs; ++o) {
      for (int k0 = 0; k0 < 9; k0 += 9)
      #pragma GCC unroll 9
        for (int i = 0; i < 9; ++i, b += 80) {
          const int k = k0 + i;
          korch_f16 b0 = *(const korch_at16 *)(b + 0);
          korch_f16 b1 = *(const korch_at16 *)(b + 16);
          korch_f16 b2 = *(const korch_at16 *)(b + 32);
          korch_f16 b3 = *(const korch_at16 *)(b + 48);
          korch_f16 b4 = *(const korch_at16 *)(b + 64);
          { const float x = a[o * 0 + 0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); KORCH_FMA16(s0_4, all, b4); }
          { const float x = a[o * 0 + 3 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); KORCH_FMA16(s1_4, all, b4); }
          { const float x = a[o * 0 + 6 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); KORCH_FMA16(s2_4, all, b4); }
          { const float x = a[o * 0 + 9 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); KORCH_FMA16(s3_4, all, b4); }
          { const float x = a[o * 0 + 12 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); KORCH_FMA16(s4_2, all, b2); KORCH_FMA16(s4_3, all, b3); KORCH_FMA16(s4_4, all, b4); }
          __asm__ volatile("" ::: "memory");
        }
    }
  if (more) {
    s0_0 += *(korch_at16 *)(y + 0);
    s0_1 += *(korch_at16 *)(y + 16);
    s0_2 += *(korch_at16 *)(y + 32);
    s0_3 += *(korch_at16 *)(y + 48);
    s0_4 += *(korch_at16 *)(y + 64);
    s1_0 += *(korch_at16 *)(y + 80);
    s1_1 += *(korch_at16 *)(y + 96);
    s1_2 += *(korch_at16 *)(y + 112);
    s1_3 += *(korch_at16 *)(y + 128);
    s1_4 += *(korch_at16 *)(y + 144);
    s2_0 += *(korch_at16 *)(y + 160);
    s2_1 += *(korch_at16 *)(y + 176);
    s2_2 += *(korch_at16 *)(y + 192);
    s2_3 += *(korch_at16 *)(y + 208);
    s2_4 += *(korch_at16 *)(y + 224);
    s3_0 += *(korch_at16 *)(y + 240);
    s3_1 += *(korch_at16 *)(y + 256);
    s3_2 += *(korch_at16 *)(y + 272);
    s3_3 += *(korch_at16 *)(y + 288);
    s3_4 += *(korch_at16 *)(y + 304);
    s4_0 += *(korch_at16 *)(y + 320);
    s4_1 += *(korch_at16 *)(y + 336);
    s4_2 += *(korch_at16 *)(y + 352);
    s4_3 += *(korch_at16 *)(y + 368);
    s4_4 += *(korch_at16 *)(y + 384);
  }
  *(korch_at16 *)(y + 0) = s0_0;
  *(korch_at16 *)(y + 16) = s0_1;
  *(korch_at16 *)(y + 32) = s0_2;
  *(korch_at16 *)(y + 48) = s0_3;
  *(korch_at16 *)(y + 64) = s0_4;
  *(korch_at16 *)(y + 80) = s1_0;
  *(korch_at16 *)(y + 96) = s1_1;
  *(korch_at16 *)(y + 112) = s1_2;
  *(korch_at16 *)(y + 128) = s1_3;
  *(korch_at16 *)(y + 144) = s1_4;
  *(korch_at16 *)(y + 160) = s2_0;
  *(korch_at16 *)(y + 176) = s2_1;
  *(korch_at16 *)(y + 192) = s2_2;
  *(korch_at16 *)(y + 208) = s2_3;
  *(korch_at16 *)(y + 224) = s2_4;
  *(korch_at16 *)(y + 240) = s3_0;
  *(korch_at16 *)(y + 256) = s3_1;
  *(korch_at16 *)(y + 272) = s3_2;
  *(korch_at16 *)(y + 288) = s3_3;
  *(korch_at16 *)(y + 304) = s3_4;
  *(korch_at16 *)(y + 320) = s4_0;
  *(korch_at16 *)(y + 336) = s4_1;
  *(korch_at16 *)(y + 352) = s4_2;
  *(korch_at16 *)(y + 368) = s4_3;
  *(korch_at16 *)(y + 384) = s4_4;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict x = in0;
  float *restrict out = out_;
  for (int image = 0; image < 1; image += 1) {
    for (int h = 0; h < 160; h += 1) {
      for (int part = 0; part < 18; part += 1) {
        const int left = KORCH_MIN(part * 5, 85);
        const int top = h * 1 - 1;
        const int first = top < 0 ? (0 - top) / 1 : 0;
        const int last = top < 160 ? KORCH_MIN(3, (160 - top) / 1) : 0;
        const int column = left * 1 - 1;
        const float *a = x + image * INT64_C(43200) + (0 + top + first * 1) * 270 + column * 3;
        int line = 270, plane = 0;
        float patch[63] __attribute__((aligned(64)));
        if (column < 0 || column + 7 > 90) {
          const int from = KORCH_MIN(KORCH_MAX(0, -column), 7);
          const int to = KORCH_MAX(KORCH_MIN(7, 90 - column), from);
          for (int l = 0; l < (last - first) * 1; ++l) {
            float *const copy = patch + l * 21;
            const float *const seen = a + l / 1 * line + l % 1 * plane;
            memset(copy, 0, from * 12);
            memcpy(copy + from * 3, seen + from * 3, (to - from) * 12);
            memset(copy + to * 3, 0, (7 - to) * 12);
          }
          a = patch, line = 21, plane = 21;
        }
        float y[400] __attribute__((aligned(64)));
        for (int some = 0; some < 1; ++some) {
          const float *const own = a + some * 3;
          const float *const packed = (const float *)state + some * 5616;
          for (int group = 0; group < 2; ++group) {
            enum { count = 64 };
            const int c0 = some * 208 + 0 + group * 64;
            const float *b = packed + 27 * (0 + group * 64);
            int more = 0;
            for (int l = first; l < last || !more; l += 14)
              for (int o = 0; o < 1; o += 1, more = 1)
                tile16_16_16_16(own + (l - first) * line + o * 0, line, plane, b + (l * 9 + o * 9) * 64, y, KORCH_MIN(14, last - l), KORCH_MIN(1, 1 - o), more);
            for (int w = left; w < left + 5; ++w) {
              const float *restrict z = y + (w - left) * 64;
              float piece[64] __attribute__((aligned(64)));
              #pragma omp simd
              for (int c = 0; c < count; ++c) {
                const float v0 = z[c];
                piece[c] = v0;
              }
              korch_stream(out + w * 208 + h * 18720 + c0, piece, count);
            }
          }
          for (int group = 0; group < 1; ++group) {
            enum { count = 80 };
            const int c0 = some * 208 + 128 + group * 80;
            const float *b = packed + 27 * (128 + group * 80);
            int more = 0;
            for (int l = first; l < last || !more; l += 14)
              for (int o = 0; o < 1; o += 1, more = 1)
                tile16_16_16_16_16(own + (l - first) * line + o * 0, line, plane, b + (l * 9 + o * 9) * 80, y, KORCH_MIN(14, last - l), KORCH_MIN(1, 1 - o), more);
            for (int w = left; w < left + 5; ++w) {
              const float *restrict z = y + (w - left) * 80;
              float piece[80] __attribute__((aligned(64)));
              #pragma omp simd
              for (int c = 0; c < count; ++c) {
                const float v0 = z[c];
                piece[c] = v0;
              }
              korch_stream(out + w * 208 + h * 18720 + c0, piece, count);
            }
          }
        }
      }
    }
  }
  korch_streamed();
}
