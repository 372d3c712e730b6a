// t1 = transpose(x, perm=(0, 2, 1, 3))  # f32[8,64,2,32]
// t2 = reshape(t1, shape=(8, 128, 32))  # f32[8,128,32]
// t4 = mat_mul(t2, c3)  # f32[8,128,32]
static int init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  float *to = *state = korch_aligned(32768);
  if (!to) return 1;
  static const int groups[][3] = {{0, 32, 32}};
  for (int i0 = 0; i0 < 8; ++i0) {
    for (int g = 0; g < 1; ++g) {
      for (int k0 = 0; k0 < 32; ++k0) {
        for (int j = 0; j < groups[g][2]; ++j) {
          const int n = KORCH_MIN(groups[g][0] + j, 31);
          const float v0 = in1[n + k0 * 32 + i0 * 1024];
          *to++ = j < groups[g][1] ? v0 : 0.0f;
        }
      }
    }
  }
  return korch_pack(state, 32768);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile_2_32_2048_1_32_32_0(const float *restrict a, const float *restrict b, float *restrict c, int count) {
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s1_1 = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f16 b0 = *(const korch_at16 *)(b + k * 32 + 0);
      korch_f16 b1 = *(const korch_at16 *)(b + k * 32 + 16);
      { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); }
      { const float x = a[2048 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); }
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f16 b0 = *(const korch_at16 *)(b + k * 32 + 0);
    korch_f16 b1 = *(const korch_at16 *)(b + k * 32 + 16);
    { const float x = a[0 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s0_0, all, b0); KORCH_FMA16(s0_1, all, b1); }
    { const float x = a[2048 + k * 1]; const korch_fn all = KORCH_ALL(x); KORCH_FMA16(s1_0, all, b0); KORCH_FMA16(s1_1, all, b1); }
    __asm__ volatile("" ::: "memory");
  }
  *(korch_at16 *)(c + 0) = s0_0;
  *(korch_at16 *)(c + 16) = s0_1;
  *(korch_at16 *)(c + 32) = s1_0;
  *(korch_at16 *)(c + 48) = s1_1;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  for (int i0_0 = 0; i0_0 < 8; ++i0_0) {
    // t4 = mat_mul(t2, c3)  # f32[8,128,32]
    for (int i0_1a = 0; i0_1a < 64; ++i0_1a) {
      {
        const int k0 = 0;
        const int count = 32;
        const int first = 0;
        const float *restrict a = in0 + i0_1a * 32 + i0_0 * 4096 + first * 2048 + k0 * 1;
        float *restrict c = out + i0_1a * 64 + i0_0 * 4096 + first * 32;
        const float *restrict b = (const float *)state + 32 * (i0_0 * 32);
        {
          for (int r = 0; r < 2; r += 2) {
            tile_2_32_2048_1_32_32_0(a + r * 2048, b + 0 + k0 * 32, c + r * 32 + 0, count);
          }
        }
      }
    }
  }
}
