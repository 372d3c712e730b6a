# t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(3, 3, 3, 3), strides=(2, 2))  # f32[1,9,8,18]


def product(in0, out, w1):
    block = tl.program_id(0)
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 72
    columns = n < 18
    i0 = ((m) // 8) * 2 - 3
    i1 = ((m) % 8) * 2 - 3
    i2 = ((m) % 8) * 6 + ((m) // 8) * 96 - 153
    total = tl.zeros((16, 32), tl.float32)
    for step in range(10):
        ka = step * 16 + tl.arange(0, 16)[None, :]
        kb = step * 16 + tl.arange(0, 16)[:, None]
        steps_a = ka < 147
        steps_b = kb < 147
        inside = rows & steps_a & ((i0 + ((ka) // 21)) >= 0) & ((i0 + ((ka) // 21)) < 17) & ((i1 + ((((ka) // 3)) % 7)) >= 0) & ((i1 + ((((ka) // 3)) % 7)) < 16)
        a0 = tl.load(in0 + (i2 + ((ka) % 21) + ((ka) // 21) * 48), mask=inside, other=0)
        b0 = tl.load(w1 + (n + kb * 18), mask=columns & steps_b, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="bf16x3")
    tl.store(out + (n + m * 18), total, mask=rows & columns)
