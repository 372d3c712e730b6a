// t3 = mat_mul_integer(x, c1, 3, w_zero=0)  # i32[5,24]
static int init(void **state, const void *const *in) {
  const int8_t *w = in[1];
  char *b = *state = korch_aligned(2048);
  if (!b) return 1;
  for (int n0 = 0; n0 < 32; n0 += 16, b += 1024) {
    int16_t *to = (int16_t *)(b + 0);
    for (int k0 = 0; k0 < 32; k0 += 2)
      for (int n = n0; n < n0 + 16; ++n)
        for (int k = k0; k < k0 + 2; ++k) {
          *to = k < 31 && n < 24 ? (int16_t)(w[k * 24 + n] - 0) : 0;
          ++to;
        }
  }
  return korch_pack(state, 2048);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void dots(const int16_t *restrict a, const char *restrict b, int32_t zero, int32_t *restrict c) {
  const korch_i8 z0 = {0};
  const korch_i8 z1 = {0};
  korch_i8 s0_0 = z0;
  korch_i8 s0_1 = z1;
  korch_i8 s1_0 = z0;
  korch_i8 s1_1 = z1;
  korch_i8 s2_0 = z0;
  korch_i8 s2_1 = z1;
  korch_i8 s3_0 = z0;
  korch_i8 s3_1 = z1;
  korch_i8 s4_0 = z0;
  korch_i8 s4_1 = z1;
  (void)zero;
  #pragma GCC unroll 4
  for (int k = 0; k < 16; ++k) {
    korch_i8 b0 = *(const korch_lanes8 *)(b + k * 64 + 0);
    KORCH_HOLD(b0);
    korch_i8 b1 = *(const korch_lanes8 *)(b + k * 64 + 32);
    KORCH_HOLD(b1);
    { const korch_i8 all = (korch_i8){0} + *(const korch_lane *)(a + 0 + 2 * k); KORCH_DOT8(s0_0, all, b0); KORCH_DOT8(s0_1, all, b1); }
    { const korch_i8 all = (korch_i8){0} + *(const korch_lane *)(a + 32 + 2 * k); KORCH_DOT8(s1_0, all, b0); KORCH_DOT8(s1_1, all, b1); }
    { const korch_i8 all = (korch_i8){0} + *(const korch_lane *)(a + 64 + 2 * k); KORCH_DOT8(s2_0, all, b0); KORCH_DOT8(s2_1, all, b1); }
    { const korch_i8 all = (korch_i8){0} + *(const korch_lane *)(a + 96 + 2 * k); KORCH_DOT8(s3_0, all, b0); KORCH_DOT8(s3_1, all, b1); }
    { const korch_i8 all = (korch_i8){0} + *(const korch_lane *)(a + 128 + 2 * k); KORCH_DOT8(s4_0, all, b0); KORCH_DOT8(s4_1, all, b1); }
  }
  *(korch_lanes8 *)(c + 0) = s0_0;
  *(korch_lanes8 *)(c + 8) = s0_1;
  *(korch_lanes8 *)(c + 32) = s1_0;
  *(korch_lanes8 *)(c + 40) = s1_1;
  *(korch_lanes8 *)(c + 64) = s2_0;
  *(korch_lanes8 *)(c + 72) = s2_1;
  *(korch_lanes8 *)(c + 96) = s3_0;
  *(korch_lanes8 *)(c + 104) = s3_1;
  *(korch_lanes8 *)(c + 128) = s4_0;
  *(korch_lanes8 *)(c + 136) = s4_1;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const uint8_t *restrict in0 = in[0];
  const int8_t *restrict in1 = in[1];
  const uint8_t *restrict x = in0;
  int32_t *restrict out = out_;
  char *const mine = (char *)workspace + 0 * INT64_C(960);
  int16_t *const panel = (int16_t *)mine;
  int32_t *const sums = (int32_t *)(mine + 320);
  const int zero = 3;
  for (int part = 0; part < 1; part += 1) {
    for (int first = 0; first < 5; first += 5) {
      const int some = KORCH_MIN(5, 5 - first), low = part * 2 / 1, end = (part + 1) * 2 / 1;
      for (int r = 0; r < 5; ++r) {
        int16_t *restrict to = panel + r * 32;
        if (r >= some) { memset(to, 0, 64); continue; }
        for (int k = 31; k < 32; ++k) to[k] = 0;
        const uint8_t *restrict from = x + (first + r) * INT64_C(31);
        for (int k = 0; k < 31; ++k) (to)[k] = (int16_t)((from)[k] - zero);
      }
      for (int group = low; group < end; ++group) {
        const char *const b = (const char *)state + group * INT64_C(1024);
        int32_t *const to = sums + (group - low) * 16;
        for (int r = 0; r < some; r += 5)
          dots(panel + r * 32, b, zero, to + r * 32);
      }
      const int c0 = low * 16, count = KORCH_MIN(end * 16, 24) - c0;
      for (int r = 0; r < some; ++r) {
        const int row = first + r;
        const int32_t *restrict z = sums + r * 32;
        #pragma omp simd
        for (int c = 0; c < count; ++c) {
          const int32_t v0 = z[c];
          out[row * 24 + c0 + c] = v0;
        }
      }
    }
  }
}
