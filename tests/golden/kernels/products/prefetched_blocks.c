// t2 = mat_mul(x, c1)  # f32[2048,48]
static int init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  float *to = *state = korch_aligned(122880);
  if (!to) return 1;
  static const int groups[][3] = {
    {0, 16, 16},
    {16, 16, 16},
    {32, 16, 16},
  };
  for (int g = 0; g < 3; ++g) {
    for (int k0 = 0; k0 < 640; ++k0) {
      for (int j = 0; j < groups[g][2]; ++j) {
        const int n = KORCH_MIN(groups[g][0] + j, 47);
        const float v0 = in1[n + k0 * 48];
        *to++ = j < groups[g][1] ? v0 : 0.0f;
      }
    }
  }
  return korch_pack(state, 122880);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile_6_16_640_1_16_48_0(const float *restrict a, const float *restrict b, float *restrict c, int count) {
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
      korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
      KORCH_HOLD(b0);
      korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
      KORCH_HOLD(b1);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
      { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
      { const float x = a[1280 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
      { const float x = a[1920 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
      { const float x = a[2560 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
      { const float x = a[3200 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s5_0, all, b0); KORCH_FMA8(s5_1, all, b1); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
    KORCH_HOLD(b0);
    korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
    KORCH_HOLD(b1);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
    { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
    { const float x = a[1280 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
    { const float x = a[1920 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
    { const float x = a[2560 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
    { const float x = a[3200 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s5_0, all, b0); KORCH_FMA8(s5_1, all, b1); }
    __asm__ volatile("" ::: "memory");
  }
  *(korch_at8 *)(c + 0) = s0_0;
  *(korch_at8 *)(c + 8) = s0_1;
  *(korch_at8 *)(c + 48) = s1_0;
  *(korch_at8 *)(c + 56) = s1_1;
  *(korch_at8 *)(c + 96) = s2_0;
  *(korch_at8 *)(c + 104) = s2_1;
  *(korch_at8 *)(c + 144) = s3_0;
  *(korch_at8 *)(c + 152) = s3_1;
  *(korch_at8 *)(c + 192) = s4_0;
  *(korch_at8 *)(c + 200) = s4_1;
  *(korch_at8 *)(c + 240) = s5_0;
  *(korch_at8 *)(c + 248) = s5_1;
}
__attribute__((noinline))
static void tile_6_16_640_1_16_48_1(const float *restrict a, const float *restrict b, float *restrict c, int count) {
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
      korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
      KORCH_HOLD(b0);
      korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
      KORCH_HOLD(b1);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
      { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
      { const float x = a[1280 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
      { const float x = a[1920 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
      { const float x = a[2560 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
      { const float x = a[3200 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s5_0, all, b0); KORCH_FMA8(s5_1, all, b1); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
    KORCH_HOLD(b0);
    korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
    KORCH_HOLD(b1);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
    { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
    { const float x = a[1280 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
    { const float x = a[1920 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
    { const float x = a[2560 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
    { const float x = a[3200 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s5_0, all, b0); KORCH_FMA8(s5_1, all, b1); }
    __asm__ volatile("" ::: "memory");
  }
  korch_f8 c_s0_0 = *(const korch_at8 *)(c + 0);
  s0_0 += c_s0_0;
  *(korch_at8 *)(c + 0) = s0_0;
  korch_f8 c_s0_1 = *(const korch_at8 *)(c + 8);
  s0_1 += c_s0_1;
  *(korch_at8 *)(c + 8) = s0_1;
  korch_f8 c_s1_0 = *(const korch_at8 *)(c + 48);
  s1_0 += c_s1_0;
  *(korch_at8 *)(c + 48) = s1_0;
  korch_f8 c_s1_1 = *(const korch_at8 *)(c + 56);
  s1_1 += c_s1_1;
  *(korch_at8 *)(c + 56) = s1_1;
  korch_f8 c_s2_0 = *(const korch_at8 *)(c + 96);
  s2_0 += c_s2_0;
  *(korch_at8 *)(c + 96) = s2_0;
  korch_f8 c_s2_1 = *(const korch_at8 *)(c + 104);
  s2_1 += c_s2_1;
  *(korch_at8 *)(c + 104) = s2_1;
  korch_f8 c_s3_0 = *(const korch_at8 *)(c + 144);
  s3_0 += c_s3_0;
  *(korch_at8 *)(c + 144) = s3_0;
  korch_f8 c_s3_1 = *(const korch_at8 *)(c + 152);
  s3_1 += c_s3_1;
  *(korch_at8 *)(c + 152) = s3_1;
  korch_f8 c_s4_0 = *(const korch_at8 *)(c + 192);
  s4_0 += c_s4_0;
  *(korch_at8 *)(c + 192) = s4_0;
  korch_f8 c_s4_1 = *(const korch_at8 *)(c + 200);
  s4_1 += c_s4_1;
  *(korch_at8 *)(c + 200) = s4_1;
  korch_f8 c_s5_0 = *(const korch_at8 *)(c + 240);
  s5_0 += c_s5_0;
  *(korch_at8 *)(c + 240) = s5_0;
  korch_f8 c_s5_1 = *(const korch_at8 *)(c + 248);
  s5_1 += c_s5_1;
  *(korch_at8 *)(c + 248) = s5_1;
}
__attribute__((noinline))
static void tile_5_16_640_1_16_48_0(const float *restrict a, const float *restrict b, float *restrict c, int count) {
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
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
      KORCH_HOLD(b0);
      korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
      KORCH_HOLD(b1);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
      { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
      { const float x = a[1280 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
      { const float x = a[1920 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
      { const float x = a[2560 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
    KORCH_HOLD(b0);
    korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
    KORCH_HOLD(b1);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
    { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
    { const float x = a[1280 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
    { const float x = a[1920 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
    { const float x = a[2560 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
    __asm__ volatile("" ::: "memory");
  }
  *(korch_at8 *)(c + 0) = s0_0;
  *(korch_at8 *)(c + 8) = s0_1;
  *(korch_at8 *)(c + 48) = s1_0;
  *(korch_at8 *)(c + 56) = s1_1;
  *(korch_at8 *)(c + 96) = s2_0;
  *(korch_at8 *)(c + 104) = s2_1;
  *(korch_at8 *)(c + 144) = s3_0;
  *(korch_at8 *)(c + 152) = s3_1;
  *(korch_at8 *)(c + 192) = s4_0;
  *(korch_at8 *)(c + 200) = s4_1;
}
__attribute__((noinline))
static void tile_5_16_640_1_16_48_1(const float *restrict a, const float *restrict b, float *restrict c, int count) {
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
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
      KORCH_HOLD(b0);
      korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
      KORCH_HOLD(b1);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
      { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
      { const float x = a[1280 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
      { const float x = a[1920 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
      { const float x = a[2560 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f8 b0 = *(const korch_at8 *)(b + k * 16 + 0);
    KORCH_HOLD(b0);
    korch_f8 b1 = *(const korch_at8 *)(b + k * 16 + 8);
    KORCH_HOLD(b1);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s0_0, all, b0); KORCH_FMA8(s0_1, all, b1); }
    { const float x = a[640 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s1_0, all, b0); KORCH_FMA8(s1_1, all, b1); }
    { const float x = a[1280 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s2_0, all, b0); KORCH_FMA8(s2_1, all, b1); }
    { const float x = a[1920 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s3_0, all, b0); KORCH_FMA8(s3_1, all, b1); }
    { const float x = a[2560 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA8(s4_0, all, b0); KORCH_FMA8(s4_1, all, b1); }
    __asm__ volatile("" ::: "memory");
  }
  korch_f8 c_s0_0 = *(const korch_at8 *)(c + 0);
  s0_0 += c_s0_0;
  *(korch_at8 *)(c + 0) = s0_0;
  korch_f8 c_s0_1 = *(const korch_at8 *)(c + 8);
  s0_1 += c_s0_1;
  *(korch_at8 *)(c + 8) = s0_1;
  korch_f8 c_s1_0 = *(const korch_at8 *)(c + 48);
  s1_0 += c_s1_0;
  *(korch_at8 *)(c + 48) = s1_0;
  korch_f8 c_s1_1 = *(const korch_at8 *)(c + 56);
  s1_1 += c_s1_1;
  *(korch_at8 *)(c + 56) = s1_1;
  korch_f8 c_s2_0 = *(const korch_at8 *)(c + 96);
  s2_0 += c_s2_0;
  *(korch_at8 *)(c + 96) = s2_0;
  korch_f8 c_s2_1 = *(const korch_at8 *)(c + 104);
  s2_1 += c_s2_1;
  *(korch_at8 *)(c + 104) = s2_1;
  korch_f8 c_s3_0 = *(const korch_at8 *)(c + 144);
  s3_0 += c_s3_0;
  *(korch_at8 *)(c + 144) = s3_0;
  korch_f8 c_s3_1 = *(const korch_at8 *)(c + 152);
  s3_1 += c_s3_1;
  *(korch_at8 *)(c + 152) = s3_1;
  korch_f8 c_s4_0 = *(const korch_at8 *)(c + 192);
  s4_0 += c_s4_0;
  *(korch_at8 *)(c + 192) = s4_0;
  korch_f8 c_s4_1 = *(const korch_at8 *)(c + 200);
  s4_1 += c_s4_1;
  *(korch_at8 *)(c + 200) = s4_1;
}
static void team(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  static const int begins[] = {0, 8, 16};
  korch_turns turns = korch_share_out(omp_get_thread_num(), 2, begins, NULL);
  for (int turn; (turn = korch_take(&turns)) >= 0;) {
    const int i0_0a = turn;
    // t2 = mat_mul(x, c1)  # f32[2048,48]
    for (int k0 = 0; k0 < 640; k0 += 214) {
      const int count = KORCH_MIN(214, 640 - k0);
      const int first = 0;
      const float *restrict a = in0 + i0_0a * 81920 + first * 640 + k0 * 1;
      float *restrict c = out + i0_0a * 6144 + first * 48;
      const float *restrict b = (const float *)state + 640 * (0);
      {
        for (int r = 0; r < 108; r += 6) {
          const float *const next = a - k0 + 81920 + (k0 / 214 * 66 + 0 + (r - 0) / 6) * 416;
          for (int l = 0; l < 416; l += 16) __builtin_prefetch(next + l, 0, 2);
          if (k0 == 0) tile_6_16_640_1_16_48_0(a + r * 640, b + 0 + k0 * 16, c + r * 48 + 0, count);
          else if (k0 + count < 640) tile_6_16_640_1_16_48_1(a + r * 640, b + 0 + k0 * 16, c + r * 48 + 0, count);
          else tile_6_16_640_1_16_48_1(a + r * 640, b + 0 + k0 * 16, c + r * 48 + 0, count);
        }
        for (int r = 108; r < 128; r += 5) {
          const float *const next = a - k0 + 81920 + (k0 / 214 * 66 + 18 + (r - 108) / 5) * 416;
          for (int l = 0; l < 416; l += 16) __builtin_prefetch(next + l, 0, 2);
          if (k0 == 0) tile_5_16_640_1_16_48_0(a + r * 640, b + 0 + k0 * 16, c + r * 48 + 0, count);
          else if (k0 + count < 640) tile_5_16_640_1_16_48_1(a + r * 640, b + 0 + k0 * 16, c + r * 48 + 0, count);
          else tile_5_16_640_1_16_48_1(a + r * 640, b + 0 + k0 * 16, c + r * 48 + 0, count);
        }
        for (int r = 0; r < 108; r += 6) {
          const float *const next = a - k0 + 81920 + (k0 / 214 * 66 + 22 + (r - 0) / 6) * 416;
          for (int l = 0; l < 416; l += 16) __builtin_prefetch(next + l, 0, 2);
          if (k0 == 0) tile_6_16_640_1_16_48_0(a + r * 640, b + 10240 + k0 * 16, c + r * 48 + 16, count);
          else if (k0 + count < 640) tile_6_16_640_1_16_48_1(a + r * 640, b + 10240 + k0 * 16, c + r * 48 + 16, count);
          else tile_6_16_640_1_16_48_1(a + r * 640, b + 10240 + k0 * 16, c + r * 48 + 16, count);
        }
        for (int r = 108; r < 128; r += 5) {
          const float *const next = a - k0 + 81920 + (k0 / 214 * 66 + 40 + (r - 108) / 5) * 416;
          for (int l = 0; l < 416; l += 16) __builtin_prefetch(next + l, 0, 2);
          if (k0 == 0) tile_5_16_640_1_16_48_0(a + r * 640, b + 10240 + k0 * 16, c + r * 48 + 16, count);
          else if (k0 + count < 640) tile_5_16_640_1_16_48_1(a + r * 640, b + 10240 + k0 * 16, c + r * 48 + 16, count);
          else tile_5_16_640_1_16_48_1(a + r * 640, b + 10240 + k0 * 16, c + r * 48 + 16, count);
        }
        for (int r = 0; r < 108; r += 6) {
          const float *const next = a - k0 + 81920 + (k0 / 214 * 66 + 44 + (r - 0) / 6) * 416;
          for (int l = 0; l < 416; l += 16) __builtin_prefetch(next + l, 0, 2);
          if (k0 == 0) tile_6_16_640_1_16_48_0(a + r * 640, b + 20480 + k0 * 16, c + r * 48 + 32, count);
          else if (k0 + count < 640) tile_6_16_640_1_16_48_1(a + r * 640, b + 20480 + k0 * 16, c + r * 48 + 32, count);
          else tile_6_16_640_1_16_48_1(a + r * 640, b + 20480 + k0 * 16, c + r * 48 + 32, count);
        }
        for (int r = 108; r < 128; r += 5) {
          const float *const next = a - k0 + 81920 + (k0 / 214 * 66 + 62 + (r - 108) / 5) * 416;
          for (int l = 0; l < 416; l += 16) __builtin_prefetch(next + l, 0, 2);
          if (k0 == 0) tile_5_16_640_1_16_48_0(a + r * 640, b + 20480 + k0 * 16, c + r * 48 + 32, count);
          else if (k0 + count < 640) tile_5_16_640_1_16_48_1(a + r * 640, b + 20480 + k0 * 16, c + r * 48 + 32, count);
          else tile_5_16_640_1_16_48_1(a + r * 640, b + 20480 + k0 * 16, c + r * 48 + 32, count);
        }
      }
    }
  }
}
