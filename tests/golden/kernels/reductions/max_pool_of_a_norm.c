// t1 = reduce_max(x0, axes=(3,), keepdims=1)  # f32[1,9,9,1]
// t2 = sub(x0, t1)  # f32[1,9,9,16]
// t3 = max_pool(t2, channels_last=1, dilations=(1, 1), kernel_shape=(3, 3), pads=(1, 1, 1, 1), strides=(3, 3))  # f32[1,3,3,16]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  float *restrict b0 = (float *)((char *)workspace + 0);
  // t1 = reduce_max(x0, axes=(3,), keepdims=1)  # f32[1,9,9,1]
  for (int i0_1m2 = 0; i0_1m2 < 81; ++i0_1m2) {
    float acc = -INFINITY;
    float part = -INFINITY;
    int32_t nan = 0;
    #pragma omp simd reduction(max:part) reduction(|:nan)
    for (int r0_3 = 0; r0_3 < 16; ++r0_3) {
      const float v0 = in0[r0_3 + i0_1m2 * 16];
      part = KORCH_MAX(part, v0);
      nan |= v0 != v0;
    }
    acc = KORCH_LARGER(acc, (nan ? NAN : part));
    b0[i0_1m2] = acc;
  }
  // t3 = max_pool(t2, channels_last=1, dilations=(1, 1), kernel_shape=(3, 3), pads=(1, 1, 1, 1), strides=(3, 3))  # f32[1,3,3,16]
  for (int i1_1 = 0; i1_1 < 3; ++i1_1) {
    for (int i1_2 = 0; i1_2 < 3; ++i1_2) {
      float acc[16] __attribute__((aligned(64)));
      #pragma omp simd
      for (int i1_3 = 0; i1_3 < 16; ++i1_3) {
        acc[i1_3 - 0] = -INFINITY;
      }
      for (int k1_0 = KORCH_MAX(0, (-i1_1 * 3 + 1 + 0) / 1); k1_0 < 3; ++k1_0) {
        for (int k1_1 = KORCH_MAX(0, (-i1_2 * 3 + 1 + 0) / 1); k1_1 < 3; ++k1_1) {
          #pragma omp simd
          for (int i1_3 = 0; i1_3 < 16; ++i1_3) {
            const float v0 = in0[i1_3 + i1_2 * 48 + k1_1 * 16 + i1_1 * 432 + k1_0 * 144 - 160];
            const float v1 = b0[i1_2 * 3 + k1_1 + i1_1 * 27 + k1_0 * 9 - 10];
            const float v2 = v0 - v1;
            acc[i1_3 - 0] = KORCH_LARGER(acc[i1_3 - 0], v2);
          }
        }
      }
      #pragma omp simd
      for (int i1_3 = 0; i1_3 < 16; ++i1_3) {
        out[i1_3 + i1_2 * 16 + i1_1 * 48] = acc[i1_3 - 0];
      }
    }
  }
}
