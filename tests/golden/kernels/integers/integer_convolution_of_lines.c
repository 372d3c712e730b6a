// t3 = conv_integer(x, c1, 7, channels_last=1, dilations=(1, 1), group=1, pads=(1, 1, 1, 1), strides=(1, 1), w_zero=0)  # i32[1,12,13,24]
static int init(void **state, const void *const *in) {
  const int8_t *w = in[1];
  char *b = *state = korch_aligned(4736);
  if (!b) return 1;
  for (int n0 = 0; n0 < 32; n0 += 32, b += 4736) {
    int8_t *to = (int8_t *)(b + 128);
    int32_t *sums = memset(b, 0, 128);
    for (int k0 = 0; k0 < 144; k0 += 4)
      for (int n = n0; n < n0 + 32; ++n)
        for (int l = k0; l < k0 + 4; ++l) {
          const int k = l / 48 * 48 + l % 48;
          *to = l % 48 < 48 && n < 24 ? (int8_t)(w[(n * 16 + k % 16) * 9 + k / 16] - 0) : 0;
          sums[n - n0] += *to;
          ++to;
        }
  }
  return korch_pack(state, 4736);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void dots(const uint8_t *restrict a, const char *restrict b, int32_t zero, int32_t *restrict c) {
  const korch_i16 z0 = *(const korch_lanes16 *)(b + 0) * -zero;
  const korch_i16 z1 = *(const korch_lanes16 *)(b + 64) * -zero;
  korch_i16 s0_0 = z0;
  korch_i16 s0_1 = z1;
  korch_i16 s1_0 = z0;
  korch_i16 s1_1 = z1;
  korch_i16 s2_0 = z0;
  korch_i16 s2_1 = z1;
  korch_i16 s3_0 = z0;
  korch_i16 s3_1 = z1;
  korch_i16 s4_0 = z0;
  korch_i16 s4_1 = z1;
  korch_i16 s5_0 = z0;
  korch_i16 s5_1 = z1;
  korch_i16 s6_0 = z0;
  korch_i16 s6_1 = z1;
  korch_i16 s7_0 = z0;
  korch_i16 s7_1 = z1;
  korch_i16 s8_0 = z0;
  korch_i16 s8_1 = z1;
  korch_i16 s9_0 = z0;
  korch_i16 s9_1 = z1;
  korch_i16 s10_0 = z0;
  korch_i16 s10_1 = z1;
  korch_i16 s11_0 = z0;
  korch_i16 s11_1 = z1;
  korch_i16 s12_0 = z0;
  korch_i16 s12_1 = z1;
  b += 128;
  for (int i = 0; i < 3; ++i, a += 240, b += 1536) {
    #pragma GCC unroll 1
    for (int k = 0; k < 12; ++k) {
      korch_i16 b0 = *(const korch_lanes16 *)(b + k * 128 + 0);
      korch_i16 b1 = *(const korch_lanes16 *)(b + k * 128 + 64);
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 0 + 4 * k); KORCH_QUADS16(s0_0, all, b0); KORCH_QUADS16(s0_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 16 + 4 * k); KORCH_QUADS16(s1_0, all, b0); KORCH_QUADS16(s1_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 32 + 4 * k); KORCH_QUADS16(s2_0, all, b0); KORCH_QUADS16(s2_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 48 + 4 * k); KORCH_QUADS16(s3_0, all, b0); KORCH_QUADS16(s3_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 64 + 4 * k); KORCH_QUADS16(s4_0, all, b0); KORCH_QUADS16(s4_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 80 + 4 * k); KORCH_QUADS16(s5_0, all, b0); KORCH_QUADS16(s5_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 96 + 4 * k); KORCH_QUADS16(s6_0, all, b0); KORCH_QUADS16(s6_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 112 + 4 * k); KORCH_QUADS16(s7_0, all, b0); KORCH_QUADS16(s7_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 128 + 4 * k); KORCH_QUADS16(s8_0, all, b0); KORCH_QUADS16(s8_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 144 + 4 * k); KORCH_QUADS16(s9_0, all, b0); KORCH_QUADS16(s9_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 160 + 4 * k); KORCH_QUADS16(s10_0, all, b0); KORCH_QUADS16(s10_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 176 + 4 * k); KORCH_QUADS16(s11_0, all, b0); KORCH_QUADS16(s11_1, all, b1); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 192 + 4 * k); KORCH_QUADS16(s12_0, all, b0); KORCH_QUADS16(s12_1, all, b1); }
    }
  }
  *(korch_lanes16 *)(c + 0) = s0_0;
  *(korch_lanes16 *)(c + 16) = s0_1;
  *(korch_lanes16 *)(c + 32) = s1_0;
  *(korch_lanes16 *)(c + 48) = s1_1;
  *(korch_lanes16 *)(c + 64) = s2_0;
  *(korch_lanes16 *)(c + 80) = s2_1;
  *(korch_lanes16 *)(c + 96) = s3_0;
  *(korch_lanes16 *)(c + 112) = s3_1;
  *(korch_lanes16 *)(c + 128) = s4_0;
  *(korch_lanes16 *)(c + 144) = s4_1;
  *(korch_lanes16 *)(c + 160) = s5_0;
  *(korch_lanes16 *)(c + 176) = s5_1;
  *(korch_lanes16 *)(c + 192) = s6_0;
  *(korch_lanes16 *)(c + 208) = s6_1;
  *(korch_lanes16 *)(c + 224) = s7_0;
  *(korch_lanes16 *)(c + 240) = s7_1;
  *(korch_lanes16 *)(c + 256) = s8_0;
  *(korch_lanes16 *)(c + 272) = s8_1;
  *(korch_lanes16 *)(c + 288) = s9_0;
  *(korch_lanes16 *)(c + 304) = s9_1;
  *(korch_lanes16 *)(c + 320) = s10_0;
  *(korch_lanes16 *)(c + 336) = s10_1;
  *(korch_lanes16 *)(c + 352) = s11_0;
  *(korch_lanes16 *)(c + 368) = s11_1;
  *(korch_lanes16 *)(c + 384) = s12_0;
  *(korch_lanes16 *)(c + 400) = s12_1;
}
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const uint8_t *restrict in0 = in[0];
  const int8_t *restrict in1 = in[1];
  const uint8_t *restrict x = in0;
  int32_t *restrict out = out_;
  char *const mine = (char *)workspace + omp_get_thread_num() * INT64_C(4352);
  uint8_t *const panel = (uint8_t *)mine;
  int32_t *const sums = (int32_t *)(mine + 1024);
  const int zero = 7;
  int filled = -1;
  #pragma omp for schedule(static) nowait collapse(3)
  for (int part = 0; part < 1; part += 1) {
    for (int image = 0; image < 1; image += 1) {
      for (int first = 0; first < 12; first += 2) {
        const int held = KORCH_MIN(2, 12 - first), low = part * 1 / 1, end = (part + 1) * 1 / 1;
        if (filled != image * 12 + first) {
          const int lines = (held - 1) * 1 + 3;
          for (int i = 0; i < lines; ++i) {
            uint8_t *restrict to = panel + i * 240;
            const int line = first * 1 - 1 + i, column = -1;
            const int low = line < 0 || line >= 12 ? 15 : KORCH_MIN(KORCH_MAX(-column, 0), 15);
            const int end = KORCH_MAX(KORCH_MIN(13 - column, 15), low);
            const uint8_t *restrict from = x + ((image * INT64_C(12) + line) * 13 + column) * 16;
            memset(to, zero, low * 16);
            memcpy(to + low * 16, from + low * 16, (end - low) * 16);
            memset(to + end * 16, zero, (15 - end) * 16);
          }
          filled = image * 12 + first;
        }
        for (int group = low; group < end; ++group) {
          const char *const b = (const char *)state + group * INT64_C(4736);
          const int c0 = group * 32, count = KORCH_MIN(24 - c0, 32);
          for (int begin = 0; begin < held; begin += 2) {
            const int some = KORCH_MIN(2, held - begin);
            for (int h = 0; h < some; ++h) {
              for (int w = 0; w < 13; w += 13) {
                dots(panel + (begin + h) * 240 + w * 16, b, zero, sums + (h * 13 + w) * 32);
              }
            }
            for (int h = 0; h < some; ++h) {
              for (int w = 0; w < 13; ++w) {
                const int row = (image * 12 + first + begin + h) * 13 + w;
                const int32_t *restrict z = sums + (h * 13 + w) * 32;
                #pragma omp simd
                for (int c = 0; c < count; ++c) {
                  const int32_t v0 = z[c];
                  out[row * 24 + c0 + c] = v0;
                }
              }
            }
          }
        }
      }
    }
  }
}
