def part0(in0, out):
    # t1 = reduce_max(x0, axes=(1,), keepdims=1)  # f32[5,1]
    # t2 = sub(x0, t1)  # f32[5,20011]
    # t3 = exp(t2)  # f32[5,20011]
    # t4 = reduce_sum(t3, axes=(1,), keepdims=1)  # f32[5,1]
    # t5 = div(t3, t4)  # f32[5,20011]
    r = tl.program_id(0)
    acc0 = tl.full([8192], float("-inf"), tl.float32)
    for start in range(0, 20011, 8192):
        k20011 = start + tl.arange(0, 8192)
        k20011_in = k20011 < 20011
        v0_0 = tl.load(in0 + (k20011 + r * 20011), mask=k20011_in, other=0)
        v0_1 = tl.where(k20011_in, v0_0, float("-inf"))
        acc0 = folds.larger(acc0, v0_1)
    s0 = folds.largest(acc0, 0, False)
    acc1 = tl.full([8192], 0.0, tl.float32)
    for start in range(0, 20011, 8192):
        k20011 = start + tl.arange(0, 8192)
        k20011_in = k20011 < 20011
        v1_0 = tl.load(in0 + (k20011 + r * 20011), mask=k20011_in, other=0)
        v1_1 = v1_0 - s0
        v1_2 = tl.exp(v1_1)
        v1_3 = tl.where(k20011_in, v1_2, 0.0)
        acc1 = acc1 + v1_3
    s1 = folds.total(acc1, 0, False)
    for start in range(0, 20011, 8192):
        k20011 = start + tl.arange(0, 8192)
        k20011_in = k20011 < 20011
        v0 = tl.load(in0 + (k20011 + r * 20011), mask=k20011_in, other=0)
        v1 = v0 - s0
        v2 = tl.exp(v1)
        v3 = v2 / s1
        tl.store(out + (k20011 + r * 20011), v3, mask=k20011_in)
