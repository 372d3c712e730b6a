// t1 = reduce_max(x0, axes=(1,), keepdims=1)  # f32[1,1,13,13]
// t2 = sub(x0, t1)  # f32[1,100,13,13]
// t3 = exp(t2)  # f32[1,100,13,13]
// t4 = reduce_sum(t3, axes=(1,), keepdims=1)  # f32[1,1,13,13]
// t5 = div(t3, t4)  # f32[1,100,13,13]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  for (int i3_2 = 0; i3_2 < 13; ++i3_2) {
    float b0[13] __attribute__((aligned(64)));
    float b1[1300] __attribute__((aligned(64)));
    float b2[13] __attribute__((aligned(64)));
    // t1 = reduce_max(x0, axes=(1,), keepdims=1)  # f32[1,1,13,13]
    {
      float p0[208];
      for (int chunk = 0; chunk < 16; ++chunk) {
        {
          float acc[13] __attribute__((aligned(64)));
          #pragma omp simd
          for (int i0_3 = 0; i0_3 < 13; ++i0_3) {
            acc[i0_3 - 0] = -INFINITY;
          }
          for (int r0_1 = 0 + (int)(chunk * INT64_C(100) / 16); r0_1 < 0 + (int)((chunk + 1) * INT64_C(100) / 16); ++r0_1) {
            #pragma omp simd
            for (int i0_3 = 0; i0_3 < 13; ++i0_3) {
              const float v0 = in0[i0_3 + i3_2 * 13 + r0_1 * 169];
              acc[i0_3 - 0] = KORCH_LARGER(acc[i0_3 - 0], v0);
            }
          }
          #pragma omp simd
          for (int i0_3 = 0; i0_3 < 13; ++i0_3) {
            p0[chunk * 13 + i0_3] = acc[i0_3 - 0];
          }
        }
      }
      for (int i0_3 = 0; i0_3 < 13; ++i0_3) {
        {
          float acc = p0[i0_3];
          for (int chunk = 1; chunk < 16; ++chunk) acc = KORCH_LARGER(acc, p0[chunk * 13 + i0_3]);
          b0[i0_3] = acc;
        }
      }
    }
    // t3 = exp(t2)  # f32[1,100,13,13]
    for (int i1_1 = 0; i1_1 < 100; ++i1_1) {
      #pragma omp simd
      for (int i1_3 = 0; i1_3 < 13; ++i1_3) {
        const float v0 = in0[i1_3 + i3_2 * 13 + i1_1 * 169];
        const float v1 = b0[i1_3];
        const float v2 = v0 - v1;
        const float v3 = korch_exp_belowf(v2);
        b1[i1_3 + i1_1 * 13] = v3;
      }
    }
    // t4 = reduce_sum(t3, axes=(1,), keepdims=1)  # f32[1,1,13,13]
    {
      float p2[208];
      for (int chunk = 0; chunk < 16; ++chunk) {
        {
          float acc[13] __attribute__((aligned(64)));
          #pragma omp simd
          for (int i2_3 = 0; i2_3 < 13; ++i2_3) {
            acc[i2_3 - 0] = 0;
          }
          for (int r2_1 = 0 + (int)(chunk * INT64_C(100) / 16); r2_1 < 0 + (int)((chunk + 1) * INT64_C(100) / 16); ++r2_1) {
            #pragma omp simd
            for (int i2_3 = 0; i2_3 < 13; ++i2_3) {
              const float v0 = b1[i2_3 + r2_1 * 13];
              acc[i2_3 - 0] += v0;
            }
          }
          #pragma omp simd
          for (int i2_3 = 0; i2_3 < 13; ++i2_3) {
            p2[chunk * 13 + i2_3] = acc[i2_3 - 0];
          }
        }
      }
      for (int i2_3 = 0; i2_3 < 13; ++i2_3) {
        {
          float acc = p2[i2_3];
          for (int chunk = 1; chunk < 16; ++chunk) acc += p2[chunk * 13 + i2_3];
          b2[i2_3] = acc;
        }
      }
    }
    // t5 = div(t3, t4)  # f32[1,100,13,13]
    for (int i3_1 = 0; i3_1 < 100; ++i3_1) {
      #pragma omp simd
      for (int i3_3 = 0; i3_3 < 13; ++i3_3) {
        const float v0 = b1[i3_3 + i3_1 * 13];
        const float v1 = b2[i3_3];
        const float v2 = v0 / v1;
        out[i3_3 + i3_2 * 13 + i3_1 * 169] = v2;
      }
    }
  }
}
