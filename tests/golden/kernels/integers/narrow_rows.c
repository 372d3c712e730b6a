// w0 = cast(c1, to='float32')  # f32[20,2,128]
// w1 = cast(c3, to='float32')  # f32[20,2,1]
// t5 = sub(w0, w1)  # f32[20,2,128]
// t7 = mul(t5, c6)  # f32[20,2,128]
// t8 = reshape(t7, shape=(20, 256))  # f32[20,256]
// t9 = slice(t8, lengths=(20, 129), starts=(0, 0), steps=(1, 1))  # f32[20,129]
// t10 = transpose(t9, perm=(1, 0))  # f32[129,20]
// t11 = mat_mul(x, t10)  # f32[3,20]
static int init(void **state, const void *const *in) {
  const uint8_t *restrict in0 = in[0]; (void)in0;
  const uint8_t *restrict in1 = in[1]; (void)in1;
  const float *restrict in2 = in[2]; (void)in2;
  char *const state_ = *state = korch_aligned(8640);
  if (!state_) return 1;
  memset(state_, 0, 8640);
  int infinite = 0;
  for (int block = 0; block < 2; ++block) {
    for (int n = 0; n < 20; ++n) {
      char *const to = state_ + n / 16 * INT64_C(4288) + block * 2144;
      const int column = n % 16;
      for (int i = 0; i < KORCH_MIN(128, 129 - block * 128); ++i) {
        const uint8_t q0 = in0[i + block * 128 + n * 256];
        const int p = i % 64;
        uint16_t *const word = (uint16_t *)to + (p / 2 * 16 + column) * 2 + i / 64;
        *word |= (uint16_t)((q0) << p % 2 * 8);
      }
      {
        const int i = 0; (void)i;
        const float s0 = in2[block + n * 2];
        ((float *)(to + 2048))[column] = s0;
        infinite |= isinf(s0) != 0;
        const uint8_t z0 = in1[block + n * 2];
        const float z1 = (float)z0;
        ((int16_t *)(to + 2112))[column] = (int16_t)(z1 - 128);
      }
    }
  }
  *(int *)(state_ + 8576) = infinite;
  return korch_pack(state, 8640);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void dots(const char *restrict w, const float *restrict x, float *restrict out) {
  korch_f8 t0_0 = {0};
  korch_f8 t0_1 = {0};
  korch_f8 t1_0 = {0};
  korch_f8 t1_1 = {0};
  korch_f8 t2_0 = {0};
  korch_f8 t2_1 = {0};
  for (int b = 0; b < 2; ++b, w += 2144, x += 384) {
    korch_f8 a0_0 = {0};
    korch_f8 a0_1 = {0};
    korch_f8 a1_0 = {0};
    korch_f8 a1_1 = {0};
    korch_f8 a2_0 = {0};
    korch_f8 a2_1 = {0};
    const korch_f8 z0 = __builtin_convertvector(*(const korch_shorts8 *)(w + 2112), korch_f8);
    const korch_f8 m0_0 = z0 + 8388736.0f;
    const korch_f8 m1_0 = z0 + 32896.0f;
    const korch_f8 z1 = __builtin_convertvector(*(const korch_shorts8 *)(w + 2128), korch_f8);
    const korch_f8 m0_1 = z1 + 8388736.0f;
    const korch_f8 m1_1 = z1 + 32896.0f;
    #pragma GCC unroll 1
    for (int c = 0; c < 32; ++c) {
      korch_i8 w0 = *(const korch_lanes8 *)(w + c * 64 + 0);
      korch_i8 w1 = *(const korch_lanes8 *)(w + c * 64 + 32);
      {
        const korch_f8 q0 = (korch_f8)((w0 & 255) | 1258291200) - m0_0;
        const korch_f8 q1 = (korch_f8)((w1 & 255) | 1258291200) - m0_1;
        { const korch_f8 all = x[0 + c * 6] - (korch_f8){0}; KORCH_FMA8(a0_0, all, q0); KORCH_FMA8(a0_1, all, q1); }
        { const korch_f8 all = x[1 + c * 6] - (korch_f8){0}; KORCH_FMA8(a1_0, all, q0); KORCH_FMA8(a1_1, all, q1); }
        { const korch_f8 all = x[2 + c * 6] - (korch_f8){0}; KORCH_FMA8(a2_0, all, q0); KORCH_FMA8(a2_1, all, q1); }
      }
      {
        const korch_f8 q0 = (korch_f8)((w0 & 65280) | 1191182336) - m1_0;
        const korch_f8 q1 = (korch_f8)((w1 & 65280) | 1191182336) - m1_1;
        { const korch_f8 all = x[3 + c * 6] - (korch_f8){0}; KORCH_FMA8(a0_0, all, q0); KORCH_FMA8(a0_1, all, q1); }
        { const korch_f8 all = x[4 + c * 6] - (korch_f8){0}; KORCH_FMA8(a1_0, all, q0); KORCH_FMA8(a1_1, all, q1); }
        { const korch_f8 all = x[5 + c * 6] - (korch_f8){0}; KORCH_FMA8(a2_0, all, q0); KORCH_FMA8(a2_1, all, q1); }
      }
      w0 = (korch_i8)((korch_unsigned8)w0 >> 16);
      w1 = (korch_i8)((korch_unsigned8)w1 >> 16);
      {
        const korch_f8 q0 = (korch_f8)((w0 & 255) | 1258291200) - m0_0;
        const korch_f8 q1 = (korch_f8)((w1 & 255) | 1258291200) - m0_1;
        { const korch_f8 all = x[192 + c * 6] - (korch_f8){0}; KORCH_FMA8(a0_0, all, q0); KORCH_FMA8(a0_1, all, q1); }
        { const korch_f8 all = x[193 + c * 6] - (korch_f8){0}; KORCH_FMA8(a1_0, all, q0); KORCH_FMA8(a1_1, all, q1); }
        { const korch_f8 all = x[194 + c * 6] - (korch_f8){0}; KORCH_FMA8(a2_0, all, q0); KORCH_FMA8(a2_1, all, q1); }
      }
      {
        const korch_f8 q0 = (korch_f8)((w0 & 65280) | 1191182336) - m1_0;
        const korch_f8 q1 = (korch_f8)((w1 & 65280) | 1191182336) - m1_1;
        { const korch_f8 all = x[195 + c * 6] - (korch_f8){0}; KORCH_FMA8(a0_0, all, q0); KORCH_FMA8(a0_1, all, q1); }
        { const korch_f8 all = x[196 + c * 6] - (korch_f8){0}; KORCH_FMA8(a1_0, all, q0); KORCH_FMA8(a1_1, all, q1); }
        { const korch_f8 all = x[197 + c * 6] - (korch_f8){0}; KORCH_FMA8(a2_0, all, q0); KORCH_FMA8(a2_1, all, q1); }
      }
    }
    t0_0 += a0_0 * *(const korch_at8 *)(w + 2048);
    t0_1 += a0_1 * *(const korch_at8 *)(w + 2080);
    t1_0 += a1_0 * *(const korch_at8 *)(w + 2048);
    t1_1 += a1_1 * *(const korch_at8 *)(w + 2080);
    t2_0 += a2_0 * *(const korch_at8 *)(w + 2048);
    t2_1 += a2_1 * *(const korch_at8 *)(w + 2080);
  }
  *(korch_at8 *)(out + 0) = t0_0;
  *(korch_at8 *)(out + 8) = t0_1;
  *(korch_at8 *)(out + 16) = t1_0;
  *(korch_at8 *)(out + 24) = t1_1;
  *(korch_at8 *)(out + 32) = t2_0;
  *(korch_at8 *)(out + 40) = t2_1;
}
static void one_by_one(const char *restrict w, const float *restrict x, float *restrict out) {
  for (int n = 0; n < 16; ++n) {
    float sum = 0;
    for (int k = 0; k < 129; ++k) {
      const char *const from = w + k / 128 * 2144;
      const int i = k % 128, p = i % 64;
      const int at = (p / 2 * 16 + n) * 2 + i / 64;
      const int bit = p % 2 * 8;
      const int code = (((const uint16_t *)from)[at] >> bit & 255) - 128;
      sum += x[k] * (((float)code - ((const int16_t *)(from + 2112))[n]) * ((const float *)(from + 2048))[n]);
    }
    out[n] = sum;
  }
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const uint8_t *restrict in0 = in[0];
  const uint8_t *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict in3 = in[3];
  const float *restrict x = in3;
  float *restrict out = out_;
  char *const own_room = (char *)workspace + 0 * INT64_C(3264);
  float *const units = (float *)(own_room + 3072), *const sums = (float *)(own_room + 3072);
  const int infinite = *(const int *)((const char *)state + INT64_C(8576));
  int plain[3];
  float *const rows = (float *)own_room; (void)units;
  for (int r = 0; r < 3; ++r) plain[r] = infinite;
  for (int r = 0; r < 3; r += 3)
    korch_by_steps(x + r * 129, 129, KORCH_MIN(3, 3 - r), 3, 256, rows + r * 256);
  for (int tile = 0; tile < 2; tile += 1) {
    const char *const w = (const char *)state + tile * INT64_C(4288);
    for (int r = 0; r < 3; r += 3) dots(w, rows + r * 256, sums + r * 16);
    const int c0 = tile * 16, count = KORCH_MIN(16, 20 - c0);
    for (int row = 0; row < 3; ++row) {
      if (plain[row]) one_by_one(w, x + row * 129, sums + row * 16);
      const float *restrict z = sums + row * 16;
      #pragma omp simd
      for (int c = 0; c < count; ++c) {
        const float v0 = z[c];
        out[row * 20 + c0 + c] = v0;
      }
    }
  }
}
