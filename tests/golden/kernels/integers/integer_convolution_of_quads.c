// t3 = conv_integer(x, c1, 7, channels_last=1, dilations=(2, 3), group=1, pads=(4, 4, 4, 5), strides=(1, 1), w_zero=0)  # i32[1,20,9,9]
static int init(void **state, const void *const *in) {
  const int8_t *w = in[1];
  char *b = *state = korch_aligned(1024);
  if (!b) return 1;
  for (int n0 = 0; n0 < 16; n0 += 16, b += 1024) {
    int8_t *to = (int8_t *)(b + 64);
    int32_t *sums = memset(b, 0, 64);
    for (int k0 = 0; k0 < 60; k0 += 4)
      for (int n = n0; n < n0 + 16; ++n)
        for (int l = k0; l < k0 + 4; ++l) {
          const int k = l / 60 * 60 + l % 60;
          *to = l % 60 < 60 && n < 9 ? (int8_t)(w[(n * 3 + k % 3) * 20 + k / 3] - 0) : 0;
          sums[n - n0] += *to;
          ++to;
        }
  }
  return korch_pack(state, 1024);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void dots(const uint8_t *restrict a, const char *restrict b, int32_t zero, int32_t *restrict c) {
  const korch_i16 z0 = *(const korch_lanes16 *)(b + 0) * -zero;
  korch_i16 s0_0 = z0;
  korch_i16 s1_0 = z0;
  korch_i16 s2_0 = z0;
  korch_i16 s3_0 = z0;
  korch_i16 s4_0 = z0;
  korch_i16 s5_0 = z0;
  korch_i16 s6_0 = z0;
  korch_i16 s7_0 = z0;
  korch_i16 s8_0 = z0;
  korch_i16 s9_0 = z0;
  korch_i16 s10_0 = z0;
  korch_i16 s11_0 = z0;
  korch_i16 s12_0 = z0;
  korch_i16 s13_0 = z0;
  korch_i16 s14_0 = z0;
  korch_i16 s15_0 = z0;
  korch_i16 s16_0 = z0;
  korch_i16 s17_0 = z0;
  korch_i16 s18_0 = z0;
  korch_i16 s19_0 = z0;
  korch_i16 s20_0 = z0;
  korch_i16 s21_0 = z0;
  korch_i16 s22_0 = z0;
  korch_i16 s23_0 = z0;
  korch_i16 s24_0 = z0;
  korch_i16 s25_0 = z0;
  b += 64;
  #pragma GCC unroll 4
  for (int k = 0; k < 15; ++k) {
    korch_i16 b0 = *(const korch_lanes16 *)(b + k * 64 + 0);
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 0 + 4 * k); KORCH_QUADS16(s0_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 60 + 4 * k); KORCH_QUADS16(s1_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 120 + 4 * k); KORCH_QUADS16(s2_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 180 + 4 * k); KORCH_QUADS16(s3_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 240 + 4 * k); KORCH_QUADS16(s4_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 300 + 4 * k); KORCH_QUADS16(s5_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 360 + 4 * k); KORCH_QUADS16(s6_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 420 + 4 * k); KORCH_QUADS16(s7_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 480 + 4 * k); KORCH_QUADS16(s8_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 540 + 4 * k); KORCH_QUADS16(s9_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 600 + 4 * k); KORCH_QUADS16(s10_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 660 + 4 * k); KORCH_QUADS16(s11_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 720 + 4 * k); KORCH_QUADS16(s12_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 780 + 4 * k); KORCH_QUADS16(s13_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 840 + 4 * k); KORCH_QUADS16(s14_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 900 + 4 * k); KORCH_QUADS16(s15_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 960 + 4 * k); KORCH_QUADS16(s16_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 1020 + 4 * k); KORCH_QUADS16(s17_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 1080 + 4 * k); KORCH_QUADS16(s18_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 1140 + 4 * k); KORCH_QUADS16(s19_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 1200 + 4 * k); KORCH_QUADS16(s20_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 1260 + 4 * k); KORCH_QUADS16(s21_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 1320 + 4 * k); KORCH_QUADS16(s22_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 1380 + 4 * k); KORCH_QUADS16(s23_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 1440 + 4 * k); KORCH_QUADS16(s24_0, all, b0); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 1500 + 4 * k); KORCH_QUADS16(s25_0, all, b0); }
  }
  *(korch_lanes16 *)(c + 0) = s0_0;
  *(korch_lanes16 *)(c + 16) = s1_0;
  *(korch_lanes16 *)(c + 32) = s2_0;
  *(korch_lanes16 *)(c + 48) = s3_0;
  *(korch_lanes16 *)(c + 64) = s4_0;
  *(korch_lanes16 *)(c + 80) = s5_0;
  *(korch_lanes16 *)(c + 96) = s6_0;
  *(korch_lanes16 *)(c + 112) = s7_0;
  *(korch_lanes16 *)(c + 128) = s8_0;
  *(korch_lanes16 *)(c + 144) = s9_0;
  *(korch_lanes16 *)(c + 160) = s10_0;
  *(korch_lanes16 *)(c + 176) = s11_0;
  *(korch_lanes16 *)(c + 192) = s12_0;
  *(korch_lanes16 *)(c + 208) = s13_0;
  *(korch_lanes16 *)(c + 224) = s14_0;
  *(korch_lanes16 *)(c + 240) = s15_0;
  *(korch_lanes16 *)(c + 256) = s16_0;
  *(korch_lanes16 *)(c + 272) = s17_0;
  *(korch_lanes16 *)(c + 288) = s18_0;
  *(korch_lanes16 *)(c + 304) = s19_0;
  *(korch_lanes16 *)(c + 320) = s20_0;
  *(korch_lanes16 *)(c + 336) = s21_0;
  *(korch_lanes16 *)(c + 352) = s22_0;
  *(korch_lanes16 *)(c + 368) = s23_0;
  *(korch_lanes16 *)(c + 384) = s24_0;
  *(korch_lanes16 *)(c + 400) = s25_0;
}
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const uint8_t *restrict in0 = in[0];
  const int8_t *restrict in1 = in[1];
  const uint8_t *restrict x = in0;
  int32_t *restrict out = out_;
  char *const mine = (char *)workspace + omp_get_thread_num() * INT64_C(3264);
  uint8_t *const panel = (uint8_t *)mine;
  int32_t *const sums = (int32_t *)(mine + 1600);
  const int zero = 7;
  int filled = -1;
  #pragma omp for schedule(static) nowait collapse(2)
  for (int part = 0; part < 1; part += 1) {
    for (int first = 0; first < 7; first += 1) {
      const int held = KORCH_MIN(1, 7 - first), low = part * 1 / 1, end = (part + 1) * 1 / 1;
      if (filled != first) {
        for (int r = 0; r < held * 26; ++r) {
          uint8_t *restrict to = panel + r * 60;
          const int at = first * 26 + r;
          if (at >= 180) { memset(to, 0, 60); continue; }
          const int image = at / 180, w = at % 9 * 1 - 4;
          const int h = at / 9 % 20 * 1 - 4;
          for (int i = 0; i < 5; ++i) {
            const int line = h + i * 2;
            for (int j = 0; j < 4; ++j, to += 3) {
              const int column = w + j * 3;
              const int low = line < 0 || line >= 20 ? 1 : KORCH_MIN(KORCH_MAX(-column, 0), 1);
              const int end = KORCH_MAX(KORCH_MIN(9 - column, 1), low);
              const uint8_t *restrict from = x + ((image * INT64_C(20) + line) * 9 + column) * 3;
              memset(to, zero, low * 3);
              memcpy(to + low * 3, from + low * 3, (end - low) * 3);
              memset(to + end * 3, zero, (1 - end) * 3);
            }
          }
        }
        filled = first;
      }
      for (int group = low; group < end; ++group) {
        const char *const b = (const char *)state + group * INT64_C(1024);
        const int c0 = group * 16, count = KORCH_MIN(9 - c0, 16);
        for (int begin = 0; begin < held; begin += 1) {
          const int some = KORCH_MIN(1, held - begin);
          for (int r = 0; r < some * 26; r += 26) {
            dots(panel + (begin * 26 + r) * 60, b, zero, sums + (r) * 16);
          }
          for (int r = 0; r < KORCH_MIN(some * 26, 180 - (first + begin) * 26); ++r) {
            const int row = (first + begin) * 26 + r;
            const int32_t *restrict z = sums + (r) * 16;
            #pragma omp simd
            for (int c = 0; c < count; ++c) {
              const int32_t v0 = z[c];
              out[row * 9 + c0 + c] = v0;
            }
          }
        }
      }
    }
  }
}
