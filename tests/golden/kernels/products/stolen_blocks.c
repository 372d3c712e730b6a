// t2 = mat_mul(x, c1)  # f32[192,512]
static int init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  float *to = *state = korch_aligned(2097152);
  if (!to) return 1;
  static const int groups[][3] = {
    {0, 16, 16},
    {16, 16, 16},
    {32, 16, 16},
    {48, 16, 16},
    {64, 16, 16},
    {80, 16, 16},
    {96, 16, 16},
    {112, 16, 16},
    {128, 16, 16},
    {144, 16, 16},
    {160, 16, 16},
    {176, 16, 16},
    {192, 16, 16},
    {208, 16, 16},
    {224, 16, 16},
    {240, 16, 16},
    {256, 16, 16},
    {272, 16, 16},
    {288, 16, 16},
    {304, 16, 16},
    {320, 16, 16},
    {336, 16, 16},
    {352, 16, 16},
    {368, 16, 16},
    {384, 16, 16},
    {400, 16, 16},
    {416, 16, 16},
    {432, 16, 16},
    {448, 16, 16},
    {464, 16, 16},
    {480, 16, 16},
    {496, 16, 16},
  };
  for (int g = 0; g < 32; ++g) {
    for (int k0 = 0; k0 < 1024; ++k0) {
      for (int j = 0; j < groups[g][2]; ++j) {
        const int n = KORCH_MIN(groups[g][0] + j, 511);
        const float v0 = in1[n + k0 * 512];
        *to++ = j < groups[g][1] ? v0 : 0.0f;
      }
    }
  }
  return korch_pack(state, 2097152);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile_6_16_1024_1_16_512_0_1ahead1(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *ahead) {
  korch_f8 s0_0 = {0};
  korch_f8 s0_1 = {0};
  korch_f8 s1_0 = {0};
  korch_f8 s1_1 = {0};
  korch_f8 s2_0 = {0};
  korch_f8 s2_1 = {0};
  korch_f8 s3_0 = {0};
  korch_f8 s3_1 = {0};
  korch_f8 s4_0 = {0};
  korch_f8 s4_1 = {0};
  korch_f8 s5_0 = {0};
  korch_f8 s5_1 = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      if (i % 8 == 0) {
        __builtin_prefetch(ahead + k * 1 + 0, 0, 2);
      }
      korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
      KORCH_HOLD(b0);
      korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
      KORCH_HOLD(b1);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
      { const float x = a[1024 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
      { const float x = a[2048 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
      { const float x = a[3072 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
      { const float x = a[4096 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
      { const float x = a[5120 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s5_0, all, b0); KORCH_FMA8(s5_1, all, b1); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    __builtin_prefetch(ahead + k * 1 + 0, 0, 2);
    korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
    KORCH_HOLD(b0);
    korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
    KORCH_HOLD(b1);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
    { const float x = a[1024 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
    { const float x = a[2048 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
    { const float x = a[3072 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
    { const float x = a[4096 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
    { const float x = a[5120 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s5_0, all, b0); KORCH_FMA8(s5_1, all, b1); }
    __asm__ volatile("" ::: "memory");
  }
  *(korch_at8 *)(c + 0) = s0_0;
  *(korch_at8 *)(c + 8) = s0_1;
  *(korch_at8 *)(c + 512) = s1_0;
  *(korch_at8 *)(c + 520) = s1_1;
  *(korch_at8 *)(c + 1024) = s2_0;
  *(korch_at8 *)(c + 1032) = s2_1;
  *(korch_at8 *)(c + 1536) = s3_0;
  *(korch_at8 *)(c + 1544) = s3_1;
  *(korch_at8 *)(c + 2048) = s4_0;
  *(korch_at8 *)(c + 2056) = s4_1;
  *(korch_at8 *)(c + 2560) = s5_0;
  *(korch_at8 *)(c + 2568) = s5_1;
}
__attribute__((noinline))
static void tile_6_16_1024_1_16_512_1_1ahead1(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *ahead) {
  korch_f8 s0_0 = {0};
  korch_f8 s0_1 = {0};
  korch_f8 s1_0 = {0};
  korch_f8 s1_1 = {0};
  korch_f8 s2_0 = {0};
  korch_f8 s2_1 = {0};
  korch_f8 s3_0 = {0};
  korch_f8 s3_1 = {0};
  korch_f8 s4_0 = {0};
  korch_f8 s4_1 = {0};
  korch_f8 s5_0 = {0};
  korch_f8 s5_1 = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      if (i % 8 == 0) {
        __builtin_prefetch(ahead + k * 1 + 0, 0, 2);
      }
      korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
      KORCH_HOLD(b0);
      korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
      KORCH_HOLD(b1);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
      { const float x = a[1024 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
      { const float x = a[2048 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
      { const float x = a[3072 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
      { const float x = a[4096 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
      { const float x = a[5120 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s5_0, all, b0); KORCH_FMA8(s5_1, all, b1); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    __builtin_prefetch(ahead + k * 1 + 0, 0, 2);
    korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
    KORCH_HOLD(b0);
    korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
    KORCH_HOLD(b1);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
    { const float x = a[1024 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
    { const float x = a[2048 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
    { const float x = a[3072 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
    { const float x = a[4096 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
    { const float x = a[5120 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s5_0, all, b0); KORCH_FMA8(s5_1, all, b1); }
    __asm__ volatile("" ::: "memory");
  }
  korch_f8 c_s0_0 = *(const korch_at8 *)(c + 0);
  s0_0 += c_s0_0;
  *(korch_at8 *)(c + 0) = s0_0;
  korch_f8 c_s0_1 = *(const korch_at8 *)(c + 8);
  s0_1 += c_s0_1;
  *(korch_at8 *)(c + 8) = s0_1;
  korch_f8 c_s1_0 = *(const korch_at8 *)(c + 512);
  s1_0 += c_s1_0;
  *(korch_at8 *)(c + 512) = s1_0;
  korch_f8 c_s1_1 = *(const korch_at8 *)(c + 520);
  s1_1 += c_s1_1;
  *(korch_at8 *)(c + 520) = s1_1;
  korch_f8 c_s2_0 = *(const korch_at8 *)(c + 1024);
  s2_0 += c_s2_0;
  *(korch_at8 *)(c + 1024) = s2_0;
  korch_f8 c_s2_1 = *(const korch_at8 *)(c + 1032);
  s2_1 += c_s2_1;
  *(korch_at8 *)(c + 1032) = s2_1;
  korch_f8 c_s3_0 = *(const korch_at8 *)(c + 1536);
  s3_0 += c_s3_0;
  *(korch_at8 *)(c + 1536) = s3_0;
  korch_f8 c_s3_1 = *(const korch_at8 *)(c + 1544);
  s3_1 += c_s3_1;
  *(korch_at8 *)(c + 1544) = s3_1;
  korch_f8 c_s4_0 = *(const korch_at8 *)(c + 2048);
  s4_0 += c_s4_0;
  *(korch_at8 *)(c + 2048) = s4_0;
  korch_f8 c_s4_1 = *(const korch_at8 *)(c + 2056);
  s4_1 += c_s4_1;
  *(korch_at8 *)(c + 2056) = s4_1;
  korch_f8 c_s5_0 = *(const korch_at8 *)(c + 2560);
  s5_0 += c_s5_0;
  *(korch_at8 *)(c + 2560) = s5_0;
  korch_f8 c_s5_1 = *(const korch_at8 *)(c + 2568);
  s5_1 += c_s5_1;
  *(korch_at8 *)(c + 2568) = s5_1;
}
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  static const int begins[] = {0, 8, 16};
  korch_turns turns = korch_share_out(omp_get_thread_num(), 2, begins, NULL);
  for (int turn; (turn = korch_take(&turns)) >= 0;) {
    const int i0_0a = turn / 8;
    const int i0_1a = turn % 8;
    // t2 = mat_mul(x, c1)  # f32[192,512]
    for (int k0 = 0; k0 < 1024; k0 += 256) {
      const int count = 256;
      const int first = 0;
      const float *restrict a = in0 + i0_0a * 98304 + first * 1024 + k0 * 1;
      float *restrict c = out + i0_1a * 64 + i0_0a * 49152 + first * 512;
      const float *restrict b = (const float *)state + 1024 * (i0_1a * 64);
      {
        for (int r = 0; r < 96; r += 6) {
          const float *const ahead = b + 16384 + k0 * 16 + (0 + (r - 0) / 6) * 1 * count;
          const float *const next = a - k0 + 98304 + (k0 / 256 * 64 + 0 + (r - 0) / 6) * 384;
          for (int l = 0; l < 384; l += 16) __builtin_prefetch(next + l, 0, 2);
          if (k0 == 0) tile_6_16_1024_1_16_512_0_1ahead1(a + r * 1024, b + 0 + k0 * 16, c + r * 512 + 0, count, ahead);
          else if (k0 + count < 1024) tile_6_16_1024_1_16_512_1_1ahead1(a + r * 1024, b + 0 + k0 * 16, c + r * 512 + 0, count, ahead);
          else tile_6_16_1024_1_16_512_1_1ahead1(a + r * 1024, b + 0 + k0 * 16, c + r * 512 + 0, count, ahead);
        }
        for (int r = 0; r < 96; r += 6) {
          const float *const ahead = b + 32768 + k0 * 16 + (0 + (r - 0) / 6) * 1 * count;
          const float *const next = a - k0 + 98304 + (k0 / 256 * 64 + 16 + (r - 0) / 6) * 384;
          for (int l = 0; l < 384; l += 16) __builtin_prefetch(next + l, 0, 2);
          if (k0 == 0) tile_6_16_1024_1_16_512_0_1ahead1(a + r * 1024, b + 16384 + k0 * 16, c + r * 512 + 16, count, ahead);
          else if (k0 + count < 1024) tile_6_16_1024_1_16_512_1_1ahead1(a + r * 1024, b + 16384 + k0 * 16, c + r * 512 + 16, count, ahead);
          else tile_6_16_1024_1_16_512_1_1ahead1(a + r * 1024, b + 16384 + k0 * 16, c + r * 512 + 16, count, ahead);
        }
        for (int r = 0; r < 96; r += 6) {
          const float *const ahead = b + 49152 + k0 * 16 + (0 + (r - 0) / 6) * 1 * count;
          const float *const next = a - k0 + 98304 + (k0 / 256 * 64 + 32 + (r - 0) / 6) * 384;
          for (int l = 0; l < 384; l += 16) __builtin_prefetch(next + l, 0, 2);
          if (k0 == 0) tile_6_16_1024_1_16_512_0_1ahead1(a + r * 1024, b + 32768 + k0 * 16, c + r * 512 + 32, count, ahead);
          else if (k0 + count < 1024) tile_6_16_1024_1_16_512_1_1ahead1(a + r * 1024, b + 32768 + k0 * 16, c + r * 512 + 32, count, ahead);
          else tile_6_16_1024_1_16_512_1_1ahead1(a + r * 1024, b + 32768 + k0 * 16, c + r * 512 + 32, count, ahead);
        }
        for (int r = 0; r < 96; r += 6) {
          const float *const ahead = b + (k0 + 256) * 16 + (0 + (r - 0) / 6) * 1 * count;
          const float *const next = a - k0 + 98304 + (k0 / 256 * 64 + 48 + (r - 0) / 6) * 384;
          for (int l = 0; l < 384; l += 16) __builtin_prefetch(next + l, 0, 2);
          if (k0 == 0) tile_6_16_1024_1_16_512_0_1ahead1(a + r * 1024, b + 49152 + k0 * 16, c + r * 512 + 48, count, ahead);
          else if (k0 + count < 1024) tile_6_16_1024_1_16_512_1_1ahead1(a + r * 1024, b + 49152 + k0 * 16, c + r * 512 + 48, count, ahead);
          else tile_6_16_1024_1_16_512_1_1ahead1(a + r * 1024, b + 49152 + k0 * 16, c + r * 512 + 48, count, ahead);
        }
      }
    }
  }
}
