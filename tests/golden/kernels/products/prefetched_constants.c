// t2 = mat_mul(x, c1)  # f32[3,8,64]
static int init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  float *to = *state = korch_aligned(1179648);
  if (!to) return 1;
  static const int groups[][3] = {{0, 64, 64}};
  for (int i0 = 0; i0 < 3; ++i0) {
    for (int g = 0; g < 1; ++g) {
      for (int k0 = 0; k0 < 1536; ++k0) {
        for (int j = 0; j < groups[g][2]; ++j) {
          const int n = KORCH_MIN(groups[g][0] + j, 63);
          const float v0 = in1[n + k0 * 64 + i0 * 98304];
          *to++ = j < groups[g][1] ? v0 : 0.0f;
        }
      }
    }
  }
  return korch_pack(state, 1179648);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile_4_64_1536_1_64_64_0_2ahead32(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *ahead) {
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
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      if (i % 1 == 0) {
        __builtin_prefetch(ahead + k * 32 + 0, 0, 2);
        __builtin_prefetch(ahead + k * 32 + 16, 0, 2);
      }
      korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
      korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
      korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
      { const float x = a[1536 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); }
      { const float x = a[3072 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); }
      { const float x = a[4608 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    __builtin_prefetch(ahead + k * 32 + 0, 0, 2);
    __builtin_prefetch(ahead + k * 32 + 16, 0, 2);
    korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
    korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
    korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
    { const float x = a[1536 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); }
    { const float x = a[3072 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); }
    { const float x = a[4608 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); }
    __asm__ volatile("" ::: "memory");
  }
  *(korch_at16 *)(c + 0) = s0_0;
  *(korch_at16 *)(c + 16) = s0_1;
  *(korch_at16 *)(c + 32) = s0_2;
  *(korch_at16 *)(c + 48) = s0_3;
  *(korch_at16 *)(c + 64) = s1_0;
  *(korch_at16 *)(c + 80) = s1_1;
  *(korch_at16 *)(c + 96) = s1_2;
  *(korch_at16 *)(c + 112) = s1_3;
  *(korch_at16 *)(c + 128) = s2_0;
  *(korch_at16 *)(c + 144) = s2_1;
  *(korch_at16 *)(c + 160) = s2_2;
  *(korch_at16 *)(c + 176) = s2_3;
  *(korch_at16 *)(c + 192) = s3_0;
  *(korch_at16 *)(c + 208) = s3_1;
  *(korch_at16 *)(c + 224) = s3_2;
  *(korch_at16 *)(c + 240) = s3_3;
}
__attribute__((noinline))
static void tile_4_64_1536_1_64_64_1_2ahead32(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *ahead) {
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
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      if (i % 1 == 0) {
        __builtin_prefetch(ahead + k * 32 + 0, 0, 2);
        __builtin_prefetch(ahead + k * 32 + 16, 0, 2);
      }
      korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
      korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
      korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
      { const float x = a[1536 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); }
      { const float x = a[3072 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); }
      { const float x = a[4608 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    __builtin_prefetch(ahead + k * 32 + 0, 0, 2);
    __builtin_prefetch(ahead + k * 32 + 16, 0, 2);
    korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
    korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
    korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
    { const float x = a[1536 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); }
    { const float x = a[3072 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); }
    { const float x = a[4608 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); }
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
  korch_f16 c_s1_0 = *(const korch_at16 *)(c + 64);
  s1_0 += c_s1_0;
  *(korch_at16 *)(c + 64) = s1_0;
  korch_f16 c_s1_1 = *(const korch_at16 *)(c + 80);
  s1_1 += c_s1_1;
  *(korch_at16 *)(c + 80) = s1_1;
  korch_f16 c_s1_2 = *(const korch_at16 *)(c + 96);
  s1_2 += c_s1_2;
  *(korch_at16 *)(c + 96) = s1_2;
  korch_f16 c_s1_3 = *(const korch_at16 *)(c + 112);
  s1_3 += c_s1_3;
  *(korch_at16 *)(c + 112) = s1_3;
  korch_f16 c_s2_0 = *(const korch_at16 *)(c + 128);
  s2_0 += c_s2_0;
  *(korch_at16 *)(c + 128) = s2_0;
  korch_f16 c_s2_1 = *(const korch_at16 *)(c + 144);
  s2_1 += c_s2_1;
  *(korch_at16 *)(c + 144) = s2_1;
  korch_f16 c_s2_2 = *(const korch_at16 *)(c + 160);
  s2_2 += c_s2_2;
  *(korch_at16 *)(c + 160) = s2_2;
  korch_f16 c_s2_3 = *(const korch_at16 *)(c + 176);
  s2_3 += c_s2_3;
  *(korch_at16 *)(c + 176) = s2_3;
  korch_f16 c_s3_0 = *(const korch_at16 *)(c + 192);
  s3_0 += c_s3_0;
  *(korch_at16 *)(c + 192) = s3_0;
  korch_f16 c_s3_1 = *(const korch_at16 *)(c + 208);
  s3_1 += c_s3_1;
  *(korch_at16 *)(c + 208) = s3_1;
  korch_f16 c_s3_2 = *(const korch_at16 *)(c + 224);
  s3_2 += c_s3_2;
  *(korch_at16 *)(c + 224) = s3_2;
  korch_f16 c_s3_3 = *(const korch_at16 *)(c + 240);
  s3_3 += c_s3_3;
  *(korch_at16 *)(c + 240) = s3_3;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  for (int i0_0 = 0; i0_0 < 3; ++i0_0) {
    // t2 = mat_mul(x, c1)  # f32[3,8,64]
    for (int k0 = 0; k0 < 1536; k0 += 128) {
      const int count = 128;
      const int first = 0;
      const float *restrict a = in0 + i0_0 * 12288 + first * 1536 + k0 * 1;
      float *restrict c = out + i0_0 * 512 + first * 64;
      const float *restrict b = (const float *)state + 1536 * (i0_0 * 64);
      {
        for (int r = 0; r < 8; r += 4) {
          const float *const ahead = b + (k0 + 128) * 64 + (0 + (r - 0) / 4) * 32 * count;
          if (k0 == 0) tile_4_64_1536_1_64_64_0_2ahead32(a + r * 1536, b + 0 + k0 * 64, c + r * 64 + 0, count, ahead);
          else if (k0 + count < 1536) tile_4_64_1536_1_64_64_1_2ahead32(a + r * 1536, b + 0 + k0 * 64, c + r * 64 + 0, count, ahead);
          else tile_4_64_1536_1_64_64_1_2ahead32(a + r * 1536, b + 0 + k0 * 64, c + r * 64 + 0, count, ahead);
        }
      }
    }
  }
}
