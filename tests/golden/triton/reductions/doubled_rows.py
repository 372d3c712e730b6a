def part0(in0, out):
    # t1 = reduce_mean(x0, axes=(1,), keepdims=1)  # f32[20,1]
    # t2 = sub(x0, t1)  # f32[20,30]
    # t3 = mul(t2, t2)  # f32[20,30]
    # t4 = reduce_mean(t3, axes=(1,), keepdims=1)  # f32[20,1]
    # t6 = add(t4, 9.999999747378752e-06)  # f32[20,1]
    # t7 = sqrt(t6)  # f32[20,1]
    # t8 = div(t2, t7)  # f32[20,30]
    # t9 = relu(t8)  # f32[20,30]
    # t10 = gather(t9, axis=0, indices=<40 values>)  # f32[40,30]
    r = tl.program_id(0) * 2 + tl.arange(0, 2)[:, None]
    k30 = tl.arange(0, 32)[None, :]
    k30_in = k30 < 30
    k60 = tl.arange(0, 64)[None, :]
    k60_in = k60 < 60
    v0 = tl.load(in0 + (k30 + r * 30), mask=k30_in, other=0)
    v1 = tl.where(k30_in, v0, 0.0)
    v2 = folds.total(v1, 1, True)
    v3 = v2 / 30.0
    v4 = v0 - v3
    v5 = v4 * v4
    v6 = tl.where(k30_in, v5, 0.0)
    v7 = folds.total(v6, 1, True)
    v8 = v7 / 30.0
    v9 = tl.load(in0 + (((k60) % 30) + r * 30), mask=k60_in, other=0)
    v10 = v9 - v3
    v11 = v8 + 9.999999747378752e-06
    v12 = tl.sqrt(v11)
    v13 = v10 / v12
    v14 = tl.where(v13 < 0, 0.0, v13)
    tl.store(out + (k60 + r * 60), v14, mask=k60_in)
