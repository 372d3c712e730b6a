// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,160,256,64]
static int init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  float *to = *state = korch_aligned(8192);
  if (!to) return 1;
  static const int groups[][3] = {{0, 64, 64}};
  for (int g = 0; g < 1; ++g) {
    for (int k0 = 0; k0 < 32; ++k0) {
      for (int j = 0; j < groups[g][2]; ++j) {
        const int n = KORCH_MIN(groups[g][0] + j, 63);
        const float v0 = in1[k0 + n * 32];
        *to++ = j < groups[g][1] ? v0 : 0.0f;
      }
    }
  }
  return korch_pack(state, 8192);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile_6_64_32_1_64_64_0_1ahead6_streamed(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *ahead) {
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
  korch_f16 s5_0 = {0};
  korch_f16 s5_1 = {0};
  korch_f16 s5_2 = {0};
  korch_f16 s5_3 = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      if (i % 2 == 0) {
        __builtin_prefetch(ahead + k * 6 + 0, 0, 2);
      }
      korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
      korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
      korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
      { const float x = a[32 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); }
      { const float x = a[64 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); }
      { const float x = a[96 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); }
      { const float x = a[128 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); KORCH_FMA16(s4_2, all, b2); KORCH_FMA16(s4_3, all, b3); }
      { const float x = a[160 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s5_0, all, b0); KORCH_FMA16(s5_1, all, b1); KORCH_FMA16(s5_2, all, b2); KORCH_FMA16(s5_3, all, b3); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    __builtin_prefetch(ahead + k * 6 + 0, 0, 2);
    korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
    korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
    korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
    { const float x = a[32 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); }
    { const float x = a[64 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); }
    { const float x = a[96 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); }
    { const float x = a[128 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); KORCH_FMA16(s4_2, all, b2); KORCH_FMA16(s4_3, all, b3); }
    { const float x = a[160 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s5_0, all, b0); KORCH_FMA16(s5_1, all, b1); KORCH_FMA16(s5_2, all, b2); KORCH_FMA16(s5_3, all, b3); }
    __asm__ volatile("" ::: "memory");
  }
  korch_stream16(c + 0, s0_0);
  korch_stream16(c + 16, s0_1);
  korch_stream16(c + 32, s0_2);
  korch_stream16(c + 48, s0_3);
  korch_stream16(c + 64, s1_0);
  korch_stream16(c + 80, s1_1);
  korch_stream16(c + 96, s1_2);
  korch_stream16(c + 112, s1_3);
  korch_stream16(c + 128, s2_0);
  korch_stream16(c + 144, s2_1);
  korch_stream16(c + 160, s2_2);
  korch_stream16(c + 176, s2_3);
  korch_stream16(c + 192, s3_0);
  korch_stream16(c + 208, s3_1);
  korch_stream16(c + 224, s3_2);
  korch_stream16(c + 240, s3_3);
  korch_stream16(c + 256, s4_0);
  korch_stream16(c + 272, s4_1);
  korch_stream16(c + 288, s4_2);
  korch_stream16(c + 304, s4_3);
  korch_stream16(c + 320, s5_0);
  korch_stream16(c + 336, s5_1);
  korch_stream16(c + 352, s5_2);
  korch_stream16(c + 368, s5_3);
}
__attribute__((noinline))
static void tile_5_64_32_1_64_64_0_1ahead5_streamed(const float *restrict a, const float *restrict b, float *restrict c, int count, const float *ahead) {
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
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      if (i % 2 == 0) {
        __builtin_prefetch(ahead + k * 5 + 0, 0, 2);
      }
      korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
      korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
      korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
      { const float x = a[32 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); }
      { const float x = a[64 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); }
      { const float x = a[96 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); }
      { const float x = a[128 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); KORCH_FMA16(s4_2, all, b2); KORCH_FMA16(s4_3, all, b3); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    __builtin_prefetch(ahead + k * 5 + 0, 0, 2);
    korch_f16 b0 = *(const korch_at16 *)(b + k * 64 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 64 + 16);
    korch_f16 b2 = *(const korch_at16 *)(b + k * 64 + 32);
    korch_f16 b3 = *(const korch_at16 *)(b + k * 64 + 48);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); KORCH_FMA16(s0_2, all, b2); KORCH_FMA16(s0_3, all, b3); }
    { const float x = a[32 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); KORCH_FMA16(s1_2, all, b2); KORCH_FMA16(s1_3, all, b3); }
    { const float x = a[64 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s2_0, all, b0); KORCH_FMA16(s2_1, all, b1); KORCH_FMA16(s2_2, all, b2); KORCH_FMA16(s2_3, all, b3); }
    { const float x = a[96 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s3_0, all, b0); KORCH_FMA16(s3_1, all, b1); KORCH_FMA16(s3_2, all, b2); KORCH_FMA16(s3_3, all, b3); }
    { const float x = a[128 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s4_0, all, b0); KORCH_FMA16(s4_1, all, b1); KORCH_FMA16(s4_2, all, b2); KORCH_FMA16(s4_3, all, b3); }
    __asm__ volatile("" ::: "memory");
  }
  korch_stream16(c + 0, s0_0);
  korch_stream16(c + 16, s0_1);
  korch_stream16(c + 32, s0_2);
  korch_stream16(c + 48, s0_3);
  korch_stream16(c + 64, s1_0);
  korch_stream16(c + 80, s1_1);
  korch_stream16(c + 96, s1_2);
  korch_stream16(c + 112, s1_3);
  korch_stream16(c + 128, s2_0);
  korch_stream16(c + 144, s2_1);
  korch_stream16(c + 160, s2_2);
  korch_stream16(c + 176, s2_3);
  korch_stream16(c + 192, s3_0);
  korch_stream16(c + 208, s3_1);
  korch_stream16(c + 224, s3_2);
  korch_stream16(c + 240, s3_3);
  korch_stream16(c + 256, s4_0);
  korch_stream16(c + 272, s4_1);
  korch_stream16(c + 288, s4_2);
  korch_stream16(c + 304, s4_3);
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  for (int i0_1a = 0; i0_1a < 40; ++i0_1a) {
    // t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[1,160,256,64]
    {
      const int k0 = 0;
      const int count = 32;
      const int first = 0;
      const float *restrict a = in0 + i0_1a * 32768 + first * 32 + k0 * 1;
      float *restrict c = out + i0_1a * 65536 + first * 64;
      const float *restrict b = (const float *)state + 32 * (0);
      {
        for (int r = 0; r < 1014; r += 6) {
          const float *const ahead = a + (r + 24) * 32;
          tile_6_64_32_1_64_64_0_1ahead6_streamed(a + r * 32, b + 0 + k0 * 64, c + r * 64 + 0, count, ahead);
        }
        for (int r = 1014; r < 1024; r += 5) {
          const float *const ahead = a + (r + 20) * 32;
          tile_5_64_32_1_64_64_0_1ahead5_streamed(a + r * 32, b + 0 + k0 * 64, c + r * 64 + 0, count, ahead);
        }
      }
    }
  }
  korch_streamed();
}
