// t2 = mul(x0, 3)  # i64[7,9]
// t4 = add(t2, 1)  # i64[7,9]
// t5 = cast(t4, to='float32')  # f32[7,9]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const int64_t *restrict in0 = in[0];
  float *restrict out = out_;
  // t5 = cast(t4, to='float32')  # f32[7,9]
  #pragma omp simd
  for (int i0_0m1 = 0; i0_0m1 < 63; ++i0_0m1) {
    const int64_t v0 = in0[i0_0m1];
    const int64_t v1 = (int64_t)((uint64_t)v0 * (uint64_t)3LL);
    const int64_t v2 = (int64_t)((uint64_t)v1 + (uint64_t)1LL);
    const float v3 = (float)v2;
    out[i0_0m1] = v3;
  }
}
