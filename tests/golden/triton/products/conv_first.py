# t2 = conv(x, c1, channels_last=0, dilations=(1, 1), group=1, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[2,20,7,9]
# t4 = add(t2, bias)  # f32[2,20,7,9]
# t6 = add(t4, residual)  # f32[2,20,7,9]
# t7 = relu(t6)  # f32[2,20,7,9]


def product(in0, in2, in3, out, w1):
    block = tl.program_id(0)
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 126
    columns = n < 20
    i0 = ((m) % 63)
    i1 = ((i0) // 9) - 1
    i2 = ((i0) % 9) - 1
    i3 = ((m) % 63) + ((m) // 63) * 1008 - 10
    i4 = n * 144
    ka = tl.arange(0, 16)[None, :]
    kb = tl.arange(0, 16)[:, None]
    total = tl.zeros((16, 32), tl.float32)
    for step in range(9):
        tap = step
        inside = rows & ((i1 + ((tap) // 3)) >= 0) & ((i1 + ((tap) // 3)) < 7) & ((i2 + ((tap) % 3)) >= 0) & ((i2 + ((tap) % 3)) < 9)
        a0 = tl.load(in0 + (i3 + ((tap) % 3) + ((tap) // 3) * 9 + ka * 63), mask=inside, other=0)
        b0 = tl.load(w1 + (i4 + kb + tap * 16), mask=columns, other=0)
        total = tl.dot(tl.cast(tl.broadcast_to(a0, (16, 16)), tl.float16), tl.cast(tl.broadcast_to(b0, (16, 32)), tl.float16), total)
    y0 = tl.load(in2 + (n), mask=columns, other=0)
    y1 = total + y0
    y2 = tl.load(in3 + (((m) % 63) + n * 63 + ((m) // 63) * 1260), mask=columns & rows, other=0)
    y3 = y1 + y2
    y4 = tl.where(y3 < 0, 0.0, y3)
    tl.store(out + (((m) % 63) + n * 63 + ((m) // 63) * 1260), y4, mask=rows & columns)
