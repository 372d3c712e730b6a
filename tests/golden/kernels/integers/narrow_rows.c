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
  char *const state_ = *state = korch_aligned(6496);
  if (!state_) return 1;
  memset(state_, 0, 6496);
  int infinite = 0;
  for (int block = 0; block < 2; ++block) {
    for (int n = 0; n < 20; ++n) {
      char *const to = state_ + n / 8 * INT64_C(2144) + block * 1072;
      const int column = n % 8;
      for (int i = 0; i < KORCH_MIN(128, 129 - block * 128); ++i) {
        const uint8_t q0 = in0[i + block * 128 + n * 256];
        const int p = i % 64;
        uint16_t *const word = (uint16_t *)to + (p / 2 * 8 + column) * 2 + i / 64;
        *word |= (uint16_t)((q0) << p % 2 * 8);
      }
      {
        const int i = 0; (void)i;
        const float s0 = in2[block + n * 2];
        ((float *)(to + 1024))[column] = s0;
        infinite |= isinf(s0) != 0;
        const uint8_t z0 = in1[block + n * 2];
        const float z1 = (float)z0;
        ((int16_t *)(to + 1056))[column] = (int16_t)(z1 - 128);
      }
    }
  }
  *(int *)(state_ + 6432) = infinite;
  return korch_pack(state, 6496);
}
static void free(void *state) {
  korch_unpack(state);
}
__attribute__((noinline))
static void dots(const char *restrict w, const int32_t *restrict x, const float *restrict units, float *restrict out) {
  korch_f8 t0_0 = {0};
  korch_f8 t1_0 = {0};
  korch_f8 t2_0 = {0};
  for (int b = 0; b < 2; ++b, w += 1072, x += 130, units += 2) {
    korch_i8 h0_0 = (korch_i8){0} + x[128];
    korch_i8 l0_0 = (korch_i8){0} + x[129];
    korch_i8 h1_0 = (korch_i8){0} + x[388];
    korch_i8 l1_0 = (korch_i8){0} + x[389];
    korch_i8 h2_0 = (korch_i8){0} + x[648];
    korch_i8 l2_0 = (korch_i8){0} + x[649];
    #pragma GCC unroll 1
    for (int c = 0; c < 32; ++c) {
      const korch_i8 w0 = *(const korch_pairs8 *)(w + c * 32 + 0);
      {
        const korch_i8 q0 = (korch_i8)((korch_words8)w0 & 255);
        { const korch_i8 all = (korch_i8){0} + x[0 + c * 2]; KORCH_DOT8(h0_0, all, q0); }
        { const korch_i8 all = (korch_i8){0} + x[64 + c * 2]; KORCH_DOT8(l0_0, all, q0); }
        { const korch_i8 all = (korch_i8){0} + x[260 + c * 2]; KORCH_DOT8(h1_0, all, q0); }
        { const korch_i8 all = (korch_i8){0} + x[324 + c * 2]; KORCH_DOT8(l1_0, all, q0); }
        { const korch_i8 all = (korch_i8){0} + x[520 + c * 2]; KORCH_DOT8(h2_0, all, q0); }
        { const korch_i8 all = (korch_i8){0} + x[584 + c * 2]; KORCH_DOT8(l2_0, all, q0); }
      }
      {
        const korch_i8 q0 = (korch_i8)((korch_words8)w0 >> 8);
        { const korch_i8 all = (korch_i8){0} + x[1 + c * 2]; KORCH_DOT8(h0_0, all, q0); }
        { const korch_i8 all = (korch_i8){0} + x[65 + c * 2]; KORCH_DOT8(l0_0, all, q0); }
        { const korch_i8 all = (korch_i8){0} + x[261 + c * 2]; KORCH_DOT8(h1_0, all, q0); }
        { const korch_i8 all = (korch_i8){0} + x[325 + c * 2]; KORCH_DOT8(l1_0, all, q0); }
        { const korch_i8 all = (korch_i8){0} + x[521 + c * 2]; KORCH_DOT8(h2_0, all, q0); }
        { const korch_i8 all = (korch_i8){0} + x[585 + c * 2]; KORCH_DOT8(l2_0, all, q0); }
      }
    }
    t0_0 += (__builtin_convertvector(h0_0, korch_f8) * (float)(1 << KORCH_DIGIT) + __builtin_convertvector(l0_0, korch_f8) - __builtin_convertvector(*(const korch_shorts8 *)(w + 1056), korch_f8) * units[1]) * *(const korch_at8 *)(w + 1024) * units[0];
    t1_0 += (__builtin_convertvector(h1_0, korch_f8) * (float)(1 << KORCH_DIGIT) + __builtin_convertvector(l1_0, korch_f8) - __builtin_convertvector(*(const korch_shorts8 *)(w + 1056), korch_f8) * units[5]) * *(const korch_at8 *)(w + 1024) * units[4];
    t2_0 += (__builtin_convertvector(h2_0, korch_f8) * (float)(1 << KORCH_DIGIT) + __builtin_convertvector(l2_0, korch_f8) - __builtin_convertvector(*(const korch_shorts8 *)(w + 1056), korch_f8) * units[9]) * *(const korch_at8 *)(w + 1024) * units[8];
  }
  *(korch_at8 *)(out + 0) = t0_0;
  *(korch_at8 *)(out + 8) = t1_0;
  *(korch_at8 *)(out + 16) = t2_0;
}
static void plain(const char *restrict w, const float *restrict x, float *restrict out) {
  for (int n = 0; n < 8; ++n) {
    float sum = 0;
    for (int k = 0; k < 129; ++k) {
      const char *const from = w + k / 128 * 1072;
      const int i = k % 128, p = i % 64;
      const int at = (p / 2 * 8 + n) * 2 + i / 64;
      const int bit = p % 2 * 8;
      const int code = (((const uint16_t *)from)[at] >> bit & 255) - 128;
      sum += x[k] * (((float)code - ((const int16_t *)(from + 1056))[n]) * ((const float *)(from + 1024))[n]);
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
  char *const own_room = (char *)workspace + 0 * INT64_C(3328);
  int32_t *const digits = (int32_t *)own_room;
  float *const units = (float *)(own_room + 3136), *const sums = (float *)(own_room + 3200);
  const int infinite = *(const int *)((const char *)state + INT64_C(6432));
  int floats[3] = {0};
  for (int r = 0; r < 3; ++r) {
    floats[r] = infinite | korch_digits(x + r * 129, 129, 128, 128, 0, digits + r * 260, units + r * 4);
  }
  for (int tile = 0; tile < 3; tile += 1) {
    const char *const w = (const char *)state + tile * INT64_C(2144);
    for (int r = 0; r < 3; r += 3) dots(w, digits + r * 260, units + r * 4, sums + r * 8);
    const int c0 = tile * 8, count = KORCH_MIN(8, 20 - c0);
    for (int r = 0; r < 3; ++r) {
      if (floats[r]) plain(w, x + r * 129, sums + r * 8);
      const int row = r;
      const float *restrict z = sums + r * 8;
      #pragma omp simd
      for (int c = 0; c < count; ++c) {
        const float v0 = z[c];
        out[row * 20 + c0 + c] = v0;
      }
    }
  }
}
