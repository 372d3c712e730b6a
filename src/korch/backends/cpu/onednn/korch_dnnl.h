// One oneDNN primitive with its post-ops, described by data: generated kernels fill in a `korch_dnnl_call`, and the
// functions here create, run and free it. Included after korch_rt.h, once in each unit of a linked program.
//
// Every operand is a strided view of a leaf's buffer (or of the output), so layouts and transpositions are only
// numbers. Status codes are oneDNN's `dnnl_status_t` (dnnl_unimplemented and
// dnnl_last_impl_reached: it has no such implementation), and KORCH_DNNL_REFERENCE.
#ifndef KORCH_DNNL_H
#define KORCH_DNNL_H

#include <oneapi/dnnl/dnnl.h>

enum { KORCH_DNNL_MAX_POST_OPS = 16, KORCH_DNNL_MAX_ARGS = KORCH_DNNL_MAX_POST_OPS + 5 };
enum { KORCH_DNNL_REFERENCE = 64 };  // oneDNN has nothing better than its unoptimised reference loops
enum { KORCH_DNNL_ABSENT = -2, KORCH_DNNL_OUT = -1 };  // what a view can name instead of a leaf

typedef enum { KORCH_DNNL_CONV, KORCH_DNNL_DECONV, KORCH_DNNL_MATMUL } korch_dnnl_kind;
// When weights are put into the layout that oneDNN likes best: never, by init where they are constant, before each run.
typedef enum { KORCH_DNNL_NEVER, KORCH_DNNL_ONCE, KORCH_DNNL_EACH_RUN } korch_dnnl_packing;
typedef enum { KORCH_DNNL_ELTWISE, KORCH_DNNL_BINARY, KORCH_DNNL_SUM } korch_dnnl_post_op_kind;

// float32 elements of buffer `leaf`, from `offset` on; strides count elements; a broadcast axis has size 1.
typedef struct {
    int leaf, ndims;
    int64_t offset;
    dnnl_dims_t dims, strides;
} korch_dnnl_view;

typedef struct {
    korch_dnnl_post_op_kind kind;
    dnnl_alg_kind_t alg;
    float alpha, beta;     // of an eltwise
    korch_dnnl_view arg;   // of a binary; of a sum: what `out` holds before the primitive runs
} korch_dnnl_post_op;

typedef struct {
    korch_dnnl_kind kind;
    korch_dnnl_packing packing;  // of the weights
    int allow_reference;         // take oneDNN's reference loops where there is nothing better
    const char *implementation;  // start of the wanted one's name, unless it is oneDNN's first choice; NULL: that one
    korch_dnnl_view src, weights, bias, dst;
    dnnl_dims_t strides, dilates, pads_begin, pads_end;  // of convolutions; dilates as oneDNN counts them, from 0
    int post_op_count;
    korch_dnnl_post_op post_ops[KORCH_DNNL_MAX_POST_OPS];
} korch_dnnl_call;

// An execution argument whose buffer comes with each run.
typedef struct {
    dnnl_memory_t memory;
    int leaf;
    int64_t offset;
    float *set;  // where the memory object points: runs of a program use the same buffers
} korch_dnnl_slot;

// Constant weights in the layout that a primitive likes best: one copy for all states that want the same of the same.
typedef struct korch_dnnl_packed {
    struct korch_dnnl_packed *next;
    const float *from;
    korch_dnnl_view view;
    dnnl_memory_desc_t layout;
    void *data;
    int users;
} korch_dnnl_packed;

typedef struct {
    dnnl_primitive_t primitive;
    int arg_count, slot_count;
    dnnl_exec_arg_t args[KORCH_DNNL_MAX_ARGS];
    korch_dnnl_slot slots[KORCH_DNNL_MAX_ARGS];
    int sum_leaf;  // copied to the output before each run, or KORCH_DNNL_ABSENT
    size_t sum_bytes;
    korch_dnnl_packed *weights;
    dnnl_primitive_t reorder;  // of weights that are packed before each run, into `turned`; NULL: there are none
    dnnl_exec_arg_t reordered[2];
    void *turned, *scratchpad;
} korch_dnnl_state;

// Of the whole program: the definitions of all units become one.
#define KORCH_DNNL_ONE __attribute__((weak, visibility("hidden")))
KORCH_DNNL_ONE dnnl_engine_t korch_dnnl_engine;
KORCH_DNNL_ONE dnnl_stream_t korch_dnnl_stream;
KORCH_DNNL_ONE korch_dnnl_packed *korch_dnnl_packs;

