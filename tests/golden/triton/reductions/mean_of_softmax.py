def part0(in0, workspace):
    # t1 = reduce_max(x0, axes=(2,), keepdims=1)  # f32[3,20,1]
    # t2 = sub(x0, t1)  # f32[3,20,30]
    # t3 = exp(t2)  # f32[3,20,30]
    # t4 = reduce_sum(t3, axes=(2,), keepdims=1)  # f32[3,20,1]
    kept0 = (workspace + 0).to(tl.pointer_type(tl.float32))
    kept1 = (workspace + 256).to(tl.pointer_type(tl.float32))
    r = tl.program_id(0) * 4 + tl.arange(0, 4)[:, None]
    k30 = tl.arange(0, 32)[None, :]
    k30_in = k30 < 30
    v0 = tl.load(in0 + (k30 + r * 30), mask=k30_in, other=0)
    v1 = tl.where(k30_in, v0, float("-inf"))
    v2 = folds.largest(v1, 1, True)
    v3 = v0 - v2
    v4 = tl.exp(v3)
    v5 = tl.where(k30_in, v4, 0.0)
    v6 = folds.total(v5, 1, True)
    tl.store(kept0 + (r), v2)
    tl.store(kept1 + (r), v6)


def part1(in0, out, workspace):
    # t2 = sub(x0, t1)  # f32[3,20,30]
    # t3 = exp(t2)  # f32[3,20,30]
    # t5 = div(t3, t4)  # f32[3,20,30]
    # t6 = reduce_mean(t5, axes=(1,), keepdims=0)  # f32[3,30]
    # t7 = exp(t6)  # f32[3,30]
    kept0 = (workspace + 0).to(tl.pointer_type(tl.float32))
    kept1 = (workspace + 256).to(tl.pointer_type(tl.float32))
    r = tl.program_id(0) * 16 + tl.arange(0, 16)[:, None]
    r_in = r < 90
    k20 = tl.arange(0, 32)[None, :]
    k20_in = k20 < 20
    v0 = tl.load(in0 + (((r) % 30) + k20 * 30 + ((r) // 30) * 600), mask=k20_in & r_in, other=0)
    v1 = tl.load(kept0 + (k20 + ((r) // 30) * 20), mask=k20_in & r_in, other=0)
    v2 = v0 - v1
    v3 = tl.exp(v2)
    v4 = tl.load(kept1 + (k20 + ((r) // 30) * 20), mask=k20_in & r_in, other=0)
    v5 = v3 / v4
    v6 = tl.where(k20_in, v5, 0.0)
    v7 = folds.total(v6, 1, True)
    v8 = v7 / 20.0
    v9 = tl.exp(v8)
    tl.store(out + (r), v9, mask=r_in)
