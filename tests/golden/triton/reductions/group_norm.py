def part0(in0, in2, out):
    # t1 = reshape(x0, shape=(2, 2, 105))  # f32[2,2,105]
    # t2 = reduce_mean(t1, axes=(2,), keepdims=1)  # f32[2,2,1]
    # t3 = sub(t1, t2)  # f32[2,2,105]
    # t4 = mul(t3, t3)  # f32[2,2,105]
    # t5 = reduce_mean(t4, axes=(2,), keepdims=1)  # f32[2,2,1]
    # t7 = add(t5, 9.999999747378752e-06)  # f32[2,2,1]
    # t8 = sqrt(t7)  # f32[2,2,1]
    # t9 = div(t3, t8)  # f32[2,2,105]
    # t10 = relu(t9)  # f32[2,2,105]
    # t11 = reshape(t10, shape=(2, 6, 5, 7))  # f32[2,6,5,7]
    # t13 = mul(t11, scale)  # f32[2,6,5,7]
    r = tl.program_id(0)
    k105 = tl.arange(0, 128)
    k105_in = k105 < 105
    v0 = tl.load(in0 + (k105 + r * 105), mask=k105_in, other=0)
    v1 = tl.where(k105_in, v0, 0.0)
    v2 = folds.total(v1, 0, False)
    v3 = v2 / 105.0
    v4 = v0 - v3
    v5 = v4 * v4
    v6 = tl.where(k105_in, v5, 0.0)
    v7 = folds.total(v6, 0, False)
    v8 = v7 / 105.0
    v9 = v8 + 9.999999747378752e-06
    v10 = tl.sqrt(v9)
    v11 = v4 / v10
    v12 = tl.where(v11 < 0, 0.0, v11)
    v13 = tl.load(in2 + (((r) % 2) * 3 + ((k105) // 35)), mask=k105_in, other=0)
    v14 = v12 * v13
    tl.store(out + (k105 + r * 105), v14, mask=k105_in)
