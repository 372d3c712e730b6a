# t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(1, 1, 1, 1), strides=(1, 1))  # f32[2,9,8,24]
# t3 = transpose(t2, perm=(0, 3, 1, 2))  # f32[2,24,9,8]
# t4 = reshape(t3, shape=(2, 24, 72))  # f32[2,24,72]
# t5 = tanh(t4)  # f32[2,24,72]


def product(in0, out, w1):
    block = tl.program_id(0)
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    columns = n < 24
    i0 = ((m) % 72)
    i1 = ((i0) // 8) - 1
    i2 = ((i0) % 8) - 1
    i3 = m * 16 - 144
    i4 = n * 144
    ka = tl.arange(0, 16)[None, :]
    kb = tl.arange(0, 16)[:, None]
    total = tl.zeros((16, 32), tl.float32)
    for step in range(9):
        tap = step
        inside = ((i1 + ((tap) // 3)) >= 0) & ((i1 + ((tap) // 3)) < 9) & ((i2 + ((tap) % 3)) >= 0) & ((i2 + ((tap) % 3)) < 8)
        a0 = tl.load(in0 + (i3 + ka + ((tap) % 3) * 16 + ((tap) // 3) * 128), mask=inside, other=0)
        b0 = tl.load(w1 + (i4 + kb + tap * 16), mask=columns, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="tf32")
    y0 = libdevice.tanh(total)
    tl.store(out + (((m) % 72) + n * 72 + ((m) // 72) * 1728), y0, mask=columns)