#define KORCH_DNNL_TRY(call)                          \
    do {                                              \
        int korch_status_ = (call);                   \
        if (korch_status_) return korch_status_;      \
    } while (0)

// oneDNN's cache of primitives is turned off: it takes two implementations of one problem for the same.
static int korch_dnnl_start(void) {
    int status = dnnl_success;
#pragma omp critical(korch_dnnl)
    if (!korch_dnnl_stream) {
        status = dnnl_set_primitive_cache_capacity(0);
        if (!status) status = dnnl_engine_create(&korch_dnnl_engine, dnnl_cpu, 0);
        if (!status) status = dnnl_stream_create(&korch_dnnl_stream, korch_dnnl_engine, dnnl_stream_default_flags);
    }
    return status;
}

static int korch_dnnl_describe(dnnl_memory_desc_t *md, const korch_dnnl_view *v) {
    return dnnl_memory_desc_create_with_strides(md, v->ndims, v->dims, dnnl_f32, v->strides);
}

static int korch_dnnl_describe_any(dnnl_memory_desc_t *md, const korch_dnnl_view *v) {
    return dnnl_memory_desc_create_with_tag(md, v->ndims, v->dims, dnnl_f32, dnnl_format_tag_any);
}

static int korch_dnnl_append(dnnl_post_ops_t list, const korch_dnnl_post_op *op) {
    if (op->kind == KORCH_DNNL_ELTWISE) return dnnl_post_ops_append_eltwise(list, op->alg, op->alpha, op->beta);
    if (op->kind == KORCH_DNNL_SUM) return dnnl_post_ops_append_sum(list, 1.0f, 0, dnnl_f32);
    dnnl_memory_desc_t md = NULL;
    int status = korch_dnnl_describe(&md, &op->arg);
    if (!status) status = dnnl_post_ops_append_binary(list, op->alg, md);
    dnnl_memory_desc_destroy(md);
    return status;
}

static int korch_dnnl_attributes(dnnl_primitive_attr_t *attr, const korch_dnnl_call *call) {
    dnnl_post_ops_t list = NULL;
    int status = dnnl_primitive_attr_create(attr);
    if (!status) status = dnnl_primitive_attr_set_scratchpad_mode(*attr, dnnl_scratchpad_mode_user);
    if (!status) status = dnnl_post_ops_create(&list);
    for (int i = 0; !status && i < call->post_op_count; ++i) status = korch_dnnl_append(list, &call->post_ops[i]);
    if (!status) status = dnnl_primitive_attr_set_post_ops(*attr, list);
    dnnl_post_ops_destroy(list);
    return status;
}

typedef struct {
    dnnl_memory_desc_t src, weights, bias, dst;
    dnnl_primitive_attr_t attr;
} korch_dnnl_description;

static int korch_dnnl_describe_call(korch_dnnl_description *d, const korch_dnnl_call *call) {
    KORCH_DNNL_TRY(korch_dnnl_describe(&d->src, &call->src));
    KORCH_DNNL_TRY((call->packing ? korch_dnnl_describe_any : korch_dnnl_describe)(&d->weights, &call->weights));
    if (call->bias.leaf != KORCH_DNNL_ABSENT) KORCH_DNNL_TRY(korch_dnnl_describe(&d->bias, &call->bias));
    KORCH_DNNL_TRY(korch_dnnl_describe(&d->dst, &call->dst));
    return korch_dnnl_attributes(&d->attr, call);
}

static void korch_dnnl_forget(korch_dnnl_description *d) {
    dnnl_memory_desc_destroy(d->src);
    dnnl_memory_desc_destroy(d->weights);
    dnnl_memory_desc_destroy(d->bias);
    dnnl_memory_desc_destroy(d->dst);
    dnnl_primitive_attr_destroy(d->attr);
}

static int korch_dnnl_select(dnnl_primitive_desc_t *pd, const korch_dnnl_call *c, const korch_dnnl_description *d) {
    switch (c->kind) {
        case KORCH_DNNL_CONV:
            return dnnl_convolution_forward_primitive_desc_create(
                pd, korch_dnnl_engine, dnnl_forward_inference, dnnl_convolution_direct, d->src, d->weights, d->bias,
                d->dst, c->strides, c->dilates, c->pads_begin, c->pads_end, d->attr);
        case KORCH_DNNL_DECONV:
            return dnnl_deconvolution_forward_primitive_desc_create(
                pd, korch_dnnl_engine, dnnl_forward_inference, dnnl_deconvolution_direct, d->src, d->weights, d->bias,
                d->dst, c->strides, c->dilates, c->pads_begin, c->pads_end, d->attr);
        default:
            return dnnl_matmul_primitive_desc_create(pd, korch_dnnl_engine, d->src, d->weights, d->bias, d->dst,
                                                     d->attr);
    }
}

