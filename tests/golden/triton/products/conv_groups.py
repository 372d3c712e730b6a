# t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=3, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,6,7,36]
# t4 = add(t2, bias)  # f32[1,6,7,36]
# t6 = add(t4, residual)  # f32[1,6,7,36]
# t7 = relu(t6)  # f32[1,6,7,36]


def product(in0, in2, in3, out, w1):
    block = tl.program_id(0)
    z = block // 3
    block = block % 3
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 42
    columns = n < 12
    i0 = ((m) // 7) - 1
    i1 = ((m) % 7) - 1
    i2 = z * 16 + m * 48 - 384
    i3 = z * 1728 + n * 144
    ka = tl.arange(0, 16)[None, :]
    kb = tl.arange(0, 16)[:, None]
    total = tl.zeros((16, 32), tl.float32)
    for step in range(9):
        tap = step
        inside = rows & ((i0 + ((tap) // 3)) >= 0) & ((i0 + ((tap) // 3)) < 6) & ((i1 + ((tap) % 3)) >= 0) & ((i1 + ((tap) % 3)) < 7)
        a0 = tl.load(in0 + (i2 + ka + ((tap) % 3) * 48 + ((tap) // 3) * 336), mask=inside, other=0)
        b0 = tl.load(w1 + (i3 + kb + tap * 16), mask=columns, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="tf32")
    y0 = tl.load(in2 + (z * 12 + n), mask=columns, other=0)
    y1 = total + y0
    y2 = tl.load(in3 + (z * 12 + n + m * 36), mask=columns & rows, other=0)
    y3 = y1 + y2
    y4 = tl.where(y3 < 0, 0.0, y3)
    tl.store(out + (z * 12 + n + m * 36), y4, mask=rows & columns)
