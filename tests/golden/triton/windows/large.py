def part0(in0, out):
    # t1 = max_pool(x0, channels_last=0, dilations=(1, 1), kernel_shape=(13, 13), pads=(6, 6, 6, 6), strides=(1, 1))  # f32[1,4,13,13]
    # t3 = add(t1, 0.5)  # f32[1,4,13,13]
    # t4 = relu(t3)  # f32[1,4,13,13]
    r = tl.program_id(0) * 8 + tl.arange(0, 8)[:, None]
    r_in = r < 676
    k169 = tl.arange(0, 256)[None, :]
    k169_in = k169 < 169
    v0 = tl.load(in0 + ((((r) % 13) + ((k169) % 13) - 6) + (((((r) // 13)) % 13) + ((k169) // 13) - 6) * 13 + ((r) // 169) * 169), mask=k169_in & r_in & (((r) % 13) + ((k169) % 13) - 6 >= 0) & (((r) % 13) + ((k169) % 13) - 6 < 13) & (((((r) // 13)) % 13) + ((k169) // 13) - 6 >= 0) & (((((r) // 13)) % 13) + ((k169) // 13) - 6 < 13), other=0)
    v1 = tl.where(((((((r) // 13)) % 13) + ((k169) // 13) - 6) < 0) | ((((((r) // 13)) % 13) + ((k169) // 13) - 6) >= 13) | ((((r) % 13) + ((k169) % 13) - 6) < 0) | ((((r) % 13) + ((k169) % 13) - 6) >= 13), float("-inf"), v0)
    v2 = tl.where(k169_in, v1, float("-inf"))
    v3 = folds.largest(v2, 1, True)
    v4 = v3 + 0.5
    v5 = tl.where(v4 < 0, 0.0, v4)
    tl.store(out + (r), v5, mask=r_in)
