// t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,20,45,16]
static const korch_dnnl_call call = {.kind = KORCH_DNNL_CONV, .packing = KORCH_DNNL_ONCE, .allow_reference = 0, .src = {.leaf = 0, .ndims = 4, .offset = 0, .dims = {1, 3, 20, 45}, .strides = {2700, 1, 135, 3}}, .weights = {.leaf = 1, .ndims = 4, .offset = 0, .dims = {16, 3, 3, 3}, .strides = {27, 9, 3, 1}}, .bias = {.leaf = KORCH_DNNL_ABSENT}, .dst = {.leaf = KORCH_DNNL_OUT, .ndims = 4, .offset = 0, .dims = {1, 16, 20, 45}, .strides = {14400, 1, 720, 16}}, .strides = {1, 1}, .dilates = {0, 0}, .pads_begin = {1, 1}, .pads_end = {1, 1}, .post_op_count = 0};
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
