def part0(in0, out):
    # t1 = reduce_max(x0, axes=(1,), keepdims=1)  # f32[13,1]
    # t2 = sub(x0, t1)  # f32[13,101]
    # t3 = exp(t2)  # f32[13,101]
    # t4 = reduce_sum(t3, axes=(1,), keepdims=1)  # f32[13,1]
    # t5 = div(t3, t4)  # f32[13,101]
    r = tl.program_id(0)
    k101 = tl.arange(0, 128)
    k101_in = k101 < 101
    v0 = tl.load(in0 + (k101 + r * 101), mask=k101_in, other=0)
    v1 = tl.where(k101_in, v0, float("-inf"))
    v2 = folds.largest(v1, 0, False)
    v3 = v0 - v2
    v4 = tl.exp(v3)
    v5 = tl.where(k101_in, v4, 0.0)
    v6 = folds.total(v5, 0, False)
    v7 = v4 / v6
    tl.store(out + (k101 + r * 101), v7, mask=k101_in)
