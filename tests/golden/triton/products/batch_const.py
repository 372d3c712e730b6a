# t2 = mat_mul(x, c1)  # f32[4,18,20]


def product(in0, out, w1):
    block = tl.program_id(0)
    z = block // 2
    block = block % 2
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 18
    columns = n < 20
    i0 = m * 16 + z * 288
    i1 = n * 16 + z * 320
    total = tl.zeros((16, 32), tl.float32)
    for step in range(1):
        ka = step * 16 + tl.arange(0, 16)[None, :]
        kb = step * 16 + tl.arange(0, 16)[:, None]
        a0 = tl.load(in0 + (i0 + ka), mask=rows, other=0)
        b0 = tl.load(w1 + (i1 + kb), mask=columns, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="tf32x3")
    tl.store(out + (n + m * 20 + z * 360), total, mask=rows & columns)
