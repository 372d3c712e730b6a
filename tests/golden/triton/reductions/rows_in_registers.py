def part0(in0, out):
    # t1 = reduce_max(x0, axes=(1,), keepdims=1)  # f32[4096,1]
    # t2 = sub(x0, t1)  # f32[4096,1000]
    # t3 = exp(t2)  # f32[4096,1000]
    # t4 = reduce_sum(t3, axes=(1,), keepdims=1)  # f32[4096,1]
    # t5 = div(t3, t4)  # f32[4096,1000]
    r = tl.program_id(0) * 2 + tl.arange(0, 2)[:, None]
    k1000 = tl.arange(0, 1024)[None, :]
    k1000_in = k1000 < 1000
    v0 = tl.load(in0 + (k1000 + r * 1000), mask=k1000_in, other=0)
    v1 = tl.where(k1000_in, v0, float("-inf"))
    v2 = folds.largest(v1, 1, True)
    v3 = v0 - v2
    v4 = tl.exp(v3)
    v5 = tl.where(k1000_in, v4, 0.0)
    v6 = folds.total(v5, 1, True)
    v7 = v4 / v6
    tl.store(out + (k1000 + r * 1000), v7, mask=k1000_in)
