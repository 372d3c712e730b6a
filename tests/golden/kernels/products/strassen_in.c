// t1 = strassen_input(x)  # f32[7,35,19]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict x = in0;
  float *restrict out = out_;
  for (int pair = 0; pair < 35; pair += 1) {
    const float *restrict above = x + pair * 76, *restrict below = above + 38;
    float *const to = out + pair * 19;
    const int count = 19;
    #pragma omp simd
    for (int c = 0; c < count; ++c) {
      const float a11 = above[c], a12 = above[19 + c];
      const float a21 = below[c], a22 = below[19 + c];
      const float s1 = a21 + a22, s2 = s1 - a11, s3 = a11 - a21, s4 = a12 - s2;
      to[0 + c] = a11;
      to[665 + c] = a12;
      to[1330 + c] = s4;
      to[1995 + c] = a22;
      to[2660 + c] = s1;
      to[3325 + c] = s2;
      to[3990 + c] = s3;
    }
  }
}
