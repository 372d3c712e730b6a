// t3 = mat_mul_integer(x, c1, 3, w_zero=0)  # i32[197,270]
// t4 = cast(t3, to='float32')  # f32[197,270]
// t6 = mul(t4, c5)  # f32[197,270]
// t8 = add(t6, c7)  # f32[197,270]
// t9 = relu(t8)  # f32[197,270]
// t11 = div(t9, 0.05000000074505806)  # f32[197,270]
// t12 = round(t11)  # f32[197,270]
// t14 = add(t12, 3.0)  # f32[197,270]
// t16 = max(t14, 0.0)  # f32[197,270]
// t18 = min(t16, 255.0)  # f32[197,270]
// t19 = cast(t18, to='uint8')  # u8[197,270]
static int init(void **state, const void *const *in) {
  const int8_t *w = in[1];
  char *b = *state = korch_aligned(42240);
  if (!b) return 1;
  for (int n0 = 0; n0 < 320; n0 += 64, b += 8448) {
    int8_t *to = (int8_t *)(b + 256);
    int32_t *sums = memset(b, 0, 256);
    for (int k0 = 0; k0 < 128; k0 += 4)
      for (int n = n0; n < n0 + 64; ++n)
        for (int l = k0; l < k0 + 4; ++l) {
          const int k = l / 128 * 128 + l % 128;
          *to = l % 128 < 128 && n < 270 ? (int8_t)(w[k * 270 + n] - 0) : 0;
          sums[n - n0] += *to;
          ++to;
        }
  }
  return korch_pack(state, 42240);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void dots(const uint8_t *restrict a, const char *restrict b, int32_t zero, int32_t *restrict c) {
  const korch_i16 z0 = *(const korch_lanes16 *)(b + 0) * -zero;
  const korch_i16 z1 = *(const korch_lanes16 *)(b + 64) * -zero;
  const korch_i16 z2 = *(const korch_lanes16 *)(b + 128) * -zero;
  const korch_i16 z3 = *(const korch_lanes16 *)(b + 192) * -zero;
  korch_i16 s0_0 = z0;
  korch_i16 s0_1 = z1;
  korch_i16 s0_2 = z2;
  korch_i16 s0_3 = z3;
  korch_i16 s1_0 = z0;
  korch_i16 s1_1 = z1;
  korch_i16 s1_2 = z2;
  korch_i16 s1_3 = z3;
  korch_i16 s2_0 = z0;
  korch_i16 s2_1 = z1;
  korch_i16 s2_2 = z2;
  korch_i16 s2_3 = z3;
  korch_i16 s3_0 = z0;
  korch_i16 s3_1 = z1;
  korch_i16 s3_2 = z2;
  korch_i16 s3_3 = z3;
  korch_i16 s4_0 = z0;
  korch_i16 s4_1 = z1;
  korch_i16 s4_2 = z2;
  korch_i16 s4_3 = z3;
  korch_i16 s5_0 = z0;
  korch_i16 s5_1 = z1;
  korch_i16 s5_2 = z2;
  korch_i16 s5_3 = z3;
  b += 256;
  #pragma GCC unroll 4
  for (int k = 0; k < 32; ++k) {
    korch_i16 b0 = *(const korch_lanes16 *)(b + k * 256 + 0);
    korch_i16 b1 = *(const korch_lanes16 *)(b + k * 256 + 64);
    korch_i16 b2 = *(const korch_lanes16 *)(b + k * 256 + 128);
    korch_i16 b3 = *(const korch_lanes16 *)(b + k * 256 + 192);
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 0 + 4 * k); KORCH_QUADS16(s0_0, all, b0); KORCH_QUADS16(s0_1, all, b1); KORCH_QUADS16(s0_2, all, b2); KORCH_QUADS16(s0_3, all, b3); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 128 + 4 * k); KORCH_QUADS16(s1_0, all, b0); KORCH_QUADS16(s1_1, all, b1); KORCH_QUADS16(s1_2, all, b2); KORCH_QUADS16(s1_3, all, b3); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 256 + 4 * k); KORCH_QUADS16(s2_0, all, b0); KORCH_QUADS16(s2_1, all, b1); KORCH_QUADS16(s2_2, all, b2); KORCH_QUADS16(s2_3, all, b3); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 384 + 4 * k); KORCH_QUADS16(s3_0, all, b0); KORCH_QUADS16(s3_1, all, b1); KORCH_QUADS16(s3_2, all, b2); KORCH_QUADS16(s3_3, all, b3); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 512 + 4 * k); KORCH_QUADS16(s4_0, all, b0); KORCH_QUADS16(s4_1, all, b1); KORCH_QUADS16(s4_2, all, b2); KORCH_QUADS16(s4_3, all, b3); }
    { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 640 + 4 * k); KORCH_QUADS16(s5_0, all, b0); KORCH_QUADS16(s5_1, all, b1); KORCH_QUADS16(s5_2, all, b2); KORCH_QUADS16(s5_3, all, b3); }
  }
  *(korch_lanes16 *)(c + 0) = s0_0;
  *(korch_lanes16 *)(c + 16) = s0_1;
  *(korch_lanes16 *)(c + 32) = s0_2;
  *(korch_lanes16 *)(c + 48) = s0_3;
  *(korch_lanes16 *)(c + 64) = s1_0;
  *(korch_lanes16 *)(c + 80) = s1_1;
  *(korch_lanes16 *)(c + 96) = s1_2;
  *(korch_lanes16 *)(c + 112) = s1_3;
  *(korch_lanes16 *)(c + 128) = s2_0;
  *(korch_lanes16 *)(c + 144) = s2_1;
  *(korch_lanes16 *)(c + 160) = s2_2;
  *(korch_lanes16 *)(c + 176) = s2_3;
  *(korch_lanes16 *)(c + 192) = s3_0;
  *(korch_lanes16 *)(c + 208) = s3_1;
  *(korch_lanes16 *)(c + 224) = s3_2;
  *(korch_lanes16 *)(c + 240) = s3_3;
  *(korch_lanes16 *)(c + 256) = s4_0;
  *(korch_lanes16 *)(c + 272) = s4_1;
  *(korch_lanes16 *)(c + 288) = s4_2;
  *(korch_lanes16 *)(c + 304) = s4_3;
  *(korch_lanes16 *)(c + 320) = s5_0;
  *(korch_lanes16 *)(c + 336) = s5_1;
  *(korch_lanes16 *)(c + 352) = s5_2;
  *(korch_lanes16 *)(c + 368) = s5_3;
}
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const uint8_t *restrict in0 = in[0];
  const int8_t *restrict in1 = in[1];
  const float *restrict in3 = in[3];
  const float *restrict in4 = in[4];
  const uint8_t *restrict x = in0;
  uint8_t *restrict out = out_;
  char *const mine = (char *)workspace + omp_get_thread_num() * INT64_C(24576);
  const uint8_t *const panel = x;
  int32_t *const sums = (int32_t *)(mine + 0);
  const int zero = 3;
  #pragma omp for schedule(static) nowait collapse(2)
  for (int part = 0; part < 5; part += 1) {
    for (int first = 0; first < 34; first += 17) {
      const int held = KORCH_MIN(17, 33 - first), low = part * 5 / 5, end = (part + 1) * 5 / 5;
      for (int group = low; group < end; ++group) {
        const char *const b = (const char *)state + group * INT64_C(8448);
        const int c0 = group * 64, count = KORCH_MIN(270 - c0, 64);
        for (int begin = 0; begin < held; begin += 16) {
          const int some = KORCH_MIN(16, held - begin);
          for (int r = (first + begin) * 6; r < (first + begin + some) * 6; r += 6) {
            dots(panel + KORCH_MIN(r, 191) * INT64_C(128), b, zero, sums + (KORCH_MIN(r, 191) - KORCH_MIN((first + begin) * 6, 191)) * 64);
          }
          for (int r = (first + begin) * 6; r < KORCH_MIN((first + begin + some) * 6, 197); ++r) {
            const int row = r;
            const int32_t *restrict z = sums + (r - KORCH_MIN((first + begin) * 6, 191)) * 64;
            #pragma omp simd
            for (int c = 0; c < count; ++c) {
              const int32_t v0 = z[c];
              const float v1 = (float)v0;
              const float v2 = in3[c0 + c];
              const float v3 = v1 * v2;
              const float v4 = in4[c0 + c];
              const float v5 = v3 + v4;
              const float v6 = KORCH_MAX(0.0e+0f, v5);
              const float v7 = korch_quotientf(v6, 5.0e-2f, 2.0e+1f);
              const uint8_t v8 = korch_to_bytef(v7, 0.0e+0f, 2.55e+2f, 3.0e+0f);
              out[row * 270 + c0 + c] = v8;
            }
          }
        }
      }
    }
  }
}
