// t2 = mat_mul(x, c1)  # f32[1,512]
// t4 = add(t2, bias)  # f32[1,512]
// t5 = erf(t4)  # f32[1,512]
static int init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  float *to = *state = korch_aligned(614400);
  if (!to) return 1;
  static const int groups[][3] = {
    {0, 64, 64},
    {64, 64, 64},
    {128, 64, 64},
    {192, 64, 64},
    {256, 64, 64},
    {320, 64, 64},
    {384, 64, 64},
    {448, 64, 64},
  };
  for (int g = 0; g < 8; ++g) {
    for (int k0 = 0; k0 < 300; ++k0) {
      for (int j = 0; j < groups[g][2]; ++j) {
        const int n = KORCH_MIN(groups[g][0] + j, 511);
        const float v0 = in1[n + k0 * 512];
        *to++ = j < groups[g][1] ? v0 : 0.0f;
      }
    }
  }
  return korch_pack(state, 614400);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile_1_64_0_1_64_0_0(const float *restrict a, const float *restrict b, float *restrict c, int count) {
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s0_2 = {0};
  korch_f16 s0_3 = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
      korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
      korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
    korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
    korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
    __asm__ volatile("" ::: "memory");
  }
  *(korch_at16 *)(c + 0) = s0_0;
  *(korch_at16 *)(c + 16) = s0_1;
  *(korch_at16 *)(c + 32) = s0_2;
  *(korch_at16 *)(c + 48) = s0_3;
}
__attribute__((noinline))
static void tile_1_64_0_1_64_0_1(const float *restrict a, const float *restrict b, float *restrict c, int count) {
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s0_2 = {0};
  korch_f16 s0_3 = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
      korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
      korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
    korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
    korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
    __asm__ volatile("" ::: "memory");
  }
  korch_f16 c_s0_0 = *(const korch_at16 *)(c + 0);
  s0_0 += c_s0_0;
  *(korch_at16 *)(c + 0) = s0_0;
  korch_f16 c_s0_1 = *(const korch_at16 *)(c + 16);
  s0_1 += c_s0_1;
  *(korch_at16 *)(c + 16) = s0_1;
  korch_f16 c_s0_2 = *(const korch_at16 *)(c + 32);
  s0_2 += c_s0_2;
  *(korch_at16 *)(c + 32) = s0_2;
  korch_f16 c_s0_3 = *(const korch_at16 *)(c + 48);
  s0_3 += c_s0_3;
  *(korch_at16 *)(c + 48) = s0_3;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  float *restrict out = out_;
  for (int i1_1a = 0; i1_1a < 2; ++i1_1a) {
    float b0[256] __attribute__((aligned(64)));
    // t2 = mat_mul(x, c1)  # f32[1,512]
    for (int k0 = 0; k0 < 300; k0 += 100) {
      const int count = 100;
      const int first = 0;
      const float *restrict a = in0 + 0 + first * 0 + k0 * 1;
      float *restrict c = b0 + 0 + first * 0;
      const float *restrict b = (const float *)state + 300 * (i1_1a * 256);
      {
        for (int r = 0; r < 1; r += 1) {
          if (k0 == 0) tile_1_64_0_1_64_0_0(a + r * 0, b + 0 + k0 * 64, c + r * 0 + 0, count);
          else if (k0 + count < 300) tile_1_64_0_1_64_0_1(a + r * 0, b + 0 + k0 * 64, c + r * 0 + 0, count);
          else tile_1_64_0_1_64_0_1(a + r * 0, b + 0 + k0 * 64, c + r * 0 + 0, count);
        }
        for (int r = 0; r < 1; r += 1) {
          if (k0 == 0) tile_1_64_0_1_64_0_0(a + r * 0, b + 19200 + k0 * 64, c + r * 0 + 64, count);
          else if (k0 + count < 300) tile_1_64_0_1_64_0_1(a + r * 0, b + 19200 + k0 * 64, c + r * 0 + 64, count);
          else tile_1_64_0_1_64_0_1(a + r * 0, b + 19200 + k0 * 64, c + r * 0 + 64, count);
        }
        for (int r = 0; r < 1; r += 1) {
          if (k0 == 0) tile_1_64_0_1_64_0_0(a + r * 0, b + 38400 + k0 * 64, c + r * 0 + 128, count);
          else if (k0 + count < 300) tile_1_64_0_1_64_0_1(a + r * 0, b + 38400 + k0 * 64, c + r * 0 + 128, count);
          else tile_1_64_0_1_64_0_1(a + r * 0, b + 38400 + k0 * 64, c + r * 0 + 128, count);
        }
        for (int r = 0; r < 1; r += 1) {
          if (k0 == 0) tile_1_64_0_1_64_0_0(a + r * 0, b + 57600 + k0 * 64, c + r * 0 + 192, count);
          else if (k0 + count < 300) tile_1_64_0_1_64_0_1(a + r * 0, b + 57600 + k0 * 64, c + r * 0 + 192, count);
          else tile_1_64_0_1_64_0_1(a + r * 0, b + 57600 + k0 * 64, c + r * 0 + 192, count);
        }
      }
    }
    // t5 = erf(t4)  # f32[1,512]
    #pragma omp simd
    for (int i1_1b = 0; i1_1b < 256; ++i1_1b) {
      const float v0 = b0[i1_1b];
      const float v1 = in2[i1_1a * 256 + i1_1b];
      const float v2 = v0 + v1;
      const float v3 = korch_erff(v2);
      out[i1_1a * 256 + i1_1b] = v3;
    }
  }
}
