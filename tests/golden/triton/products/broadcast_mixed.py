# t2 = mat_mul(x, w)  # f32[2,3,9,10]


def product(in0, in1, out):
    block = tl.program_id(0)
    z = block // 1
    block = block % 1
    m = tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 9
    columns = n < 30
    i0 = m * 8 + z * 72
    i1 = ((n) % 10) + ((n) // 10) * 80 + z * 240
    total = tl.zeros((16, 32), tl.float32)
    for step in range(1):
        ka = step * 16 + tl.arange(0, 16)[None, :]
        kb = step * 16 + tl.arange(0, 16)[:, None]
        steps_a = ka < 8
        steps_b = kb < 8
        a0 = tl.load(in0 + (i0 + ka), mask=rows & steps_a, other=0)
        b0 = tl.load(in1 + (i1 + kb * 10), mask=columns & steps_b, other=0)
        total = tl.dot(tl.cast(tl.broadcast_to(a0, (16, 16)), tl.float16), tl.cast(tl.broadcast_to(b0, (16, 32)), tl.float16), total)
    tl.store(out + (((n) % 10) + m * 10 + ((n) // 10) * 90 + z * 270), total, mask=rows & columns)
