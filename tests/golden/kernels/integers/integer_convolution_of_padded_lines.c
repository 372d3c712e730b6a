// t3 = conv_integer(x, c1, 7, channels_last=1, dilations=(1, 1), group=1, pads=(3, 3, 3, 3), strides=(2, 2), w_zero=0)  # i32[1,31,31,40]
// t4 = cast(t3, to='float32')  # f32[1,31,31,40]
// t6 = mul(t4, c5)  # f32[1,31,31,40]
// t8 = add(t6, c7)  # f32[1,31,31,40]
// t9 = relu(t8)  # f32[1,31,31,40]
// t11 = div(t9, 0.05000000074505806)  # f32[1,31,31,40]
// t12 = round(t11)  # f32[1,31,31,40]
// t14 = add(t12, 3.0)  # f32[1,31,31,40]
// t16 = max(t14, 0.0)  # f32[1,31,31,40]
// t18 = min(t16, 255.0)  # f32[1,31,31,40]
// t19 = cast(t18, to='uint8')  # u8[1,31,31,40]
static int init(void **state, const void *const *in) {
  const int8_t *w = in[1];
  char *b = *state = korch_aligned(8256);
  if (!b) return 1;
  for (int n0 = 0; n0 < 48; n0 += 48, b += 8256) {
    int8_t *to = (int8_t *)(b + 192);
    int32_t *sums = memset(b, 0, 192);
    for (int k0 = 0; k0 < 168; k0 += 4)
      for (int n = n0; n < n0 + 48; ++n)
        for (int l = k0; l < k0 + 4; ++l) {
          const int k = l / 24 * 21 + l % 24;
          *to = l % 24 < 21 && n < 40 ? (int8_t)(w[(n * 3 + k % 3) * 49 + k / 3] - 0) : 0;
          sums[n - n0] += *to;
          ++to;
        }
  }
  return korch_pack(state, 8256);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void dots(const uint8_t *restrict a, const char *restrict b, int32_t zero, int32_t *restrict c) {
  const korch_i16 z0 = *(const korch_lanes16 *)(b + 0) * -zero;
  const korch_i16 z1 = *(const korch_lanes16 *)(b + 64) * -zero;
  const korch_i16 z2 = *(const korch_lanes16 *)(b + 128) * -zero;
  korch_i16 s0_0 = z0;
  korch_i16 s0_1 = z1;
  korch_i16 s0_2 = z2;
  korch_i16 s1_0 = z0;
  korch_i16 s1_1 = z1;
  korch_i16 s1_2 = z2;
  korch_i16 s2_0 = z0;
  korch_i16 s2_1 = z1;
  korch_i16 s2_2 = z2;
  korch_i16 s3_0 = z0;
  korch_i16 s3_1 = z1;
  korch_i16 s3_2 = z2;
  korch_i16 s4_0 = z0;
  korch_i16 s4_1 = z1;
  korch_i16 s4_2 = z2;
  korch_i16 s5_0 = z0;
  korch_i16 s5_1 = z1;
  korch_i16 s5_2 = z2;
  korch_i16 s6_0 = z0;
  korch_i16 s6_1 = z1;
  korch_i16 s6_2 = z2;
  korch_i16 s7_0 = z0;
  korch_i16 s7_1 = z1;
  korch_i16 s7_2 = z2;
  b += 192;
  for (int i = 0; i < 7; ++i, a += 201, b += 1152) {
    #pragma GCC unroll 1
    for (int k = 0; k < 6; ++k) {
      korch_i16 b0 = *(const korch_lanes16 *)(b + k * 192 + 0);
      korch_i16 b1 = *(const korch_lanes16 *)(b + k * 192 + 64);
      korch_i16 b2 = *(const korch_lanes16 *)(b + k * 192 + 128);
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 0 + 4 * k); KORCH_QUADS16(s0_0, all, b0); KORCH_QUADS16(s0_1, all, b1); KORCH_QUADS16(s0_2, all, b2); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 6 + 4 * k); KORCH_QUADS16(s1_0, all, b0); KORCH_QUADS16(s1_1, all, b1); KORCH_QUADS16(s1_2, all, b2); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 12 + 4 * k); KORCH_QUADS16(s2_0, all, b0); KORCH_QUADS16(s2_1, all, b1); KORCH_QUADS16(s2_2, all, b2); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 18 + 4 * k); KORCH_QUADS16(s3_0, all, b0); KORCH_QUADS16(s3_1, all, b1); KORCH_QUADS16(s3_2, all, b2); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 24 + 4 * k); KORCH_QUADS16(s4_0, all, b0); KORCH_QUADS16(s4_1, all, b1); KORCH_QUADS16(s4_2, all, b2); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 30 + 4 * k); KORCH_QUADS16(s5_0, all, b0); KORCH_QUADS16(s5_1, all, b1); KORCH_QUADS16(s5_2, all, b2); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 36 + 4 * k); KORCH_QUADS16(s6_0, all, b0); KORCH_QUADS16(s6_1, all, b1); KORCH_QUADS16(s6_2, all, b2); }
      { const korch_i16 all = (korch_i16){0} + *(const korch_lane *)(a + 42 + 4 * k); KORCH_QUADS16(s7_0, all, b0); KORCH_QUADS16(s7_1, all, b1); KORCH_QUADS16(s7_2, all, b2); }
    }
  }
  *(korch_lanes16 *)(c + 0) = s0_0;
  *(korch_lanes16 *)(c + 16) = s0_1;
  *(korch_lanes16 *)(c + 32) = s0_2;
  *(korch_lanes16 *)(c + 48) = s1_0;
  *(korch_lanes16 *)(c + 64) = s1_1;
  *(korch_lanes16 *)(c + 80) = s1_2;
  *(korch_lanes16 *)(c + 96) = s2_0;
  *(korch_lanes16 *)(c + 112) = s2_1;
  *(korch_lanes16 *)(c + 128) = s2_2;
  *(korch_lanes16 *)(c + 144) = s3_0;
  *(korch_lanes16 *)(c + 160) = s3_1;
  *(korch_lanes16 *)(c + 176) = s3_2;
  *(korch_lanes16 *)(c + 192) = s4_0;
  *(korch_lanes16 *)(c + 208) = s4_1;
  *(korch_lanes16 *)(c + 224) = s4_2;
  *(korch_lanes16 *)(c + 240) = s5_0;
  *(korch_lanes16 *)(c + 256) = s5_1;
  *(korch_lanes16 *)(c + 272) = s5_2;
  *(korch_lanes16 *)(c + 288) = s6_0;
  *(korch_lanes16 *)(c + 304) = s6_1;
  *(korch_lanes16 *)(c + 320) = s6_2;
  *(korch_lanes16 *)(c + 336) = s7_0;
  *(korch_lanes16 *)(c + 352) = s7_1;
  *(korch_lanes16 *)(c + 368) = s7_2;
}
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const uint8_t *restrict in0 = in[0];
  const int8_t *restrict in1 = in[1];
  const float *restrict in3 = in[3];
  const float *restrict in4 = in[4];
  const uint8_t *restrict x = in0;
  uint8_t *restrict out = out_;
  char *const mine = (char *)workspace + omp_get_thread_num() * INT64_C(27200);
  uint8_t *const panel = (uint8_t *)mine;
  int32_t *const sums = (int32_t *)(mine + 2624);
  const int zero = 7;
  int filled = -1;
  #pragma omp for schedule(static) nowait collapse(3)
  for (int part = 0; part < 1; part += 1) {
    for (int image = 0; image < 1; image += 1) {
      for (int first = 0; first < 32; first += 4) {
        const int held = KORCH_MIN(4, 31 - first), low = part * 1 / 1, end = (part + 1) * 1 / 1;
        if (filled != image * 31 + first) {
          const int lines = (held - 1) * 2 + 7;
          for (int i = 0; i < lines; ++i) {
            uint8_t *restrict to = panel + i * 201;
            const int line = first * 2 - 3 + i, column = -3;
            const int low = line < 0 || line >= 61 ? 67 : KORCH_MIN(KORCH_MAX(-column, 0), 67);
            const int end = KORCH_MAX(KORCH_MIN(62 - column, 67), low);
            const uint8_t *restrict from = x + ((image * INT64_C(61) + line) * 62 + column) * 3;
            memset(to, zero, low * 3);
            memcpy(to + low * 3, from + low * 3, (end - low) * 3);
            memset(to + end * 3, zero, (67 - end) * 3);
          }
          filled = image * 31 + first;
        }
        for (int group = low; group < end; ++group) {
          const char *const b = (const char *)state + group * INT64_C(8256);
          const int c0 = group * 48, count = KORCH_MIN(40 - c0, 48);
          for (int begin = 0; begin < held; begin += 4) {
            const int some = KORCH_MIN(4, held - begin);
            for (int h = 0; h < some; ++h) {
              for (int w = 0; w < 32; w += 8) {
                dots(panel + (begin + h) * 402 + w * 6, b, zero, sums + (h * 32 + w) * 48);
              }
            }
            for (int h = 0; h < some; ++h) {
              for (int w = 0; w < 31; ++w) {
                const int row = (image * 31 + first + begin + h) * 31 + w;
                const int32_t *restrict z = sums + (h * 32 + w) * 48;
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
                  out[row * 40 + c0 + c] = v8;
                }
              }
            }
          }
        }
      }
    }
  }
}
