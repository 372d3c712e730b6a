// t1 = winograd_input(x, along=(True, True), kernel=3, pads=(1, 1, 1, 1), stride=1, tile=4)  # f32[36,9,16]
static inline void patch(const float *restrict d, int row, float *restrict v, int part) {
  int from = 0;
  (void)part;
  for (int parts; from + 8 <= 16; from += parts * 8) {
    parts = KORCH_MIN(16, (16 - from) / 8);
    korch_f8 half[16][36];
    #pragma GCC unroll 1
    for (int j = 0; j < 6; ++j)
    #pragma GCC unroll 1
      for (int part = 0; part < parts; ++part) {
        const korch_f8 t0 = *(const korch_at8 *)(d + 0 * row + j * 16 + from + part * 8);
        const korch_f8 t1 = *(const korch_at8 *)(d + 1 * row + j * 16 + from + part * 8);
        const korch_f8 t2 = *(const korch_at8 *)(d + 2 * row + j * 16 + from + part * 8);
        const korch_f8 t3 = *(const korch_at8 *)(d + 3 * row + j * 16 + from + part * 8);
        const korch_f8 t4 = *(const korch_at8 *)(d + 4 * row + j * 16 + from + part * 8);
        const korch_f8 t5 = *(const korch_at8 *)(d + 5 * row + j * 16 + from + part * 8);
        const korch_f8 t6 = t0 + t4 - 2.5e+0f * t2;
        const korch_f8 t7 = t4 - 2.0e+0f * t2;
        const korch_f8 t8 = 7.0710677e-1f * t3 - 1.4142135e+0f * t1;
        const korch_f8 t9 = t7 + t8;
        const korch_f8 t10 = t7 - t8;
        const korch_f8 t11 = t4 - 5.0e-1f * t2;
        const korch_f8 t12 = 1.4142135e+0f * t3 - 7.0710677e-1f * t1;
        const korch_f8 t13 = t11 + t12;
        const korch_f8 t14 = t11 - t12;
        const korch_f8 t15 = t1 + t5 - 2.5e+0f * t3;
        half[part][0 + j] = t6;
        half[part][6 + j] = t9;
        half[part][12 + j] = t10;
        half[part][18 + j] = t13;
        half[part][24 + j] = t14;
        half[part][30 + j] = t15;
      }
    #pragma GCC unroll 1
    for (int i = 0; i < 6; ++i)
    #pragma GCC unroll 1
      for (int part = 0; part < parts; ++part) {
        const korch_f8 t0 = half[part][i * 6 + 0];
        const korch_f8 t1 = half[part][i * 6 + 1];
        const korch_f8 t2 = half[part][i * 6 + 2];
        const korch_f8 t3 = half[part][i * 6 + 3];
        const korch_f8 t4 = half[part][i * 6 + 4];
        const korch_f8 t5 = half[part][i * 6 + 5];
        const korch_f8 t6 = t0 + t4 - 2.5e+0f * t2;
        const korch_f8 t7 = t4 - 2.0e+0f * t2;
        const korch_f8 t8 = 7.0710677e-1f * t3 - 1.4142135e+0f * t1;
        const korch_f8 t9 = t7 + t8;
        const korch_f8 t10 = t7 - t8;
        const korch_f8 t11 = t4 - 5.0e-1f * t2;
        const korch_f8 t12 = 1.4142135e+0f * t3 - 7.0710677e-1f * t1;
        const korch_f8 t13 = t11 + t12;
        const korch_f8 t14 = t11 - t12;
        const korch_f8 t15 = t1 + t5 - 2.5e+0f * t3;
        *(korch_at8 *)(v + (i * 6 + 0) * 144 + from + part * 8) = t6;
        *(korch_at8 *)(v + (i * 6 + 1) * 144 + from + part * 8) = t9;
        *(korch_at8 *)(v + (i * 6 + 2) * 144 + from + part * 8) = t10;
        *(korch_at8 *)(v + (i * 6 + 3) * 144 + from + part * 8) = t13;
        *(korch_at8 *)(v + (i * 6 + 4) * 144 + from + part * 8) = t14;
        *(korch_at8 *)(v + (i * 6 + 5) * 144 + from + part * 8) = t15;
      }
  }
}
static const float zeros[16] = {0};
static inline void edge(const float *const *restrict at, float *restrict v, int part) {
  int from = 0;
  (void)part;
  for (int parts; from + 8 <= 16; from += parts * 8) {
    parts = KORCH_MIN(16, (16 - from) / 8);
    korch_f8 half[16][36];
    #pragma GCC unroll 1
    for (int j = 0; j < 6; ++j)
    #pragma GCC unroll 1
      for (int part = 0; part < parts; ++part) {
        const korch_f8 t0 = *(const korch_at8 *)(at[0 * 6 + j] + from + part * 8);
        const korch_f8 t1 = *(const korch_at8 *)(at[1 * 6 + j] + from + part * 8);
        const korch_f8 t2 = *(const korch_at8 *)(at[2 * 6 + j] + from + part * 8);
        const korch_f8 t3 = *(const korch_at8 *)(at[3 * 6 + j] + from + part * 8);
        const korch_f8 t4 = *(const korch_at8 *)(at[4 * 6 + j] + from + part * 8);
        const korch_f8 t5 = *(const korch_at8 *)(at[5 * 6 + j] + from + part * 8);
        const korch_f8 t6 = t0 + t4 - 2.5e+0f * t2;
        const korch_f8 t7 = t4 - 2.0e+0f * t2;
        const korch_f8 t8 = 7.0710677e-1f * t3 - 1.4142135e+0f * t1;
        const korch_f8 t9 = t7 + t8;
        const korch_f8 t10 = t7 - t8;
        const korch_f8 t11 = t4 - 5.0e-1f * t2;
        const korch_f8 t12 = 1.4142135e+0f * t3 - 7.0710677e-1f * t1;
        const korch_f8 t13 = t11 + t12;
        const korch_f8 t14 = t11 - t12;
        const korch_f8 t15 = t1 + t5 - 2.5e+0f * t3;
        half[part][0 + j] = t6;
        half[part][6 + j] = t9;
        half[part][12 + j] = t10;
        half[part][18 + j] = t13;
        half[part][24 + j] = t14;
        half[part][30 + j] = t15;
      }
    #pragma GCC unroll 1
    for (int i = 0; i < 6; ++i)
    #pragma GCC unroll 1
      for (int part = 0; part < parts; ++part) {
        const korch_f8 t0 = half[part][i * 6 + 0];
        const korch_f8 t1 = half[part][i * 6 + 1];
        const korch_f8 t2 = half[part][i * 6 + 2];
        const korch_f8 t3 = half[part][i * 6 + 3];
        const korch_f8 t4 = half[part][i * 6 + 4];
        const korch_f8 t5 = half[part][i * 6 + 5];
        const korch_f8 t6 = t0 + t4 - 2.5e+0f * t2;
        const korch_f8 t7 = t4 - 2.0e+0f * t2;
        const korch_f8 t8 = 7.0710677e-1f * t3 - 1.4142135e+0f * t1;
        const korch_f8 t9 = t7 + t8;
        const korch_f8 t10 = t7 - t8;
        const korch_f8 t11 = t4 - 5.0e-1f * t2;
        const korch_f8 t12 = 1.4142135e+0f * t3 - 7.0710677e-1f * t1;
        const korch_f8 t13 = t11 + t12;
        const korch_f8 t14 = t11 - t12;
        const korch_f8 t15 = t1 + t5 - 2.5e+0f * t3;
        *(korch_at8 *)(v + (i * 6 + 0) * 144 + from + part * 8) = t6;
        *(korch_at8 *)(v + (i * 6 + 1) * 144 + from + part * 8) = t9;
        *(korch_at8 *)(v + (i * 6 + 2) * 144 + from + part * 8) = t10;
        *(korch_at8 *)(v + (i * 6 + 3) * 144 + from + part * 8) = t13;
        *(korch_at8 *)(v + (i * 6 + 4) * 144 + from + part * 8) = t14;
        *(korch_at8 *)(v + (i * 6 + 5) * 144 + from + part * 8) = t15;
      }
  }
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict x = in0;
  float *restrict out = out_;
  for (int tile = 0; tile < 9; tile += 1) {
    const int column = tile % 3, row = tile / 3 % 3;
    const int image = tile / 9;
    for (int tap = 0; tap < 1; ++tap) {
      const int volume = image / 1;
      const int frame = image % 1 * 1 - 0 + tap * 1;
      float *const v = out + (tile * 1 + tap) * 16;
      const int h = row * 4 - 1, w = column * 4 - 1;
      const float *const seen = x + (volume * 1 + frame) * INT64_C(1440);
      const int whole = h >= 0 && h + 6 <= 9 && w >= 0 && w + 6 <= 10;
      if (whole && frame >= 0 && frame < 1) {
        patch(seen + (h * 10 + w) * 16, 160, v, 0);
      }
      else {
        const float *at[36];
        for (int i = 0; i < 36; ++i) {
          const int y = h + i / 6, z = w + i % 6;
          const int seen_there = frame >= 0 && frame < 1 && y >= 0 && y < 9 && z >= 0 && z < 10;
          at[i] = seen_there ? seen + (y * 10 + z) * 16 : zeros;
        }
        edge(at, v, 0);
      }
    }
  }
}
