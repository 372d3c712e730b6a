// t1 = reduce_max(x0, axes=(3,), keepdims=1)  # f32[1,4,50,1]
// t2 = sub(x0, t1)  # f32[1,4,50,77]
// t3 = exp(t2)  # f32[1,4,50,77]
// t4 = reduce_sum(t3, axes=(3,), keepdims=1)  # f32[1,4,50,1]
// t5 = div(t3, t4)  # f32[1,4,50,77]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  for (int i3_1 = 0; i3_1 < 4; ++i3_1) {
    for (int i3_2 = 0; i3_2 < 50; ++i3_2) {
      float b0[1] __attribute__((aligned(64)));
      float b1[77] __attribute__((aligned(64)));
      float b2[1] __attribute__((aligned(64)));
      // t1 = reduce_max(x0, axes=(3,), keepdims=1)  # f32[1,4,50,1]
      {
        float acc = -INFINITY;
        float part = -INFINITY;
        int32_t nan = 0;
        #pragma omp simd reduction(max:part) reduction(|:nan)
        for (int r0_3 = 0; r0_3 < 77; ++r0_3) {
          const float v0 = in0[r0_3 + i3_2 * 77 + i3_1 * 3850];
          part = KORCH_MAX(part, v0);
          nan |= v0 != v0;
        }
        acc = KORCH_LARGER(acc, (nan ? NAN : part));
        b0[0] = acc;
      }
      // t3 = exp(t2)  # f32[1,4,50,77]
      #pragma omp simd
      for (int i1_3 = 0; i1_3 < 77; ++i1_3) {
        const float v0 = in0[i1_3 + i3_2 * 77 + i3_1 * 3850];
        const float v1 = b0[0];
        const float v2 = v0 - v1;
        const float v3 = korch_exp_belowf(v2);
        b1[i1_3] = v3;
      }
      // t4 = reduce_sum(t3, axes=(3,), keepdims=1)  # f32[1,4,50,1]
      {
        float acc = 0;
        const int r2_31 = 0 + (77 - (0)) / 32 * 32;
        float part[32] __attribute__((aligned(64))) = {0};
        for (int r2_30 = 0; r2_30 < r2_31; r2_30 += 32) {
          #pragma omp simd
          for (int r2_3 = r2_30; r2_3 < r2_30 + 32; ++r2_3) {
            const float v0 = b1[r2_3];
            part[r2_3 - r2_30] += v0;
          }
        }
        #pragma omp simd
        for (int r2_3 = r2_31; r2_3 < 77; ++r2_3) {
          const float v0 = b1[r2_3];
          part[r2_3 - r2_31] += v0;
        }
        acc += korch_sum32(part);
        b2[0] = acc;
      }
      // t5 = div(t3, t4)  # f32[1,4,50,77]
      #pragma omp simd
      for (int i3_3 = 0; i3_3 < 77; ++i3_3) {
        const float v0 = b1[i3_3];
        const float v1 = b2[0];
        const float v2 = v0 / v1;
        out[i3_3 + i3_2 * 77 + i3_1 * 3850] = v2;
      }
    }
  }
}
