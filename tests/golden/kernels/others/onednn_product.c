// t2 = mat_mul(x, c1)  # f32[50,33]
static const korch_dnnl_call call = {.kind = KORCH_DNNL_MATMUL, .packing = KORCH_DNNL_ONCE, .allow_reference = 0, .src = {.leaf = 0, .ndims = 2, .offset = 0, .dims = {50, 700}, .strides = {700, 1}}, .weights = {.leaf = 1, .ndims = 2, .offset = 0, .dims = {700, 33}, .strides = {33, 1}}, .bias = {.leaf = KORCH_DNNL_ABSENT}, .dst = {.leaf = KORCH_DNNL_OUT, .ndims = 2, .offset = 0, .dims = {50, 33}, .strides = {33, 1}}, .post_op_count = 0};
static int init(void **state, const void *const *in) {
  return korch_dnnl_init(state, &call, in);
}
static void run(void *state, const void *const *in, void *out, void *workspace) {
  (void)workspace;
  korch_dnnl_run(state, in, out);
}
static void free(void *state) {
  korch_dnnl_free(state);
}
