// t1 = reduce_max(x0, axes=(1,), keepdims=0)  # f32[8]
// t2 = sub(x0, t1)  # f32[8,8]
// t3 = exp(t2)  # f32[8,8]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  float *restrict b0 = (float *)((char *)workspace + 0);
  // t1 = reduce_max(x0, axes=(1,), keepdims=0)  # f32[8]
  for (int i0_0 = 0; i0_0 < 8; ++i0_0) {
    float acc = -INFINITY;
    float part = -INFINITY;
    int32_t nan = 0;
    #pragma omp simd reduction(max:part) reduction(|:nan)
    for (int r0_1 = 0; r0_1 < 8; ++r0_1) {
      const float v0 = in0[r0_1 + i0_0 * 8];
      part = KORCH_MAX(part, v0);
      nan |= v0 != v0;
    }
    acc = KORCH_LARGER(acc, (nan ? NAN : part));
    b0[i0_0] = acc;
  }
  // t3 = exp(t2)  # f32[8,8]
  for (int i1_0 = 0; i1_0 < 8; ++i1_0) {
    #pragma omp simd
    for (int i1_1 = 0; i1_1 < 8; ++i1_1) {
      const float v0 = in0[i1_1 + i1_0 * 8];
      const float v1 = b0[i1_1];
      const float v2 = v0 - v1;
      const float v3 = korch_expf(v2);
      out[i1_1 + i1_0 * 8] = v3;
    }
  }
}
