// t1 = winograd_output(m, along=(True, True), kernel=3, phases=1, shape=(1, 33, 34, 96), skipped=(0, 0), stride=1, tile=4)  # f32[1,33,34,96]
// t3 = add(t1, bias)  # f32[1,33,34,96]
// t5 = add(t3, residual)  # f32[1,33,34,96]
// t6 = sigmoid(t5)  # f32[1,33,34,96]
// t7 = mul(t5, t6)  # f32[1,33,34,96]
// t9 = add(t7, 0.25)  # f32[1,33,34,96]
static void run(void *state, const void *const *in, void *out_, void *workspace) {
  (void)state; (void)workspace;
  const float *restrict in0 = in[0];
  const float *restrict in1 = in[1];
  const float *restrict in2 = in[2];
  const float *restrict x = in0;
  float *restrict out = out_;
  for (int tile = 0; tile < 81; tile += 1) {
    const int column = tile % 9, row = tile / 9 % 9;
    const int image = tile / 81;
    const int top = row * 4 - 0, left = column * 4 - 0;
    for (int c0 = 0; c0 < 96; c0 += 64) {
      const int count = KORCH_MIN(64, 96 - c0);
      float y[1024] __attribute__((aligned(64)));
      for (int phase = 0; phase < 1; ++phase) {
        const float *restrict m = x + tile * 96 + c0 + phase * 96;
        const int at = phase / 1 * 4 + phase % 1;
        float *restrict to = y + at * 64;
        #pragma omp simd
        for (int c = 0; c < count; ++c) {
          const float t0 = m[0 + c];
          const float t1 = m[46656 + c];
          const float t2 = m[93312 + c];
          const float t3 = m[139968 + c];
          const float t4 = m[186624 + c];
          const float t5 = m[233280 + c];
          const float t6 = t1 + t2;
          const float t7 = t1 - t2;
          const float t8 = t3 + t4;
          const float t9 = t3 - t4;
          const float t10 = t0 + t6 + t8;
          const float t11 = 7.0710677e-1f * t7 + 1.4142135e+0f * t9;
          const float t12 = 5.0e-1f * t6 + 2.0e+0f * t8;
          const float t13 = 3.5355338e-1f * t7 + 2.828427e+0f * t9 + t5;
          const float t14 = m[7776 + c];
          const float t15 = m[54432 + c];
          const float t16 = m[101088 + c];
          const float t17 = m[147744 + c];
          const float t18 = m[194400 + c];
          const float t19 = m[241056 + c];
          const float t20 = t15 + t16;
          const float t21 = t15 - t16;
          const float t22 = t17 + t18;
          const float t23 = t17 - t18;
          const float t24 = t14 + t20 + t22;
          const float t25 = 7.0710677e-1f * t21 + 1.4142135e+0f * t23;
          const float t26 = 5.0e-1f * t20 + 2.0e+0f * t22;
          const float t27 = 3.5355338e-1f * t21 + 2.828427e+0f * t23 + t19;
          const float t28 = m[15552 + c];
          const float t29 = m[62208 + c];
          const float t30 = m[108864 + c];
          const float t31 = m[155520 + c];
          const float t32 = m[202176 + c];
          const float t33 = m[248832 + c];
          const float t34 = t29 + t30;
          const float t35 = t29 - t30;
          const float t36 = t31 + t32;
          const float t37 = t31 - t32;
          const float t38 = t28 + t34 + t36;
          const float t39 = 7.0710677e-1f * t35 + 1.4142135e+0f * t37;
          const float t40 = 5.0e-1f * t34 + 2.0e+0f * t36;
          const float t41 = 3.5355338e-1f * t35 + 2.828427e+0f * t37 + t33;
          const float t42 = m[23328 + c];
          const float t43 = m[69984 + c];
          const float t44 = m[116640 + c];
          const float t45 = m[163296 + c];
          const float t46 = m[209952 + c];
          const float t47 = m[256608 + c];
          const float t48 = t43 + t44;
          const float t49 = t43 - t44;
          const float t50 = t45 + t46;
          const float t51 = t45 - t46;
          const float t52 = t42 + t48 + t50;
          const float t53 = 7.0710677e-1f * t49 + 1.4142135e+0f * t51;
          const float t54 = 5.0e-1f * t48 + 2.0e+0f * t50;
          const float t55 = 3.5355338e-1f * t49 + 2.828427e+0f * t51 + t47;
          const float t56 = m[31104 + c];
          const float t57 = m[77760 + c];
          const float t58 = m[124416 + c];
          const float t59 = m[171072 + c];
          const float t60 = m[217728 + c];
          const float t61 = m[264384 + c];
          const float t62 = t57 + t58;
          const float t63 = t57 - t58;
          const float t64 = t59 + t60;
          const float t65 = t59 - t60;
          const float t66 = t56 + t62 + t64;
          const float t67 = 7.0710677e-1f * t63 + 1.4142135e+0f * t65;
          const float t68 = 5.0e-1f * t62 + 2.0e+0f * t64;
          const float t69 = 3.5355338e-1f * t63 + 2.828427e+0f * t65 + t61;
          const float t70 = m[38880 + c];
          const float t71 = m[85536 + c];
          const float t72 = m[132192 + c];
          const float t73 = m[178848 + c];
          const float t74 = m[225504 + c];
          const float t75 = m[272160 + c];
          const float t76 = t71 + t72;
          const float t77 = t71 - t72;
          const float t78 = t73 + t74;
          const float t79 = t73 - t74;
          const float t80 = t70 + t76 + t78;
          const float t81 = 7.0710677e-1f * t77 + 1.4142135e+0f * t79;
          const float t82 = 5.0e-1f * t76 + 2.0e+0f * t78;
          const float t83 = 3.5355338e-1f * t77 + 2.828427e+0f * t79 + t75;
          const float t84 = t24 + t38;
          const float t85 = t24 - t38;
          const float t86 = t52 + t66;
          const float t87 = t52 - t66;
          const float t88 = t10 + t84 + t86;
          const float t89 = 7.0710677e-1f * t85 + 1.4142135e+0f * t87;
          const float t90 = 5.0e-1f * t84 + 2.0e+0f * t86;
          const float t91 = 3.5355338e-1f * t85 + 2.828427e+0f * t87 + t80;
          const float t92 = t25 + t39;
          const float t93 = t25 - t39;
          const float t94 = t53 + t67;
          const float t95 = t53 - t67;
          const float t96 = t11 + t92 + t94;
          const float t97 = 7.0710677e-1f * t93 + 1.4142135e+0f * t95;
          const float t98 = 5.0e-1f * t92 + 2.0e+0f * t94;
          const float t99 = 3.5355338e-1f * t93 + 2.828427e+0f * t95 + t81;
          const float t100 = t26 + t40;
          const float t101 = t26 - t40;
          const float t102 = t54 + t68;
          const float t103 = t54 - t68;
          const float t104 = t12 + t100 + t102;
          const float t105 = 7.0710677e-1f * t101 + 1.4142135e+0f * t103;
          const float t106 = 5.0e-1f * t100 + 2.0e+0f * t102;
          const float t107 = 3.5355338e-1f * t101 + 2.828427e+0f * t103 + t82;
          const float t108 = t27 + t41;
          const float t109 = t27 - t41;
          const float t110 = t55 + t69;
          const float t111 = t55 - t69;
          const float t112 = t13 + t108 + t110;
          const float t113 = 7.0710677e-1f * t109 + 1.4142135e+0f * t111;
          const float t114 = 5.0e-1f * t108 + 2.0e+0f * t110;
          const float t115 = 3.5355338e-1f * t109 + 2.828427e+0f * t111 + t83;
          to[0 + c] = t88;
          to[64 + c] = t89;
          to[128 + c] = t90;
          to[192 + c] = t91;
          to[256 + c] = t96;
          to[320 + c] = t97;
          to[384 + c] = t98;
          to[448 + c] = t99;
          to[512 + c] = t104;
          to[576 + c] = t105;
          to[640 + c] = t106;
          to[704 + c] = t107;
          to[768 + c] = t112;
          to[832 + c] = t113;
          to[896 + c] = t114;
          to[960 + c] = t115;
        }
      }
      for (int h = KORCH_MAX(top, 0); h < KORCH_MIN(top + 4, 33); ++h) {
        for (int w = KORCH_MAX(left, 0); w < KORCH_MIN(left + 4, 34); ++w) {
          const int i = h - top, j = w - left;
          const float *restrict z = y + (i * 4 + j) * 64;
          for (int c = 0; c < count; c += 16) {
            const korch_f16 v0 = *(const korch_at16 *)&z[c];
            const korch_f16 v1 = *(const korch_at16 *)&in1[c0 + c];
            const korch_f16 v2 = v0 + v1;
            const korch_f16 v3 = *(const korch_at16 *)&in2[c0 + c + w * 96 + h * 3264];
            const korch_f16 v4 = v2 + v3;
            const korch_f16 v5 = korch_silu16(v4);
            const korch_f16 v6 = v5 + (2.5e-1f - (korch_f16){0});
            *(korch_at16 *)(out + w * 96 + h * 3264 + c0 + c) = v6;
          }
        }
      }
    }
  }
}
