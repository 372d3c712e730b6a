// t2 = mat_mul(x, c1)  # f32[5,4]
static int init(void **state, const void *const *in) {
  const float *in1 = in[1]; (void)in1;
  float *to = *state = korch_aligned(4800);
  if (!to) return 1;
  static const int groups[][3] = {{0, 4, 4}};
  for (int g = 0; g < 1; ++g) {
    for (int k0 = 0; k0 < 300; ++k0) {
      for (int j = 0; j < groups[g][2]; ++j) {
        const int n = KORCH_MIN(groups[g][0] + j, 3);
        const float v0 = in1[n + k0 * 4];
        *to++ = j < groups[g][1] ? v0 : 0.0f;
      }
    }
  }
  return korch_pack(state, 4800);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile_1_4_0_1_4_0_0(const float *restrict a, const float *restrict b, float *restrict c, int count) {
  korch_f4 s0_0 = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f4 b0 = *(const korch_at4 *)(b + k * 4 + 0);
      KORCH_FMA_FROM4(s0_0, a[0 + k * 1], b0);
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f4 b0 = *(const korch_at4 *)(b + k * 4 + 0);
    KORCH_FMA_FROM4(s0_0, a[0 + k * 1], b0);
    __asm__ volatile("" ::: "memory");
  }
  *(korch_at4 *)(c + 0) = s0_0;
}
__attribute__((noinline))
static void tile_1_4_0_1_4_0_1(const float *restrict a, const float *restrict b, float *restrict c, int count) {
  korch_f4 s0_0 = {0};
  int k0 = 0;
  for (; k0 + 8 <= count; k0 += 8)
  #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int k = k0 + i;
      korch_f4 b0 = *(const korch_at4 *)(b + k * 4 + 0);
      KORCH_FMA_FROM4(s0_0, a[0 + k * 1], b0);
      __asm__ volatile("" ::: "memory");
    }
  for (int k = k0; k < count; ++k) {
    korch_f4 b0 = *(const korch_at4 *)(b + k * 4 + 0);
    KORCH_FMA_FROM4(s0_0, a[0 + k * 1], b0);
    __asm__ volatile("" ::: "memory");
  }
  korch_f4 c_s0_0 = *(const korch_at4 *)(c + 0);
  s0_0 += c_s0_0;
  *(korch_at4 *)(c + 0) = s0_0;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  float *restrict out = out_;
  for (int i0_0 = 0; i0_0 < 5; ++i0_0) {
    // t2 = mat_mul(x, c1)  # f32[5,4]
    for (int k0 = 0; k0 < 300; k0 += 100) {
      const int count = 100;
      const int first = 0;
      const float *restrict a = in0 + i0_0 * 300 + first * 0 + k0 * 1;
      float *restrict c = out + i0_0 * 4 + first * 0;
      const float *restrict b = (const float *)state + 300 * (0);
      {
        for (int r = 0; r < 1; r += 1) {
          if (k0 == 0) tile_1_4_0_1_4_0_0(a + r * 0, b + 0 + k0 * 4, c + r * 0 + 0, count);
          else if (k0 + count < 300) tile_1_4_0_1_4_0_1(a + r * 0, b + 0 + k0 * 4, c + r * 0 + 0, count);
          else tile_1_4_0_1_4_0_1(a + r * 0, b + 0 + k0 * 4, c + r * 0 + 0, count);
        }
      }
    }
  }
}
