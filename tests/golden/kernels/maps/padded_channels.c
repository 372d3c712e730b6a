// t1 = transpose(x0, perm=(0, 2, 3, 1))  # f32[1,9,32,8]
// t2 = pad(t1, mode='edge', pads=(0, 1, 0, 0, 0, 2, 1, 0))  # f32[1,12,33,8]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  float *restrict out = out_;
  // t2 = pad(t1, mode='edge', pads=(0, 1, 0, 0, 0, 2, 1, 0))  # f32[1,12,33,8]
  for (int i0_2 = 0; i0_2 < 32; i0_2 += 16) {
    korch_f16 y0, y1, y2, y3;
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2]; y0 = v0; }
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 288]; y1 = v0; }
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 576]; y2 = v0; }
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 864]; y3 = v0; }
    korch_interleave16(out + i0_2 * 8 + 0, 8, y0, y1, y2, y3);
    korch_f16 y4, y5, y6, y7;
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 1152]; y4 = v0; }
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 1440]; y5 = v0; }
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 1728]; y6 = v0; }
    { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 2016]; y7 = v0; }
    korch_interleave16(out + i0_2 * 8 + 4, 8, y4, y5, y6, y7);
  }
  #pragma omp simd
  for (int i0_3 = 0; i0_3 < 8; ++i0_3) {
    const float v0 = in0[i0_3 * 288 + 31];
    out[i0_3 + 256] = v0;
  }
  for (int i0_1 = 1; i0_1 < 10; ++i0_1) {
    for (int i0_2 = 0; i0_2 < 32; i0_2 += 16) {
      korch_f16 y0, y1, y2, y3;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i0_1 * 32 - 32]; y0 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i0_1 * 32 + 256]; y1 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i0_1 * 32 + 544]; y2 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i0_1 * 32 + 832]; y3 = v0; }
      korch_interleave16(out + i0_2 * 8 + i0_1 * 264 + 0, 8, y0, y1, y2, y3);
      korch_f16 y4, y5, y6, y7;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i0_1 * 32 + 1120]; y4 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i0_1 * 32 + 1408]; y5 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i0_1 * 32 + 1696]; y6 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + i0_1 * 32 + 1984]; y7 = v0; }
      korch_interleave16(out + i0_2 * 8 + i0_1 * 264 + 4, 8, y4, y5, y6, y7);
    }
  }
  for (int i0_1 = 1; i0_1 < 10; ++i0_1) {
    #pragma omp simd
    for (int i0_3 = 0; i0_3 < 8; ++i0_3) {
      const float v0 = in0[i0_1 * 32 + i0_3 * 288 - 1];
      out[i0_3 + i0_1 * 264 + 256] = v0;
    }
  }
  for (int i0_1 = 10; i0_1 < 12; ++i0_1) {
    for (int i0_2 = 0; i0_2 < 32; i0_2 += 16) {
      korch_f16 y0, y1, y2, y3;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 256]; y0 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 544]; y1 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 832]; y2 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 1120]; y3 = v0; }
      korch_interleave16(out + i0_2 * 8 + i0_1 * 264 + 0, 8, y0, y1, y2, y3);
      korch_f16 y4, y5, y6, y7;
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 1408]; y4 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 1696]; y5 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 1984]; y6 = v0; }
      { const korch_f16 v0 = *(const korch_at16 *)&in0[i0_2 + 2272]; y7 = v0; }
      korch_interleave16(out + i0_2 * 8 + i0_1 * 264 + 4, 8, y4, y5, y6, y7);
    }
  }
  for (int i0_1 = 10; i0_1 < 12; ++i0_1) {
    #pragma omp simd
    for (int i0_3 = 0; i0_3 < 8; ++i0_3) {
      const float v0 = in0[i0_3 * 288 + 287];
      out[i0_3 + i0_1 * 264 + 256] = v0;
    }
  }
}
