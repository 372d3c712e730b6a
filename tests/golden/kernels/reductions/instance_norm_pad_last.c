// t1 = reduce_mean(x0, axes=(1, 2), keepdims=1)  # f32[1,1,1,32]
// t2 = sub(x0, t1)  # f32[1,40,40,32]
// t3 = mul(t2, t2)  # f32[1,40,40,32]
// t4 = reduce_mean(t3, axes=(1, 2), keepdims=1)  # f32[1,1,1,32]
// t6 = add(t4, 9.999999747378752e-06)  # f32[1,1,1,32]
// t7 = sqrt(t6)  # f32[1,1,1,32]
// t8 = div(t2, t7)  # f32[1,40,40,32]
// t9 = relu(t8)  # f32[1,40,40,32]
// t10 = pad(t9, mode='reflect', pads=(0, 1, 1, 0, 0, 1, 1, 0), value=0.0)  # f32[1,42,42,32]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  float *restrict b0 = (float *)((char *)workspace + 0);
  float *restrict b1 = (float *)((char *)workspace + 128);
  float *restrict b2 = (float *)((char *)workspace + 256);
  // t1 = reduce_mean(x0, axes=(1, 2), keepdims=1)  # f32[1,1,1,32]
  {
    float *restrict p0 = (float *)((char *)workspace + 384);
    for (int chunk = 0; chunk < 16; ++chunk) {
      {
        float acc[32] __attribute__((aligned(64)));
        #pragma omp simd
        for (int i0_3 = 0; i0_3 < 32; ++i0_3) {
          acc[i0_3 - 0] = 0;
        }
        for (int r0_1m2 = 0 + (int)(chunk * INT64_C(1600) / 16); r0_1m2 < 0 + (int)((chunk + 1) * INT64_C(1600) / 16); ++r0_1m2) {
          #pragma omp simd
          for (int i0_3 = 0; i0_3 < 32; ++i0_3) {
            const float v0 = in0[i0_3 + r0_1m2 * 32];
            acc[i0_3 - 0] += v0;
          }
        }
        #pragma omp simd
        for (int i0_3 = 0; i0_3 < 32; ++i0_3) {
          p0[chunk * 32 + i0_3] = acc[i0_3 - 0];
        }
      }
    }
    for (int i0_3 = 0; i0_3 < 32; ++i0_3) {
      {
        float acc = p0[i0_3];
        for (int chunk = 1; chunk < 16; ++chunk) acc += p0[chunk * 32 + i0_3];
        b0[i0_3] = acc / 1600;
      }
    }
  }
  // t4 = reduce_mean(t3, axes=(1, 2), keepdims=1)  # f32[1,1,1,32]
  {
    float *restrict p1 = (float *)((char *)workspace + 2432);
    for (int chunk = 0; chunk < 16; ++chunk) {
      {
        float acc[32] __attribute__((aligned(64)));
        #pragma omp simd
        for (int i1_3 = 0; i1_3 < 32; ++i1_3) {
          acc[i1_3 - 0] = 0;
        }
        for (int r1_1m2 = 0 + (int)(chunk * INT64_C(1600) / 16); r1_1m2 < 0 + (int)((chunk + 1) * INT64_C(1600) / 16); ++r1_1m2) {
          #pragma omp simd
          for (int i1_3 = 0; i1_3 < 32; ++i1_3) {
            const float v0 = in0[i1_3 + r1_1m2 * 32];
            const float v1 = b0[i1_3];
            const float v2 = v0 - v1;
            const float v3 = v2 * v2;
            acc[i1_3 - 0] += v3;
          }
        }
        #pragma omp simd
        for (int i1_3 = 0; i1_3 < 32; ++i1_3) {
          p1[chunk * 32 + i1_3] = acc[i1_3 - 0];
        }
      }
    }
    for (int i1_3 = 0; i1_3 < 32; ++i1_3) {
      {
        float acc = p1[i1_3];
        for (int chunk = 1; chunk < 16; ++chunk) acc += p1[chunk * 32 + i1_3];
        b1[i1_3] = acc / 1600;
      }
    }
  }
  // t7 = sqrt(t6)  # f32[1,1,1,32]
  #pragma omp simd
  for (int i2_3 = 0; i2_3 < 32; ++i2_3) {
    const float v0 = b1[i2_3];
    const float v1 = v0 + 1.0e-5f;
    const float v2 = sqrtf(v1);
    b2[i2_3] = v2;
  }
  // t10 = pad(t9, mode='reflect', pads=(0, 1, 1, 0, 0, 1, 1, 0), value=0.0)  # f32[1,42,42,32]
  #pragma omp simd
  for (int i3_3 = 0; i3_3 < 32; ++i3_3) {
    const float v0 = in0[i3_3 + 1312];
    const float v1 = b0[i3_3];
    const float v2 = v0 - v1;
    const float v3 = b2[i3_3];
    const float v4 = v2 / v3;
    const float v5 = KORCH_MAX(0.0e+0f, v4);
    out[i3_3] = v5;
  }
  for (int i3_2 = 1; i3_2 < 41; ++i3_2) {
    #pragma omp simd
    for (int i3_3 = 0; i3_3 < 32; ++i3_3) {
      const float v0 = in0[i3_3 + i3_2 * 32 + 1248];
      const float v1 = b0[i3_3];
      const float v2 = v0 - v1;
      const float v3 = b2[i3_3];
      const float v4 = v2 / v3;
      const float v5 = KORCH_MAX(0.0e+0f, v4);
      out[i3_3 + i3_2 * 32] = v5;
    }
  }
  #pragma omp simd
  for (int i3_3 = 0; i3_3 < 32; ++i3_3) {
    const float v0 = in0[i3_3 + 2496];
    const float v1 = b0[i3_3];
    const float v2 = v0 - v1;
    const float v3 = b2[i3_3];
    const float v4 = v2 / v3;
    const float v5 = KORCH_MAX(0.0e+0f, v4);
    out[i3_3 + 1312] = v5;
  }
  for (int i3_1 = 1; i3_1 < 41; ++i3_1) {
    #pragma omp simd
    for (int i3_3 = 0; i3_3 < 32; ++i3_3) {
      const float v0 = in0[i3_3 + i3_1 * 1280 - 1248];
      const float v1 = b0[i3_3];
      const float v2 = v0 - v1;
      const float v3 = b2[i3_3];
      const float v4 = v2 / v3;
      const float v5 = KORCH_MAX(0.0e+0f, v4);
      out[i3_3 + i3_1 * 1344] = v5;
    }
  }
  for (int i3_1 = 1; i3_1 < 41; ++i3_1) {
    for (int i3_2 = 1; i3_2 < 41; ++i3_2) {
      #pragma omp simd
      for (int i3_3 = 0; i3_3 < 32; ++i3_3) {
        const float v0 = in0[i3_3 + i3_2 * 32 + i3_1 * 1280 - 1312];
        const float v1 = b0[i3_3];
        const float v2 = v0 - v1;
        const float v3 = b2[i3_3];
        const float v4 = v2 / v3;
        const float v5 = KORCH_MAX(0.0e+0f, v4);
        out[i3_3 + i3_2 * 32 + i3_1 * 1344] = v5;
      }
    }
  }
  for (int i3_1 = 1; i3_1 < 41; ++i3_1) {
    #pragma omp simd
    for (int i3_3 = 0; i3_3 < 32; ++i3_3) {
      const float v0 = in0[i3_3 + i3_1 * 1280 - 64];
      const float v1 = b0[i3_3];
      const float v2 = v0 - v1;
      const float v3 = b2[i3_3];
      const float v4 = v2 / v3;
      const float v5 = KORCH_MAX(0.0e+0f, v4);
      out[i3_3 + i3_1 * 1344 + 1312] = v5;
    }
  }
  #pragma omp simd
  for (int i3_3 = 0; i3_3 < 32; ++i3_3) {
    const float v0 = in0[i3_3 + 48672];
    const float v1 = b0[i3_3];
    const float v2 = v0 - v1;
    const float v3 = b2[i3_3];
    const float v4 = v2 / v3;
    const float v5 = KORCH_MAX(0.0e+0f, v4);
    out[i3_3 + 55104] = v5;
  }
  for (int i3_2 = 1; i3_2 < 41; ++i3_2) {
    #pragma omp simd
    for (int i3_3 = 0; i3_3 < 32; ++i3_3) {
      const float v0 = in0[i3_3 + i3_2 * 32 + 48608];
      const float v1 = b0[i3_3];
      const float v2 = v0 - v1;
      const float v3 = b2[i3_3];
      const float v4 = v2 / v3;
      const float v5 = KORCH_MAX(0.0e+0f, v4);
      out[i3_3 + i3_2 * 32 + 55104] = v5;
    }
  }
  #pragma omp simd
  for (int i3_3 = 0; i3_3 < 32; ++i3_3) {
    const float v0 = in0[i3_3 + 49856];
    const float v1 = b0[i3_3];
    const float v2 = v0 - v1;
    const float v3 = b2[i3_3];
    const float v4 = v2 / v3;
    const float v5 = KORCH_MAX(0.0e+0f, v4);
    out[i3_3 + 56416] = v5;
  }
}
