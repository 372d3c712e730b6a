def part0(in0, in1, in2, in3, out):
    # t4 = take(x0, ids, axis=0, batch=0)  # f32[2,50,64]
    # t5 = take(x1, places, axis=0, batch=0)  # f32[50,64]
    # t6 = add(t4, t5)  # f32[2,50,64]
    # t7 = reduce_mean(t6, axes=(2,), keepdims=1)  # f32[2,50,1]
    # t8 = sub(t6, t7)  # f32[2,50,64]
    # t9 = mul(t8, t8)  # f32[2,50,64]
    # t10 = reduce_mean(t9, axes=(2,), keepdims=1)  # f32[2,50,1]
    # t12 = add(t10, 9.999999747378752e-06)  # f32[2,50,1]
    # t13 = sqrt(t12)  # f32[2,50,1]
    # t14 = div(t8, t13)  # f32[2,50,64]
    # t15 = relu(t14)  # f32[2,50,64]
    r = tl.program_id(0) * 8 + tl.arange(0, 8)[:, None]
    r_in = r < 100
    k64 = tl.arange(0, 64)[None, :]
    v0 = tl.load(in1 + (r), mask=r_in, other=0)
    v1 = tl.where(v0 < 0, v0 + 1000, v0)
    v2 = tl.cast(tl.minimum(tl.maximum(v1, 0), 999), tl.int32)
    v3 = tl.load(in0 + (k64 + v2 * 64), mask=r_in, other=0)
    v4 = tl.load(in3 + (((r) % 50)), mask=r_in, other=0)
    v5 = tl.where(v4 < 0, v4 + 60, v4)
    v6 = tl.cast(tl.minimum(tl.maximum(v5, 0), 59), tl.int32)
    v7 = tl.load(in2 + (k64 + v6 * 64), mask=r_in, other=0)
    v8 = v3 + v7
    v9 = folds.total(v8, 1, True)
    v10 = v9 / 64.0
    v11 = v8 - v10
    v12 = v11 * v11
    v13 = folds.total(v12, 1, True)
    v14 = v13 / 64.0
    v15 = v14 + 9.999999747378752e-06
    v16 = tl.sqrt(v15)
    v17 = v11 / v16
    v18 = tl.where(v17 < 0, 0.0, v17)
    tl.store(out + (k64 + r * 64), v18, mask=r_in)
