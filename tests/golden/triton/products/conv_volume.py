# t2 = conv(x, c1, channels_last=1, dilations=(1, 1, 1), group=1, pads=(1, 1, 0, 0, 1, 1), strides=(1, 1, 1))  # f32[1,4,5,5,8]


def product(in0, out, w1):
    block = tl.program_id(0)
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 100
    columns = n < 8
    i0 = ((m) // 25) - 1
    i1 = ((m) // 5)
    i2 = ((i1) % 5) - 1
    i3 = ((m) % 5)
    i4 = ((m) % 5) * 16 + ((i1) % 5) * 96 + ((m) // 25) * 480 - 576
    ka = tl.arange(0, 16)[None, :]
    kb = tl.arange(0, 16)[:, None]
    total = tl.zeros((16, 32), tl.float32)
    for step in range(18):
        tap = step
        inside = rows & ((i0 + ((tap) // 9)) >= 0) & ((i2 + ((((tap) // 3)) % 3)) >= 0) & ((i2 + ((((tap) // 3)) % 3)) < 5) & ((i3 + ((tap) % 3)) < 6)
        a0 = tl.load(in0 + (i4 + ka + ((tap) % 3) * 16 + ((((tap) // 3)) % 3) * 96 + ((tap) // 9) * 480), mask=inside, other=0)
        b0 = tl.load(w1 + (n + kb * 8 + tap * 128), mask=columns, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="ieee")
    tl.store(out + (n + m * 8), total, mask=rows & columns)
