// t1 = winograd_output(m, along=(True, True), kernel=2, phases=2, shape=(2, 7, 9, 16), skipped=(0, 1), stride=1, tile=3)  # f32[2,7,9,16]
// t3 = add(t1, bias)  # f32[2,7,9,16]
// t5 = add(t3, residual)  # f32[2,7,9,16]
// t6 = softplus(t5)  # f32[2,7,9,16]
// t7 = tanh(t6)  # f32[2,7,9,16]
// t8 = mul(t5, t7)  # f32[2,7,9,16]
// t10 = add(t8, row)  # f32[2,7,9,16]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict in3 = in[3];
  const float *restrict x = in0;
  float *restrict out = out_;
  for (int tile = 0; tile < 8; tile += 1) {
    const int column = tile % 2, row = tile / 2 % 2;
    const int image = tile / 4;
    const int top = row * 6 - 0, left = column * 6 - 1;
    for (int c0 = 0; c0 < 16; c0 += 16) {
      const int count = 16;
      float y[576] __attribute__((aligned(64)));
      for (int phase = 0; phase < 4; ++phase) {
        const float *restrict m = x + tile * 64 + c0 + phase * 16;
        const int at = phase / 2 * 6 + phase % 2;
        float *restrict to = y + at * 16;
        #pragma omp simd
        for (int c = 0; c < count; ++c) {
          const float t0 = m[0 + c];
          const float t1 = m[2048 + c];
          const float t2 = m[4096 + c];
          const float t3 = m[6144 + c];
          const float t4 = t1 + t2;
          const float t5 = t1 - t2;
          const float t6 = t0 + t4;
          const float t7 = t4 + t3;
          const float t8 = m[512 + c];
          const float t9 = m[2560 + c];
          const float t10 = m[4608 + c];
          const float t11 = m[6656 + c];
          const float t12 = t9 + t10;
          const float t13 = t9 - t10;
          const float t14 = t8 + t12;
          const float t15 = t12 + t11;
          const float t16 = m[1024 + c];
          const float t17 = m[3072 + c];
          const float t18 = m[5120 + c];
          const float t19 = m[7168 + c];
          const float t20 = t17 + t18;
          const float t21 = t17 - t18;
          const float t22 = t16 + t20;
          const float t23 = t20 + t19;
          const float t24 = m[1536 + c];
          const float t25 = m[3584 + c];
          const float t26 = m[5632 + c];
          const float t27 = m[7680 + c];
          const float t28 = t25 + t26;
          const float t29 = t25 - t26;
          const float t30 = t24 + t28;
          const float t31 = t28 + t27;
          const float t32 = t14 + t22;
          const float t33 = t14 - t22;
          const float t34 = t6 + t32;
          const float t35 = t32 + t30;
          const float t36 = t13 + t21;
          const float t37 = t13 - t21;
          const float t38 = t5 + t36;
          const float t39 = t36 + t29;
          const float t40 = t15 + t23;
          const float t41 = t15 - t23;
          const float t42 = t7 + t40;
          const float t43 = t40 + t31;
          to[0 + c] = t34;
          to[32 + c] = t33;
          to[64 + c] = t35;
          to[192 + c] = t38;
          to[224 + c] = t37;
          to[256 + c] = t39;
          to[384 + c] = t42;
          to[416 + c] = t41;
          to[448 + c] = t43;
        }
      }
      for (int h = KORCH_MAX(top, 0); h < KORCH_MIN(top + 6, 7); ++h) {
        for (int w = KORCH_MAX(left, 0); w < KORCH_MIN(left + 6, 9); ++w) {
          const int i = h - top, j = w - left;
          const float *restrict z = y + (i * 6 + j) * 16;
          for (int c = 0; c < count; c += 16) {
            const korch_f16 v0 = *(const korch_at16 *)&z[c];
            const korch_f16 v1 = *(const korch_at16 *)&in1[c0 + c];
            const korch_f16 v2 = v0 + v1;
            const korch_f16 v3 = *(const korch_at16 *)&in2[c0 + c + w * 16 + h * 144 + image * 1008];
            const korch_f16 v4 = v2 + v3;
            const korch_f16 v5 = korch_mish16(v4);
            const korch_f16 v6 = in3[w + h * 9 + image * 63] - (korch_f16){0};
            const korch_f16 v7 = v5 + v6;
            *(korch_at16 *)(out + w * 16 + h * 144 + image * 1008 + c0 + c) = v7;
          }
        }
      }
    }
  }
}
