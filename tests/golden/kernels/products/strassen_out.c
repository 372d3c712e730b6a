// t1 = strassen_output(m, shape=(64, 160))  # f32[64,160]
// t3 = mul(t1, 0.5)  # f32[64,160]
// t5 = add(t3, o0)  # f32[64,160]
// t6 = tanh(t5)  # f32[64,160]
// t7 = mul(t6, 0.5)  # f32[64,160]
// t9 = add(t7, o1)  # f32[64,160]
// t10 = tanh(t9)  # f32[64,160]
// t11 = mul(t10, 0.5)  # f32[64,160]
// t13 = add(t11, o2)  # f32[64,160]
// t14 = tanh(t13)  # f32[64,160]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in2 = in[2];
  const float *restrict in3 = in[3];
  const float *restrict in4 = in[4];
  const float *restrict x = in0;
  float *restrict out = out_;
  for (int pair = 0; pair < 32; pair += 1) {
    for (int at = 0; at < 80; at += 64) {
      const int count = KORCH_MIN(64, 80 - at);
      float y[256] __attribute__((aligned(64)));
      const float *restrict m = x + pair * 80 + at;
      #pragma omp simd
      for (int c = 0; c < count; ++c) {
        const float p1 = m[0 + c];
        const float p2 = m[2560 + c];
        const float p3 = m[5120 + c];
        const float p4 = m[7680 + c];
        const float p5 = m[10240 + c];
        const float p6 = m[12800 + c];
        const float p7 = m[15360 + c];
        const float u2 = p1 + p6, u3 = u2 + p7, u4 = u2 + p5;
        y[0 + c] = p1 + p2;
        y[64 + c] = u4 + p3;
        y[128 + c] = u3 - p4;
        y[192 + c] = u3 + p5;
      }
      for (int part = 0; part < 4; ++part) {
        const int row = 2 * pair + part / 2, c0 = part % 2 * 80 + at;
        const float *restrict z = y + part * 64;
        #pragma omp simd
        for (int c = 0; c < count; ++c) {
          const float v0 = z[c];
          const float v1 = v0 * 5.0e-1f;
          const float v2 = in2[c0 + c];
          const float v3 = v1 + v2;
          const float v4 = korch_tanhf(v3);
          const float v5 = v4 * 5.0e-1f;
          const float v6 = in3[c0 + c + row * 160];
          const float v7 = v5 + v6;
          const float v8 = korch_tanhf(v7);
          const float v9 = v8 * 5.0e-1f;
          const float v10 = in4[row];
          const float v11 = v9 + v10;
          const float v12 = korch_tanhf(v11);
          out[row * 160 + c0 + c] = v12;
        }
      }
    }
  }
}
