def part0(in0, workspace):
    # t1 = reduce_sum(x0, axes=(2,), keepdims=0)  # f32[7,7]
    kept0 = (workspace + 0).to(tl.pointer_type(tl.float32))
    r = tl.program_id(0) * 4 + tl.arange(0, 4)[:, None]
    r_in = r < 49
    k20 = tl.arange(0, 32)[None, :]
    k20_in = k20 < 20
    v0 = tl.load(in0 + (k20 + r * 20), mask=k20_in & r_in, other=0)
    v1 = tl.where(k20_in, v0, 0.0)
    v2 = folds.total(v1, 1, True)
    tl.store(kept0 + (r), v2, mask=r_in)


def part1(in0, workspace):
    # t2 = transpose(t1, perm=(1, 0))  # f32[7,7]
    # t3 = reshape(t2, shape=(7, 7, 1))  # f32[7,7,1]
    # t4 = mul(x0, t3)  # f32[7,7,20]
    # t5 = reduce_sum(t4, axes=(2,), keepdims=0)  # f32[7,7]
    kept0 = (workspace + 0).to(tl.pointer_type(tl.float32))
    kept1 = (workspace + 256).to(tl.pointer_type(tl.float32))
    r = tl.program_id(0) * 4 + tl.arange(0, 4)[:, None]
    r_in = r < 49
    k20 = tl.arange(0, 32)[None, :]
    k20_in = k20 < 20
    v0 = tl.load(in0 + (k20 + r * 20), mask=k20_in & r_in, other=0)
    v1 = tl.load(kept0 + (((r) // 7) + ((r) % 7) * 7), mask=r_in, other=0)
    v2 = v0 * v1
    v3 = tl.where(k20_in, v2, 0.0)
    v4 = folds.total(v3, 1, True)
    tl.store(kept1 + (r), v4, mask=r_in)


def part2(out, workspace):
    # t6 = mul(t5, t1)  # f32[7,7]
    # t7 = transpose(t6, perm=(1, 0))  # f32[7,7]
    # t8 = mul(t7, t5)  # f32[7,7]
    # t9 = add(t8, t1)  # f32[7,7]
    kept0 = (workspace + 0).to(tl.pointer_type(tl.float32))
    kept1 = (workspace + 256).to(tl.pointer_type(tl.float32))
    ib = tl.arange(0, 8)[None, :]
    ib_in = ib < 7
    ia = tl.arange(0, 8)[:, None]
    ia_in = ia < 7
    v0 = tl.load(kept1 + (ia + ib * 7), mask=ia_in & ib_in, other=0)
    v1 = tl.load(kept0 + (ia + ib * 7), mask=ia_in & ib_in, other=0)
    v2 = v0 * v1
    v3 = tl.load(kept1 + (ib + ia * 7), mask=ia_in & ib_in, other=0)
    v4 = v2 * v3
    v5 = tl.load(kept0 + (ib + ia * 7), mask=ia_in & ib_in, other=0)
    v6 = v4 + v5
    tl.store(out + (ib + ia * 7), v6, mask=ia_in & ib_in)
