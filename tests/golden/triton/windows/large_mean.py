def part0(in0, out, table0, table1):
    # t1 = average_pool(x0, channels_last=0, count_include_pad=0, dilations=(1, 1), kernel_shape=(9, 9), pads=(1, 4, 0, 2), strides=(3, 2))  # f32[2,3,3,8]
    # t3 = add(t1, 0.5)  # f32[2,3,3,8]
    # t4 = relu(t3)  # f32[2,3,3,8]
    r = tl.program_id(0) * 16 + tl.arange(0, 16)[:, None]
    k81 = tl.arange(0, 128)[None, :]
    k81_in = k81 < 81
    v0 = tl.load(in0 + ((((r) % 8) * 2 + ((k81) % 9) - 4) + (((((r) // 8)) % 3) * 3 + ((k81) // 9) - 1) * 17 + ((((r) // 24)) % 3) * 255 + ((r) // 72) * 765), mask=k81_in & (((r) % 8) * 2 + ((k81) % 9) - 4 >= 0) & (((r) % 8) * 2 + ((k81) % 9) - 4 < 17) & (((((r) // 8)) % 3) * 3 + ((k81) // 9) - 1 >= 0), other=0)
    v1 = tl.where(k81_in, v0, 0.0)
    v2 = folds.total(v1, 1, True)
    v3 = v2 / (tl.load(table0 + (((((r) // 8)) % 3))) * tl.load(table1 + (((r) % 8))))
    v4 = v3 + 0.5
    v5 = tl.where(v4 < 0, 0.0, v4)
    tl.store(out + (r), v5)
