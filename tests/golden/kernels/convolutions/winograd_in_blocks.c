// x_f23_1_1_1_1 = winograd_input(x, along=(True, True), frames=(3, 1, 1, 1, 1), kernel=3, pads=(1, 1, 1, 1), stride=1, tile=2)  # f32[16,384,48]
// t2_f23_0 = mat_mul(x_f23_1_1_1_1, c1_f23)  # f32[16,384,16]
// t2 = winograd_output(t2_f23_0, along=(True, True), kernel=3, phases=1, shape=(1, 6, 16, 16, 16), skipped=(0, 0), stride=1, tile=2)  # f32[1,6,16,16,16]
static int init(void **state, const void *const *in) {
  const float *w = in[1];
  float *to = *state = korch_aligned(49152);
  if (!to) return 1;
  static const int groups[][3] = {{0, 16, 16}};
  for (int point = 0; point < 16; ++point)
    for (int g = 0; g < 1; ++g)
      for (int k = 0; k < 48; ++k)
        for (int n = 0; n < groups[g][2]; ++n) {
          const int64_t at = (int64_t)(point * 48 + k) * 16 + groups[g][0] + n;
          *to++ = n < groups[g][1] ? w[at] : 0.0f;
        }
  return korch_pack(state, 49152);
}
static void free(void *state) {
  korch_unpack(state);
}
static inline void patch(const float *restrict d, int row, float *restrict v, int part) {
  int from = 0;
  (void)part;
  if (part == 0) {
    #pragma omp simd
    for (int c = from; c < 16; ++c) {
      const float t0 = (d + 0 * row + 0 * 16)[c];
      const float t1 = (d + 1 * row + 0 * 16)[c];
      const float t2 = (d + 2 * row + 0 * 16)[c];
      const float t3 = (d + 3 * row + 0 * 16)[c];
      const float t4 = t2 - t0;
      const float t5 = t2 + t1;
      const float t6 = t2 - t1;
      const float t7 = t3 - t1;
      const float t8 = (d + 0 * row + 1 * 16)[c];
      const float t9 = (d + 1 * row + 1 * 16)[c];
      const float t10 = (d + 2 * row + 1 * 16)[c];
      const float t11 = (d + 3 * row + 1 * 16)[c];
      const float t12 = t10 - t8;
      const float t13 = t10 + t9;
      const float t14 = t10 - t9;
      const float t15 = t11 - t9;
      const float t16 = (d + 0 * row + 2 * 16)[c];
      const float t17 = (d + 1 * row + 2 * 16)[c];
      const float t18 = (d + 2 * row + 2 * 16)[c];
      const float t19 = (d + 3 * row + 2 * 16)[c];
      const float t20 = t18 - t16;
      const float t21 = t18 + t17;
      const float t22 = t18 - t17;
      const float t23 = t19 - t17;
      const float t24 = (d + 0 * row + 3 * 16)[c];
      const float t25 = (d + 1 * row + 3 * 16)[c];
      const float t26 = (d + 2 * row + 3 * 16)[c];
      const float t27 = (d + 3 * row + 3 * 16)[c];
      const float t28 = t26 - t24;
      const float t29 = t26 + t25;
      const float t30 = t26 - t25;
      const float t31 = t27 - t25;
      const float t32 = t20 - t4;
      const float t33 = t20 + t12;
      const float t34 = t20 - t12;
      const float t35 = t28 - t12;
      const float t36 = t21 - t5;
      const float t37 = t21 + t13;
      const float t38 = t21 - t13;
      const float t39 = t29 - t13;
      const float t40 = t22 - t6;
      const float t41 = t22 + t14;
      const float t42 = t22 - t14;
      const float t43 = t30 - t14;
      const float t44 = t23 - t7;
      const float t45 = t23 + t15;
      const float t46 = t23 - t15;
      const float t47 = t31 - t15;
      v[0 + c] = t32;
      v[4112 + c] = t33;
      v[8224 + c] = t34;
      v[12336 + c] = t35;
      v[16448 + c] = t36;
      v[20560 + c] = t37;
      v[24672 + c] = t38;
      v[28784 + c] = t39;
      v[32896 + c] = t40;
      v[37008 + c] = t41;
      v[41120 + c] = t42;
      v[45232 + c] = t43;
      v[49344 + c] = t44;
      v[53456 + c] = t45;
      v[57568 + c] = t46;
      v[61680 + c] = t47;
    }
  }
}
static const float zeros[16] = {0};
static inline void edge(const float *const *restrict at, float *restrict v, int part) {
  int from = 0;
  (void)part;
  if (part == 0) {
    #pragma omp simd
    for (int c = from; c < 16; ++c) {
      const float t0 = (at[0 * 4 + 0])[c];
      const float t1 = (at[1 * 4 + 0])[c];
      const float t2 = (at[2 * 4 + 0])[c];
      const float t3 = (at[3 * 4 + 0])[c];
      const float t4 = t2 - t0;
      const float t5 = t2 + t1;
      const float t6 = t2 - t1;
      const float t7 = t3 - t1;
      const float t8 = (at[0 * 4 + 1])[c];
      const float t9 = (at[1 * 4 + 1])[c];
      const float t10 = (at[2 * 4 + 1])[c];
      const float t11 = (at[3 * 4 + 1])[c];
      const float t12 = t10 - t8;
      const float t13 = t10 + t9;
      const float t14 = t10 - t9;
      const float t15 = t11 - t9;
      const float t16 = (at[0 * 4 + 2])[c];
      const float t17 = (at[1 * 4 + 2])[c];
      const float t18 = (at[2 * 4 + 2])[c];
      const float t19 = (at[3 * 4 + 2])[c];
      const float t20 = t18 - t16;
      const float t21 = t18 + t17;
      const float t22 = t18 - t17;
      const float t23 = t19 - t17;
      const float t24 = (at[0 * 4 + 3])[c];
      const float t25 = (at[1 * 4 + 3])[c];
      const float t26 = (at[2 * 4 + 3])[c];
      const float t27 = (at[3 * 4 + 3])[c];
      const float t28 = t26 - t24;
      const float t29 = t26 + t25;
      const float t30 = t26 - t25;
      const float t31 = t27 - t25;
      const float t32 = t20 - t4;
      const float t33 = t20 + t12;
      const float t34 = t20 - t12;
      const float t35 = t28 - t12;
      const float t36 = t21 - t5;
      const float t37 = t21 + t13;
      const float t38 = t21 - t13;
      const float t39 = t29 - t13;
      const float t40 = t22 - t6;
      const float t41 = t22 + t14;
      const float t42 = t22 - t14;
      const float t43 = t30 - t14;
      const float t44 = t23 - t7;
      const float t45 = t23 + t15;
      const float t46 = t23 - t15;
      const float t47 = t31 - t15;
      v[0 + c] = t32;
      v[4112 + c] = t33;
      v[8224 + c] = t34;
      v[12336 + c] = t35;
      v[16448 + c] = t36;
      v[20560 + c] = t37;
      v[24672 + c] = t38;
      v[28784 + c] = t39;
      v[32896 + c] = t40;
      v[37008 + c] = t41;
      v[41120 + c] = t42;
      v[45232 + c] = t43;
      v[49344 + c] = t44;
      v[53456 + c] = t45;
      v[57568 + c] = t46;
      v[61680 + c] = t47;
    }
  }
}
__attribute__((noinline))
static void tile16_16(const float *restrict a, int line, int plane, const float *restrict b, float *restrict y, int lines, int runs, int more) {
  (void)plane;
  korch_f16 s0_0 = {0};
  korch_f16 s1_0 = {0};
  korch_f16 s2_0 = {0};
  korch_f16 s3_0 = {0};
  korch_f16 s4_0 = {0};
  korch_f16 s5_0 = {0};
  korch_f16 s6_0 = {0};
  korch_f16 s7_0 = {0};
  korch_f16 s8_0 = {0};
  korch_f16 s9_0 = {0};
  korch_f16 s10_0 = {0};
  korch_f16 s11_0 = {0};
  korch_f16 s12_0 = {0};
  korch_f16 s13_0 = {0};
  korch_f16 s14_0 = {0};
  korch_f16 s15_0 = {0};
  for (int l = 0; l < lines; ++l, a += line)
    for (int o = 0; o < runs; ++o) {
      for (int k0 = 0; k0 < 16; k0 += 8)
      #pragma GCC unroll 8
        for (int i = 0; i < 8; ++i, b += 16) {
          const int k = k0 + i;
          korch_f16 b0 = *(const korch_at16 *)(b + 0);
          KORCH_FMA_FROM16(s0_0, a[o * 16 + 0 + k * 1], b0);
          KORCH_FMA_FROM16(s1_0, a[o * 16 + 16 + k * 1], b0);
          KORCH_FMA_FROM16(s2_0, a[o * 16 + 32 + k * 1], b0);
          KORCH_FMA_FROM16(s3_0, a[o * 16 + 48 + k * 1], b0);
          KORCH_FMA_FROM16(s4_0, a[o * 16 + 64 + k * 1], b0);
          KORCH_FMA_FROM16(s5_0, a[o * 16 + 80 + k * 1], b0);
          KORCH_FMA_FROM16(s6_0, a[o * 16 + 96 + k * 1], b0);
          KORCH_FMA_FROM16(s7_0, a[o * 16 + 112 + k * 1], b0);
          KORCH_FMA_FROM16(s8_0, a[o * 16 + 128 + k * 1], b0);
          KORCH_FMA_FROM16(s9_0, a[o * 16 + 144 + k * 1], b0);
          KORCH_FMA_FROM16(s10_0, a[o * 16 + 160 + k * 1], b0);
          KORCH_FMA_FROM16(s11_0, a[o * 16 + 176 + k * 1], b0);
          KORCH_FMA_FROM16(s12_0, a[o * 16 + 192 + k * 1], b0);
          KORCH_FMA_FROM16(s13_0, a[o * 16 + 208 + k * 1], b0);
          KORCH_FMA_FROM16(s14_0, a[o * 16 + 224 + k * 1], b0);
          KORCH_FMA_FROM16(s15_0, a[o * 16 + 240 + k * 1], b0);
          __asm__ volatile("" ::: "memory");
        }
    }
  if (more) {
    s0_0 += *(korch_at16 *)(y + 0);
    s1_0 += *(korch_at16 *)(y + 16);
    s2_0 += *(korch_at16 *)(y + 32);
    s3_0 += *(korch_at16 *)(y + 48);
    s4_0 += *(korch_at16 *)(y + 64);
    s5_0 += *(korch_at16 *)(y + 80);
    s6_0 += *(korch_at16 *)(y + 96);
    s7_0 += *(korch_at16 *)(y + 112);
    s8_0 += *(korch_at16 *)(y + 128);
    s9_0 += *(korch_at16 *)(y + 144);
    s10_0 += *(korch_at16 *)(y + 160);
    s11_0 += *(korch_at16 *)(y + 176);
    s12_0 += *(korch_at16 *)(y + 192);
    s13_0 += *(korch_at16 *)(y + 208);
    s14_0 += *(korch_at16 *)(y + 224);
    s15_0 += *(korch_at16 *)(y + 240);
  }
  *(korch_at16 *)(y + 0) = s0_0;
  *(korch_at16 *)(y + 16) = s1_0;
  *(korch_at16 *)(y + 32) = s2_0;
  *(korch_at16 *)(y + 48) = s3_0;
  *(korch_at16 *)(y + 64) = s4_0;
  *(korch_at16 *)(y + 80) = s5_0;
  *(korch_at16 *)(y + 96) = s6_0;
  *(korch_at16 *)(y + 112) = s7_0;
  *(korch_at16 *)(y + 128) = s8_0;
  *(korch_at16 *)(y + 144) = s9_0;
  *(korch_at16 *)(y + 160) = s10_0;
  *(korch_at16 *)(y + 176) = s11_0;
  *(korch_at16 *)(y + 192) = s12_0;
  *(korch_at16 *)(y + 208) = s13_0;
  *(korch_at16 *)(y + 224) = s14_0;
  *(korch_at16 *)(y + 240) = s15_0;
}
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict x = in0;
  float *restrict out = out_;
  float *const between = (float *)workspace + 0 * INT64_C(115200);
  float *const products = between + 65792;
  for (int volume = 0; volume < 1; volume += 1) {
    for (int part = 0; part < 1; part += 1) {
      for (int block = 0; block < 2; block += 1) {
        const int begin = KORCH_MIN(part * 6, 0);
        const int tile0 = KORCH_MIN(block * 32, 32);
        for (int d = 0; d < 8; ++d) {
          for (int t = 0; t < 32; ++t) {
            const int row = (tile0 + t) / 8, column = (tile0 + t) % 8;
            const int frame = begin * 1 - 1 + d;
            float *const v = between + (d * 32 + t) * 16;
            const int h = row * 2 - 1, w = column * 2 - 1;
            const float *const seen = x + (volume * 6 + frame) * INT64_C(4096);
            const int whole = h >= 0 && h + 4 <= 16 && w >= 0 && w + 4 <= 16;
            if (whole && frame >= 0 && frame < 6) {
              patch(seen + (h * 16 + w) * 16, 256, v, 0);
            }
            else {
              const float *at[16];
              for (int i = 0; i < 16; ++i) {
                const int y = h + i / 4, z = w + i % 4;
                const int seen_there = frame >= 0 && frame < 6 && y >= 0 && y < 16 && z >= 0 && z < 16;
                at[i] = seen_there ? seen + (y * 16 + z) * 16 : zeros;
              }
              edge(at, v, 0);
            }
          }
        }
        for (int point = 0; point < 16; ++point) {
          for (int group = 0; group < 1; ++group) {
            const int column = 0 + group * 16;
            const float *b = (const float *)state + (point * 16 + column) * 48;
            for (int d = 0; d < 1; ++d) {
              for (int r = 0; r < 192; r += 16) {
                const float *const own = between + point * 4112 + (d * 32 + r) * 16;
                float *const y = products + point * 3088 + 192 * column + (d * 192 + r) * 16;
                enum { first = 0, last = 3, plane = 0 };
                enum { line = 512 };
                int more = 0;
                for (int l = first; l < last || !more; l += 8)
                  for (int o = 0; o < 1; o += 1, more = 1)
                    tile16_16(own + (l - first) * line + o * 16, line, plane, b + (l * 16 + o * 16) * 16, y, KORCH_MIN(8, last - l), KORCH_MIN(1, 1 - o), more);
              }
            }
          }
        }
        for (int d = 0; d < 6; ++d) {
          for (int t = 0; t < 32; ++t) {
            const int row = (tile0 + t) / 8, column = (tile0 + t) % 8;
            const int image = volume * 6 + begin + d;
            const int top = row * 2, left = column * 2;
            for (int group = 0; group < 1; ++group) {
              enum { count = 16 };
              const int c0 = 0 + group * 16;
              const float *restrict m = products + 192 * (0 + group * 16) + (d * 32 + t) * 16;
              float to[64] __attribute__((aligned(64)));
              #pragma omp simd
              for (int c = 0; c < count; ++c) {
                const float t0 = m[0 + c];
                const float t1 = m[12352 + c];
                const float t2 = m[24704 + c];
                const float t3 = m[37056 + c];
                const float t4 = t1 + t2;
                const float t5 = t1 - t2;
                const float t6 = t0 + t4;
                const float t7 = t5 + t3;
                const float t8 = m[3088 + c];
                const float t9 = m[15440 + c];
                const float t10 = m[27792 + c];
                const float t11 = m[40144 + c];
                const float t12 = t9 + t10;
                const float t13 = t9 - t10;
                const float t14 = t8 + t12;
                const float t15 = t13 + t11;
                const float t16 = m[6176 + c];
                const float t17 = m[18528 + c];
                const float t18 = m[30880 + c];
                const float t19 = m[43232 + c];
                const float t20 = t17 + t18;
                const float t21 = t17 - t18;
                const float t22 = t16 + t20;
                const float t23 = t21 + t19;
                const float t24 = m[9264 + c];
                const float t25 = m[21616 + c];
                const float t26 = m[33968 + c];
                const float t27 = m[46320 + c];
                const float t28 = t25 + t26;
                const float t29 = t25 - t26;
                const float t30 = t24 + t28;
                const float t31 = t29 + t27;
                const float t32 = t14 + t22;
                const float t33 = t14 - t22;
                const float t34 = t6 + t32;
                const float t35 = t33 + t30;
                const float t36 = t15 + t23;
                const float t37 = t15 - t23;
                const float t38 = t7 + t36;
                const float t39 = t37 + t31;
                to[0 + c] = t34;
                to[16 + c] = t35;
                to[32 + c] = t38;
                to[48 + c] = t39;
              }
              for (int h = top; h < KORCH_MIN(top + 2, 16); ++h) {
                for (int w = left; w < KORCH_MIN(left + 2, 16); ++w) {
                  const float *restrict z = to + ((h - top) * 2 + w - left) * 16;
                  #pragma omp simd
                  for (int c = 0; c < count; ++c) {
                    const float v0 = z[c];
                    out[w * 16 + h * 256 + image * 4096 + c0 + c] = v0;
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}