static int korch_dnnl_is_named(const_dnnl_primitive_desc_t pd, const char *start) {
    const char *name = "";
    dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
    return strncmp(name, start, strlen(start)) == 0;
}

// Moves on to the implementation called `name`; that the first choice is it already counts as none.
static int korch_dnnl_seek(dnnl_primitive_desc_t pd, const char *name) {
    if (korch_dnnl_is_named(pd, name)) return dnnl_last_impl_reached;
    int status = dnnl_success;
    while (!status && !korch_dnnl_is_named(pd, name)) status = dnnl_primitive_desc_next_impl(pd);
    return status;
}

static int korch_dnnl_choose(dnnl_primitive_desc_t *pd, const korch_dnnl_call *call) {
    korch_dnnl_description d = {0};
    int status = korch_dnnl_describe_call(&d, call);
    if (!status) status = korch_dnnl_select(pd, call, &d);
    if (!status && call->implementation) status = korch_dnnl_seek(*pd, call->implementation);
    if (!status && !call->allow_reference && korch_dnnl_is_named(*pd, "ref")) status = KORCH_DNNL_REFERENCE;
    korch_dnnl_forget(&d);
    return status;
}

// Adds an execution argument; the state owns the memory object.
static int korch_dnnl_argument(korch_dnnl_state *s, int name, const_dnnl_memory_desc_t md, void *data) {
    dnnl_memory_t memory = NULL;
    KORCH_DNNL_TRY(dnnl_memory_create(&memory, md, korch_dnnl_engine, data));
    s->args[s->arg_count++] = (dnnl_exec_arg_t){name, memory};
    return dnnl_success;
}

// Has `memory` point to what a view shows, whenever the primitive runs.
static void korch_dnnl_follow(korch_dnnl_state *s, dnnl_memory_t memory, const korch_dnnl_view *view) {
    s->slots[s->slot_count++] = (korch_dnnl_slot){memory, view->leaf, view->offset, NULL};
}

static int korch_dnnl_bind(korch_dnnl_state *s, int name, const_dnnl_memory_desc_t md, const korch_dnnl_view *view) {
    KORCH_DNNL_TRY(korch_dnnl_argument(s, name, md, DNNL_MEMORY_NONE));
    korch_dnnl_follow(s, s->args[s->arg_count - 1].memory, view);
    return dnnl_success;
}

static int korch_dnnl_bind_operand(korch_dnnl_state *s, const_dnnl_primitive_desc_t pd, int name,
                                   const korch_dnnl_view *view) {
    return korch_dnnl_bind(s, name, dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, name), view);
}

static int korch_dnnl_bind_post_ops(korch_dnnl_state *s, const_dnnl_primitive_desc_t pd, const korch_dnnl_call *c) {
    for (int i = 0; i < c->post_op_count; ++i) {
        const korch_dnnl_post_op *op = &c->post_ops[i];
        int name = DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1;
        if (op->kind == KORCH_DNNL_BINARY) KORCH_DNNL_TRY(korch_dnnl_bind_operand(s, pd, name, &op->arg));
        if (op->kind == KORCH_DNNL_SUM) s->sum_leaf = op->arg.leaf;
    }
    s->sum_bytes = dnnl_memory_desc_get_size(dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0));
    return dnnl_success;
}

static int korch_dnnl_allocate(void **buffer, size_t bytes) {
    return posix_memalign(buffer, 64, bytes ? bytes : 64) ? dnnl_out_of_memory : dnnl_success;
}

