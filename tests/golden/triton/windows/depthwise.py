def part0(in0, in2, in3, out, packed0):
    # t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=32, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,20,21,32]
    # t4 = add(t2, bias)  # f32[1,20,21,32]
    # t6 = add(t4, residual)  # f32[1,20,21,32]
    # t7 = tanh(t6)  # f32[1,20,21,32]
    # t9 = mul(t7, 0.5)  # f32[1,20,21,32]
    ib = tl.arange(0, 32)[None, :]
    r = tl.program_id(0) * 32 + tl.arange(0, 32)[:, None]
    r_in = r < 420
    v0 = tl.load(in0 + (ib + (((r) % 21) - 1) * 32 + (((r) // 21) - 1) * 672), mask=r_in & (((r) % 21) - 1 >= 0) & (((r) // 21) - 1 >= 0), other=0)
    v1 = tl.load(packed0 + (ib))
    v2 = v0 * v1
    v3 = tl.load(in0 + (ib + ((r) % 21) * 32 + (((r) // 21) - 1) * 672), mask=r_in & (((r) // 21) - 1 >= 0), other=0)
    v4 = tl.load(packed0 + (ib + 32))
    v5 = v2 + v3 * v4
    v6 = tl.load(in0 + (ib + (((r) % 21) + 1) * 32 + (((r) // 21) - 1) * 672), mask=r_in & (((r) % 21) + 1 < 21) & (((r) // 21) - 1 >= 0), other=0)
    v7 = tl.load(packed0 + (ib + 64))
    v8 = v5 + v6 * v7
    v9 = tl.load(in0 + (ib + (((r) % 21) - 1) * 32 + ((r) // 21) * 672), mask=r_in & (((r) % 21) - 1 >= 0), other=0)
    v10 = tl.load(packed0 + (ib + 96))
    v11 = v8 + v9 * v10
    v12 = tl.load(in0 + (ib + r * 32), mask=r_in, other=0)
    v13 = tl.load(packed0 + (ib + 128))
    v14 = v11 + v12 * v13
    v15 = tl.load(in0 + (ib + (((r) % 21) + 1) * 32 + ((r) // 21) * 672), mask=r_in & (((r) % 21) + 1 < 21), other=0)
    v16 = tl.load(packed0 + (ib + 160))
    v17 = v14 + v15 * v16
    v18 = tl.load(in0 + (ib + (((r) % 21) - 1) * 32 + (((r) // 21) + 1) * 672), mask=r_in & (((r) % 21) - 1 >= 0) & (((r) // 21) + 1 < 20), other=0)
    v19 = tl.load(packed0 + (ib + 192))
    v20 = v17 + v18 * v19
    v21 = tl.load(in0 + (ib + ((r) % 21) * 32 + (((r) // 21) + 1) * 672), mask=r_in & (((r) // 21) + 1 < 20), other=0)
    v22 = tl.load(packed0 + (ib + 224))
    v23 = v20 + v21 * v22
    v24 = tl.load(in0 + (ib + (((r) % 21) + 1) * 32 + (((r) // 21) + 1) * 672), mask=r_in & (((r) % 21) + 1 < 21) & (((r) // 21) + 1 < 20), other=0)
    v25 = tl.load(packed0 + (ib + 256))
    v26 = v23 + v24 * v25
    v27 = tl.load(in2 + (ib))
    v28 = v26 + v27
    v29 = tl.load(in3 + (ib + r * 32), mask=r_in, other=0)
    v30 = v28 + v29
    v31 = libdevice.tanh(v30)
    v32 = v31 * 0.5
    tl.store(out + (ib + r * 32), v32, mask=r_in)
