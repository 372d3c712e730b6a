def part0(in0, out):
    # t2 = reduce_mean(x0, axes=(2, 3), keepdims=1)  # f32[2,132,1,1]
    # t4 = sub(x0, t2)  # f32[2,132,200,200]
    # t1 = mul(x0, x0)  # f32[2,132,200,200]
    # t3 = reduce_mean(t1, axes=(2, 3), keepdims=1)  # f32[2,132,1,1]
    # t5 = mul(t2, t2)  # f32[2,132,1,1]
    # t6 = sub(t3, t5)  # f32[2,132,1,1]
    # t7 = relu(t6)  # f32[2,132,1,1]
    # t9 = add(t7, 9.999999747378752e-06)  # f32[2,132,1,1]
    # t10 = sqrt(t9)  # f32[2,132,1,1]
    # t11 = div(t4, t10)  # f32[2,132,200,200]
    r = tl.program_id(0)
    acc0 = tl.full([8192], 0.0, tl.float32)
    acc1 = tl.full([8192], 0.0, tl.float32)
    for start in range(0, 40000, 8192):
        k40000 = start + tl.arange(0, 8192)
        k40000_in = k40000 < 40000
        v0_0 = tl.load(in0 + (k40000 + r * 40000), mask=k40000_in, other=0)
        v0_1 = tl.where(k40000_in, v0_0, 0.0)
        v0_2 = v0_0 * v0_0
        v0_3 = tl.where(k40000_in, v0_2, 0.0)
        acc0 = acc0 + v0_1
        acc1 = acc1 + v0_3
    s0 = folds.total(acc0, 0, False)
    s1 = s0 / 40000.0
    s2 = folds.total(acc1, 0, False)
    s3 = s2 / 40000.0
    for start in range(0, 40000, 8192):
        k40000 = start + tl.arange(0, 8192)
        k40000_in = k40000 < 40000
        v0 = tl.load(in0 + (k40000 + r * 40000), mask=k40000_in, other=0)
        v1 = v0 - s1
        v2 = s1 * s1
        v3 = s3 - v2
        v4 = tl.where(v3 < 0, 0.0, v3)
        v5 = v4 + 9.999999747378752e-06
        v6 = tl.sqrt(v5)
        v7 = v1 / v6
        tl.store(out + (k40000 + r * 40000), v7, mask=k40000_in)
