// t1 = reduce_min(x0, axes=(0, 1), keepdims=1)  # f32[1,1]
// t4 = sub(x0, t1)  # f32[130,130]
// t2 = reduce_max(x0, axes=(0, 1), keepdims=1)  # f32[1,1]
// t5 = sub(t2, t1)  # f32[1,1]
// t6 = div(t4, t5)  # f32[130,130]
// t3 = reduce_sum(x0, axes=(0, 1), keepdims=1)  # f32[1,1]
// t7 = add(t6, t3)  # f32[130,130]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  float *restrict b0 = (float *)((char *)workspace + 0);
  float *restrict b1 = (float *)((char *)workspace + 64);
  float *restrict b2 = (float *)((char *)workspace + 128);
  // t1 = reduce_min(x0, axes=(0, 1), keepdims=1)  # f32[1,1]
  // t2 = reduce_max(x0, axes=(0, 1), keepdims=1)  # f32[1,1]
  // t3 = reduce_sum(x0, axes=(0, 1), keepdims=1)  # f32[1,1]
  {
    float *restrict p0 = (float *)((char *)workspace + 192);
    float *restrict p1 = (float *)((char *)workspace + 256);
    float *restrict p2 = (float *)((char *)workspace + 320);
    for (int chunk = 0; chunk < 16; ++chunk) {
      {
        float acc = INFINITY;
        float acc1 = -INFINITY;
        float acc2 = 0;
        float part = INFINITY;
        int32_t nan = 0;
        float part1 = -INFINITY;
        int32_t nan1 = 0;
        float part2 = 0;
        #pragma omp simd reduction(min:part) reduction(|:nan) reduction(max:part1) reduction(|:nan1) reduction(+:part2)
        for (int r0_0m1 = 0 + (int)(chunk * INT64_C(16900) / 16); r0_0m1 < 0 + (int)((chunk + 1) * INT64_C(16900) / 16); ++r0_0m1) {
          const float v0 = in0[r0_0m1];
          part = KORCH_MIN(part, v0);
          nan |= v0 != v0;
          part1 = KORCH_MAX(part1, v0);
          nan1 |= v0 != v0;
          part2 += v0;
        }
        acc = KORCH_SMALLER(acc, (nan ? NAN : part));
        acc1 = KORCH_LARGER(acc1, (nan1 ? NAN : part1));
        acc2 += part2;
        p0[chunk * 1 + 0] = acc;
        p1[chunk * 1 + 0] = acc1;
        p2[chunk * 1 + 0] = acc2;
      }
    }
    {
      float acc = p0[0];
      for (int chunk = 1; chunk < 16; ++chunk) acc = KORCH_SMALLER(acc, p0[chunk * 1 + 0]);
      b0[0] = acc;
      float acc1 = p1[0];
      for (int chunk = 1; chunk < 16; ++chunk) acc1 = KORCH_LARGER(acc1, p1[chunk * 1 + 0]);
      b1[0] = acc1;
      float acc2 = p2[0];
      for (int chunk = 1; chunk < 16; ++chunk) acc2 += p2[chunk * 1 + 0];
      b2[0] = acc2;
    }
  }
  // t7 = add(t6, t3)  # f32[130,130]
  #pragma omp simd
  for (int i3_0m1 = 0; i3_0m1 < 16900; ++i3_0m1) {
    const float v0 = in0[i3_0m1];
    const float v1 = b0[0];
    const float v2 = v0 - v1;
    const float v3 = b1[0];
    const float v4 = v3 - v1;
    const float v5 = v2 / v4;
    const float v6 = b2[0];
    const float v7 = v5 + v6;
    out[i3_0m1] = v7;
  }
}
