# t2 = conv(x, c1, channels_last=1, dilations=(1,), group=1, pads=(4, 0), strides=(1,))  # f32[2,30,20]


def product(in0, out, w1):
    block = tl.program_id(0)
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 60
    columns = n < 20
    i0 = ((m) % 30) - 4
    i1 = m * 16 - 64
    i2 = n * 80
    ka = tl.arange(0, 16)[None, :]
    kb = tl.arange(0, 16)[:, None]
    total = tl.zeros((16, 32), tl.float32)
    for step in range(5):
        tap = step
        inside = rows & ((i0 + tap) >= 0)
        a0 = tl.load(in0 + (i1 + ka + tap * 16), mask=inside, other=0)
        b0 = tl.load(w1 + (i2 + kb + tap * 16), mask=columns, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="tf32")
    tl.store(out + (n + m * 20), total, mask=rows & columns)
