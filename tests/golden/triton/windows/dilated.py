def part0(in0, out):
    # t1 = max_pool(x0, channels_last=0, dilations=(2, 2), kernel_shape=(3, 3), pads=(2, 2, 2, 2), strides=(1, 2))  # f32[1,5,12,6]
    # t3 = add(t1, 0.5)  # f32[1,5,12,6]
    # t4 = relu(t3)  # f32[1,5,12,6]
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    i_in = i < 360
    v0 = tl.load(in0 + ((((i) % 6) * 2 - 2) + (((((i) // 6)) % 12) - 2) * 11 + ((i) // 72) * 132), mask=i_in & (((i) % 6) * 2 - 2 >= 0) & (((((i) // 6)) % 12) - 2 >= 0), other=0)
    v1 = tl.where(((((((i) // 6)) % 12) - 2) < 0) | ((((i) % 6) * 2 - 2) < 0), float("-inf"), v0)
    v2 = v1
    v3 = tl.load(in0 + (((i) % 6) * 2 + (((((i) // 6)) % 12) - 2) * 11 + ((i) // 72) * 132), mask=i_in & (((((i) // 6)) % 12) - 2 >= 0), other=0)
    v4 = tl.where(((((((i) // 6)) % 12) - 2) < 0), float("-inf"), v3)
    v5 = folds.larger(v2, v4)
    v6 = tl.load(in0 + ((((i) % 6) * 2 + 2) + (((((i) // 6)) % 12) - 2) * 11 + ((i) // 72) * 132), mask=i_in & (((i) % 6) * 2 + 2 < 11) & (((((i) // 6)) % 12) - 2 >= 0), other=0)
    v7 = tl.where(((((((i) // 6)) % 12) - 2) < 0) | ((((i) % 6) * 2 + 2) >= 11), float("-inf"), v6)
    v8 = folds.larger(v5, v7)
    v9 = tl.load(in0 + ((((i) % 6) * 2 - 2) + ((((i) // 6)) % 12) * 11 + ((i) // 72) * 132), mask=i_in & (((i) % 6) * 2 - 2 >= 0), other=0)
    v10 = tl.where(((((i) % 6) * 2 - 2) < 0), float("-inf"), v9)
    v11 = folds.larger(v8, v10)
    v12 = tl.load(in0 + (((i) % 6) * 2 + ((((i) // 6)) % 12) * 11 + ((i) // 72) * 132), mask=i_in, other=0)
    v13 = folds.larger(v11, v12)
    v14 = tl.load(in0 + ((((i) % 6) * 2 + 2) + ((((i) // 6)) % 12) * 11 + ((i) // 72) * 132), mask=i_in & (((i) % 6) * 2 + 2 < 11), other=0)
    v15 = tl.where(((((i) % 6) * 2 + 2) >= 11), float("-inf"), v14)
    v16 = folds.larger(v13, v15)
    v17 = tl.load(in0 + ((((i) % 6) * 2 - 2) + (((((i) // 6)) % 12) + 2) * 11 + ((i) // 72) * 132), mask=i_in & (((i) % 6) * 2 - 2 >= 0) & (((((i) // 6)) % 12) + 2 < 12), other=0)
    v18 = tl.where(((((((i) // 6)) % 12) + 2) >= 12) | ((((i) % 6) * 2 - 2) < 0), float("-inf"), v17)
    v19 = folds.larger(v16, v18)
    v20 = tl.load(in0 + (((i) % 6) * 2 + (((((i) // 6)) % 12) + 2) * 11 + ((i) // 72) * 132), mask=i_in & (((((i) // 6)) % 12) + 2 < 12), other=0)
    v21 = tl.where(((((((i) // 6)) % 12) + 2) >= 12), float("-inf"), v20)
    v22 = folds.larger(v19, v21)
    v23 = tl.load(in0 + ((((i) % 6) * 2 + 2) + (((((i) // 6)) % 12) + 2) * 11 + ((i) // 72) * 132), mask=i_in & (((i) % 6) * 2 + 2 < 11) & (((((i) // 6)) % 12) + 2 < 12), other=0)
    v24 = tl.where(((((((i) // 6)) % 12) + 2) >= 12) | ((((i) % 6) * 2 + 2) >= 11), float("-inf"), v23)
    v25 = folds.larger(v22, v24)
    v26 = v25 + 0.5
    v27 = tl.where(v26 < 0, 0.0, v26)
    tl.store(out + (i), v27, mask=i_in)