static int korch_dnnl_reorder(dnnl_memory_t from, const_dnnl_memory_desc_t from_md, dnnl_memory_t to,
                              const_dnnl_memory_desc_t to_md) {
    dnnl_primitive_desc_t pd = NULL;
    dnnl_primitive_t reorder = NULL;
    int status = dnnl_reorder_primitive_desc_create(&pd, from_md, korch_dnnl_engine, to_md, korch_dnnl_engine, NULL);
    if (!status) status = dnnl_primitive_create(&reorder, pd);
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    if (!status) status = dnnl_primitive_execute(reorder, korch_dnnl_stream, 2, args);
    dnnl_primitive_destroy(reorder);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

static int korch_dnnl_fill(korch_dnnl_packed *p) {
    dnnl_memory_desc_t plain = NULL;
    dnnl_memory_t from = NULL, to = NULL;
    int status = korch_dnnl_allocate(&p->data, dnnl_memory_desc_get_size(p->layout));
    if (!status) status = korch_dnnl_describe(&plain, &p->view);
    if (!status) status = dnnl_memory_create(&from, plain, korch_dnnl_engine, (float *)p->from);
    if (!status) status = dnnl_memory_create(&to, p->layout, korch_dnnl_engine, p->data);
    if (!status) status = korch_dnnl_reorder(from, plain, to, p->layout);
    dnnl_memory_destroy(to);
    dnnl_memory_destroy(from);
    dnnl_memory_desc_destroy(plain);
    return status;
}

static int korch_dnnl_same_view(const korch_dnnl_view *a, const korch_dnnl_view *b) {
    size_t used = a->ndims * sizeof a->dims[0];
    return a->ndims == b->ndims && !memcmp(a->dims, b->dims, used) && !memcmp(a->strides, b->strides, used);
}

// Gives back what korch_dnnl_packed_as gave out.
static void korch_dnnl_drop(korch_dnnl_packed *dropped) {
#pragma omp critical(korch_dnnl_packs)
    if (dropped && --dropped->users == 0) {
        korch_dnnl_packed **p = &korch_dnnl_packs;
        while (*p && *p != dropped) p = &(*p)->next;
        if (*p) *p = dropped->next;
        dnnl_memory_desc_destroy(dropped->layout);
        free(dropped->data);
        free(dropped);
    }
}

// What `from` shows in `layout`, made where nobody has it yet.
static int korch_dnnl_packed_as(korch_dnnl_packed **found, const float *from, const korch_dnnl_view *view,
                                const_dnnl_memory_desc_t layout) {
    int status = dnnl_success;
#pragma omp critical(korch_dnnl_packs)
    {
        korch_dnnl_packed *p = korch_dnnl_packs;
        while (p && (p->from != from || !korch_dnnl_same_view(&p->view, view) ||
                     !dnnl_memory_desc_equal(p->layout, layout)))
            p = p->next;
        if (!p && (p = calloc(1, sizeof *p))) {
            *p = (korch_dnnl_packed){.next = korch_dnnl_packs, .from = from, .view = *view};
            korch_dnnl_packs = p;
            status = dnnl_memory_desc_clone(&p->layout, layout);
            if (!status) status = korch_dnnl_fill(p);
        }
        if (p) ++p->users;
        *found = p;
    }
    return *found ? status : dnnl_out_of_memory;
}

static int korch_dnnl_pack(korch_dnnl_state *s, const_dnnl_primitive_desc_t pd, const korch_dnnl_view *view,
                           const void *const *in) {
    const_dnnl_memory_desc_t layout = dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    KORCH_DNNL_TRY(korch_dnnl_packed_as(&s->weights, (const float *)in[view->leaf] + view->offset, view, layout));
    return korch_dnnl_argument(s, DNNL_ARG_WEIGHTS, layout, s->weights->data);
}

// Computed weights: a primitive that puts them into the wanted layout, which the state has room for.
static int korch_dnnl_turn(korch_dnnl_state *s, const_dnnl_primitive_desc_t pd, const korch_dnnl_view *view) {
    const_dnnl_memory_desc_t layout = dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    dnnl_memory_desc_t plain = NULL;
    dnnl_primitive_desc_t turn = NULL;
    dnnl_memory_t *from = &s->reordered[0].memory;
    int status = korch_dnnl_describe(&plain, view);
    if (!status) status = korch_dnnl_allocate(&s->turned, dnnl_memory_desc_get_size(layout));
    if (!status) status = korch_dnnl_argument(s, DNNL_ARG_WEIGHTS, layout, s->turned);
    s->reordered[0].arg = DNNL_ARG_FROM;
    if (!status) s->reordered[1] = (dnnl_exec_arg_t){DNNL_ARG_TO, s->args[s->arg_count - 1].memory};
    if (!status) status = dnnl_memory_create(from, plain, korch_dnnl_engine, DNNL_MEMORY_NONE);
    if (!status) korch_dnnl_follow(s, *from, view);
    if (!status)
        status = dnnl_reorder_primitive_desc_create(&turn, plain, korch_dnnl_engine, layout, korch_dnnl_engine, NULL);
    if (!status) status = dnnl_primitive_create(&s->reorder, turn);
    dnnl_primitive_desc_destroy(turn);
    dnnl_memory_desc_destroy(plain);
    return status;
}

static int korch_dnnl_build(korch_dnnl_state *s, const_dnnl_primitive_desc_t pd, const korch_dnnl_call *call,
                            const void *const *in) {
    KORCH_DNNL_TRY(dnnl_primitive_create(&s->primitive, pd));
    KORCH_DNNL_TRY(korch_dnnl_bind_operand(s, pd, DNNL_ARG_SRC, &call->src));
    if (call->packing == KORCH_DNNL_ONCE)
        KORCH_DNNL_TRY(korch_dnnl_pack(s, pd, &call->weights, in));
    else if (call->packing == KORCH_DNNL_EACH_RUN)
        KORCH_DNNL_TRY(korch_dnnl_turn(s, pd, &call->weights));
    else
        KORCH_DNNL_TRY(korch_dnnl_bind_operand(s, pd, DNNL_ARG_WEIGHTS, &call->weights));
    if (call->bias.leaf != KORCH_DNNL_ABSENT)
        KORCH_DNNL_TRY(korch_dnnl_bind_operand(s, pd, DNNL_ARG_BIAS, &call->bias));
    KORCH_DNNL_TRY(korch_dnnl_bind_operand(s, pd, DNNL_ARG_DST, &call->dst));
    KORCH_DNNL_TRY(korch_dnnl_bind_post_ops(s, pd, call));
    const_dnnl_memory_desc_t scratch = dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    KORCH_DNNL_TRY(korch_dnnl_allocate(&s->scratchpad, dnnl_memory_desc_get_size(scratch)));
    return korch_dnnl_argument(s, DNNL_ARG_SCRATCHPAD, scratch, s->scratchpad);
}

static void korch_dnnl_free(void *state) {
    korch_dnnl_state *s = state;
    if (!s) return;
    for (int i = 0; i < s->arg_count; ++i) dnnl_memory_destroy(s->args[i].memory);
    dnnl_memory_destroy(s->reordered[0].memory);
    dnnl_primitive_destroy(s->reorder);
    dnnl_primitive_destroy(s->primitive);
    korch_dnnl_drop(s->weights);
    free(s->turned);
    free(s->scratchpad);
    free(s);
}

// Creates the primitive for the threads that OpenMP has now. `in` has the constant leaves. 0 = ok; else *state is NULL.
static int korch_dnnl_init(void **state, const korch_dnnl_call *call, const void *const *in) {
    *state = NULL;
    KORCH_DNNL_TRY(korch_dnnl_start());
    dnnl_primitive_desc_t pd = NULL;
    korch_dnnl_state *s = calloc(1, sizeof *s);
    if (!s) return dnnl_out_of_memory;
    s->sum_leaf = KORCH_DNNL_ABSENT;
    int status = korch_dnnl_choose(&pd, call);
    if (!status) status = korch_dnnl_build(s, pd, call, in);
    dnnl_primitive_desc_destroy(pd);
    if (status)
        korch_dnnl_free(s);
    else
        *state = s;
    return status;
}

static void korch_dnnl_copy(char *out, const char *in, size_t bytes) {
    enum { CHUNK = 1 << 16 };
#pragma omp parallel for schedule(static) if (bytes > 4 * CHUNK)
    for (size_t at = 0; at < bytes; at += CHUNK) memcpy(out + at, in + at, bytes - at < CHUNK ? bytes - at : CHUNK);
}

static void korch_dnnl_run(void *state, const void *const *in, void *out) {
    korch_dnnl_state *s = state;
    for (int i = 0; i < s->slot_count; ++i) {
        korch_dnnl_slot *slot = &s->slots[i];
        float *base = slot->leaf == KORCH_DNNL_OUT ? out : (float *)in[slot->leaf];
        float *data = base + slot->offset;
        if (data != slot->set) dnnl_memory_set_data_handle(slot->memory, slot->set = data);
    }
    if (s->sum_leaf != KORCH_DNNL_ABSENT) korch_dnnl_copy(out, in[s->sum_leaf], s->sum_bytes);
    int status = dnnl_success;
    if (s->reorder) status = dnnl_primitive_execute(s->reorder, korch_dnnl_stream, 2, s->reordered);
    if (!status) status = dnnl_primitive_execute(s->primitive, korch_dnnl_stream, s->arg_count, s->args);
    if (status) korch_failure = status;
}

#endif
