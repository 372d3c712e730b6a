// t2 = conv(x, c1, channels_last=0, dilations=(1, 1), group=1, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,3,20,45]
// t4 = add(t2, c3)  # f32[1,3,20,45]
static int init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(540);
  if (!to) return 1;
  for (int step = 0; step < 45; ++step)
    for (int m = 0; m < 3; ++m) *to++ = w[m * 45 + step];
  return korch_pack(state, 540);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void tile(const float *restrict a, const float *restrict b, float *restrict y, int channels, int lines, int more, int left) {
  (void)left;
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s1_1 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s2_1 = {0};
  for (int c = 0; c < channels; ++c, a += 900, b += 27) {
    const float *row = a, *next = b, *const ahead = a + lines * 45;
    __builtin_prefetch(ahead + 0, 0, 2);
    __builtin_prefetch(ahead + 16, 0, 2);
    for (int l = 0; l < lines; ++l, row += 45)
      for (int k0 = 0; k0 < 3; k0 += 3)
    #pragma GCC unroll 3
        for (int i = 0; i < 3; ++i, next += 3) {
          const int k = k0 + i;
          korch_f16 x0 = *(const korch_at16 *)(row + k * 1 + 0);
          korch_f16 x1 = *(const korch_at16 *)(row + k * 1 + 16);
          {
            const korch_fn w0 = KORCH_ALL(next[0]);
            KORCH_FMA16(s0_0, w0, x0);
            KORCH_FMA16(s0_1, w0, x1);
          }
          {
            const korch_fn w1 = KORCH_ALL(next[1]);
            KORCH_FMA16(s1_0, w1, x0);
            KORCH_FMA16(s1_1, w1, x1);
          }
          {
            const korch_fn w2 = KORCH_ALL(next[2]);
            KORCH_FMA16(s2_0, w2, x0);
            KORCH_FMA16(s2_1, w2, x1);
          }
          __asm__ volatile("" ::: "memory");
        }
  }
  if (more) {
    s0_0 += *(korch_at16 *)(y + 0);
    s0_1 += *(korch_at16 *)(y + 16);
    s1_0 += *(korch_at16 *)(y + 32);
    s1_1 += *(korch_at16 *)(y + 48);
    s2_0 += *(korch_at16 *)(y + 64);
    s2_1 += *(korch_at16 *)(y + 80);
  }
  *(korch_at16 *)(y + 0) = s0_0;
  *(korch_at16 *)(y + 16) = s0_1;
  *(korch_at16 *)(y + 32) = s1_0;
  *(korch_at16 *)(y + 48) = s1_1;
  *(korch_at16 *)(y + 64) = s2_0;
  *(korch_at16 *)(y + 80) = s2_1;
}
__attribute__((noinline))
static void edge(const float *restrict a, const float *restrict b, float *restrict y, int channels, int lines, int more, int left) {
  korch_some16 masks[3][2];
  for (int k = 0; k < 3; ++k)
    for (int v = 0; v < 2; ++v) {
      const int at = left + k * 1 + v * 16;
      masks[k][v] = korch_between16(-at, 45 - at);
    }
  korch_f16 s0_0 = {0};
  korch_f16 s0_1 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s1_1 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s2_1 = {0};
  for (int c = 0; c < channels; ++c, a += 900, b += 27) {
    const float *row = a, *next = b, *const ahead = a + lines * 45;
    __builtin_prefetch(ahead + 0, 0, 2);
    __builtin_prefetch(ahead + 16, 0, 2);
    for (int l = 0; l < lines; ++l, row += 45)
      for (int k0 = 0; k0 < 3; k0 += 3)
    #pragma GCC unroll 3
        for (int i = 0; i < 3; ++i, next += 3) {
          const int k = k0 + i;
          korch_f16 x0 = korch_load_some16(row + k * 1 + 0, masks[k][0]);
          korch_f16 x1 = korch_load_some16(row + k * 1 + 16, masks[k][1]);
          {
            const korch_fn w0 = KORCH_ALL(next[0]);
            KORCH_FMA16(s0_0, w0, x0);
            KORCH_FMA16(s0_1, w0, x1);
          }
          {
            const korch_fn w1 = KORCH_ALL(next[1]);
            KORCH_FMA16(s1_0, w1, x0);
            KORCH_FMA16(s1_1, w1, x1);
          }
          {
            const korch_fn w2 = KORCH_ALL(next[2]);
            KORCH_FMA16(s2_0, w2, x0);
            KORCH_FMA16(s2_1, w2, x1);
          }
          __asm__ volatile("" ::: "memory");
        }
  }
  if (more) {
    s0_0 += *(korch_at16 *)(y + 0);
    s0_1 += *(korch_at16 *)(y + 16);
    s1_0 += *(korch_at16 *)(y + 32);
    s1_1 += *(korch_at16 *)(y + 48);
    s2_0 += *(korch_at16 *)(y + 64);
    s2_1 += *(korch_at16 *)(y + 80);
  }
  *(korch_at16 *)(y + 0) = s0_0;
  *(korch_at16 *)(y + 16) = s0_1;
  *(korch_at16 *)(y + 32) = s1_0;
  *(korch_at16 *)(y + 48) = s1_1;
  *(korch_at16 *)(y + 64) = s2_0;
  *(korch_at16 *)(y + 80) = s2_1;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict x = in0;
  float *restrict out = out_;
  for (int image = 0; image < 1; image += 1) {
    for (int h = 0; h < 20; h += 1) {
      const int top = h * 1 - 1;
      const int first = top < 0 ? (0 - top) / 1 : 0;
      const int last = top < 20 ? KORCH_MIN(3, (20 - top) / 1) : 0;
      const float *const a = x + (image * INT64_C(100) + top + first * 1) * 45;
      const float *const b = (const float *)state + first * 9;
      float y[192] __attribute__((aligned(64)));
      for (int c = 0; c < 5; c += 14) {
        for (int part = 0; part < 2; ++part) {
          const int left = KORCH_MIN(part * 32, 13) - 1;
          const float *const at = a + c * INT64_C(900) + left;
          const float *const packed = b + c * 27;
          float *const sums = y + part * 96;
          const int channels = KORCH_MIN(14, 5 - c);
          if (left < 0 || left + 34 > 45)
            edge(at, packed, sums, channels, last - first, c > 0, left);
          else
          tile(at, packed, sums, channels, last - first, c > 0, left);
        }
      }
      for (int part = 0; part < 2; ++part) {
        for (int m = 0; m < 3; ++m) {
          enum { count = 32 };
          const int row = (image * 3 + m) * 20 + h, c0 = KORCH_MIN(part * 32, 13);
          const float *restrict z = y + (part * 3 + m) * 32;
          #pragma omp simd
          for (int c = 0; c < count; ++c) {
            const float v0 = z[c];
            const float v1 = in2[((row) / 20)];
            const float v2 = v0 + v1;
            out[row * 45 + c0 + c] = v2;
          }
        }
      }
    }
  }
}
