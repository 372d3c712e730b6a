def part0(in0, workspace):
    # t1 = reduce_max(x0, axes=(1,), keepdims=1)  # f32[1,1]
    kept0 = (workspace + 0).to(tl.pointer_type(tl.float32))
    c = tl.program_id(0)
    r = 0
    acc0 = tl.full([2048], float("-inf"), tl.float32)
    for start in range(0, 4096, 2048):
        k1048576 = c * 4096 + start + tl.arange(0, 2048)
        v0 = tl.load(in0 + (k1048576))
        acc0 = folds.larger(acc0, v0)
    s0 = folds.largest(acc0, 0, False)
    tl.store(kept0 + (c), s0)


def part1(workspace):
    # t1 = reduce_max(x0, axes=(1,), keepdims=1)  # f32[1,1]
    kept0 = (workspace + 0).to(tl.pointer_type(tl.float32))
    kept1 = (workspace + 1024).to(tl.pointer_type(tl.float32))
    r = 0
    c = tl.arange(0, 256)
    v0 = tl.load(kept0 + (c))
    v1 = folds.largest(v0, 0, False)
    tl.store(kept1 + (0), v1)


def part2(in0, workspace):
    # t2 = sub(x0, t1)  # f32[1,1048576]
    # t3 = exp(t2)  # f32[1,1048576]
    # t4 = reduce_sum(t3, axes=(1,), keepdims=1)  # f32[1,1]
    kept1 = (workspace + 1024).to(tl.pointer_type(tl.float32))
    kept2 = (workspace + 1280).to(tl.pointer_type(tl.float32))
    c = tl.program_id(0)
    r = 0
    acc0 = tl.full([2048], 0.0, tl.float32)
    for start in range(0, 4096, 2048):
        k1048576 = c * 4096 + start + tl.arange(0, 2048)
        v0 = tl.load(in0 + (k1048576))
        v1 = tl.load(kept1 + (0))
        v2 = v0 - v1
        v3 = tl.exp(v2)
        acc0 = acc0 + v3
    s0 = folds.total(acc0, 0, False)
    tl.store(kept2 + (c), s0)


def part3(workspace):
    # t2 = sub(x0, t1)  # f32[1,1048576]
    # t3 = exp(t2)  # f32[1,1048576]
    # t4 = reduce_sum(t3, axes=(1,), keepdims=1)  # f32[1,1]
    kept2 = (workspace + 1280).to(tl.pointer_type(tl.float32))
    kept3 = (workspace + 2304).to(tl.pointer_type(tl.float32))
    r = 0
    c = tl.arange(0, 256)
    v0 = tl.load(kept2 + (c))
    v1 = folds.total(v0, 0, False)
    tl.store(kept3 + (0), v1)


def part4(in0, out, workspace):
    # t2 = sub(x0, t1)  # f32[1,1048576]
    # t3 = exp(t2)  # f32[1,1048576]
    # t5 = div(t3, t4)  # f32[1,1048576]
    kept1 = (workspace + 1024).to(tl.pointer_type(tl.float32))
    kept3 = (workspace + 2304).to(tl.pointer_type(tl.float32))
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    v0 = tl.load(in0 + (i))
    v1 = tl.load(kept1 + (0))
    v2 = v0 - v1
    v3 = tl.exp(v2)
    v4 = tl.load(kept3 + (0))
    v5 = v3 / v4
    tl.store(out + (i), v5)
