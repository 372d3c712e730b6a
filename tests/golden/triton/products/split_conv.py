# t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[1,9,8,24]
# t4 = add(t2, bias)  # f32[1,9,8,24]
# t6 = add(t4, residual)  # f32[1,9,8,24]
# t7 = relu(t6)  # f32[1,9,8,24]


def product(in0, w1, workspace):
    block = tl.program_id(0)
    part = block // 5
    block = block % 5
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 72
    columns = n < 24
    i0 = ((m) // 8) - 1
    i1 = ((m) % 8) - 1
    i2 = m * 32 - 288
    i3 = n * 288
    total = tl.zeros((16, 32), tl.float32)
    for turn in range(1):
        step = part * 1 + turn
        tap = step // 2
        ka = step % 2 * 16 + tl.arange(0, 16)[None, :]
        kb = step % 2 * 16 + tl.arange(0, 16)[:, None]
        inside = rows & ((i0 + ((tap) // 3)) >= 0) & ((i0 + ((tap) // 3)) < 9) & ((i1 + ((tap) % 3)) >= 0) & ((i1 + ((tap) % 3)) < 8)
        a0 = tl.load(in0 + (i2 + ka + ((tap) % 3) * 32 + ((tap) // 3) * 256), mask=inside, other=0)
        b0 = tl.load(w1 + (i3 + kb + tap * 32), mask=columns, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="tf32")
    partial = workspace.to(tl.pointer_type(tl.float32))
    tl.store(partial + (((part) * 72 + m) * 24 + n), total, mask=rows & columns)


def join(in2, in3, out, workspace):
    block = tl.program_id(0)
    m = block * 4 + tl.arange(0, 4)[:, None]
    n = tl.arange(0, 128)[None, :]
    columns = n < 24
    partial = workspace.to(tl.pointer_type(tl.float32))
    total = tl.zeros((4, 128), tl.float32)
    for part in tl.static_range(18):
        total += tl.load(partial + (((part) * 72 + m) * 24 + n), mask=columns, other=0)
    y0 = tl.load(in2 + (n), mask=columns, other=0)
    y1 = total + y0
    y2 = tl.load(in3 + (n + m * 24), mask=columns, other=0)
    y3 = y1 + y2
    y4 = tl.where(y3 < 0, 0.0, y3)
    tl.store(out + (n + m * 24), y4, mask=columns)
