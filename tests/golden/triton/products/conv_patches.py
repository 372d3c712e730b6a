# t2 = concat(x, z, axis=3)  # f32[1,6,7,16]
# t3 = pad(t2, mode='constant', pads=(0, 1, 1, 0, 0, 0, 1, 0), value=0.5)  # f32[1,7,9,16]
# t5 = conv(t3, c4, channels_last=1, dilations=(1, 1), group=1, pads=(1, 0, 0, 1), strides=(1, 1))  # f32[1,7,9,20]


def product(in0, in1, out, w1):
    block = tl.program_id(0)
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 63
    columns = n < 20
    i0 = ((m) // 9) - 1
    i1 = ((m) % 9)
    i2 = ((m) // 9) - 2
    i3 = ((m) % 9) - 1
    i4 = n * 64
    ka = tl.arange(0, 16)[None, :]
    kb = tl.arange(0, 16)[:, None]
    total = tl.zeros((16, 32), tl.float32)
    for step in range(4):
        tap = step
        inside = rows & ((i0 + ((tap) // 2)) >= 0) & ((i1 + ((tap) % 2)) < 9)
        a0 = tl.load(in0 + ((ka) + (i3 + ((tap) % 2)) * 4 + (i2 + ((tap) // 2)) * 28), mask=inside & (ka < 4) & (i3 + ((tap) % 2) >= 0) & (i3 + ((tap) % 2) < 7) & (i2 + ((tap) // 2) >= 0), other=0)
        a1 = tl.load(in1 + ((ka - 4) + (i3 + ((tap) % 2)) * 12 + (i2 + ((tap) // 2)) * 84), mask=inside & (ka - 4 >= 0) & (i3 + ((tap) % 2) >= 0) & (i3 + ((tap) % 2) < 7) & (i2 + ((tap) // 2) >= 0), other=0)
        a2 = tl.where((ka) < 4, a0, a1)
        a3 = tl.where(((i2 + ((tap) // 2)) < 0) | ((i3 + ((tap) % 2)) < 0) | ((i3 + ((tap) % 2)) >= 7), 0.5, a2)
        a4 = tl.where(inside, a3, 0.0)
        b0 = tl.load(w1 + (i4 + kb + tap * 16), mask=columns, other=0)
        total = tl.dot(tl.broadcast_to(a4, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="tf32")
    tl.store(out + (n + m * 20), total, mask=rows & columns)
