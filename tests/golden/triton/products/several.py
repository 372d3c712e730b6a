# t2 = mat_mul(x, c1)  # f32[130,40]


def product(in0, out, w1):
    block = tl.program_id(0)
    upper = block // 16 * 8
    block = block % 16
    height = tl.minimum(9 - upper, 8)
    m = (upper + block % height) * 16 + tl.arange(0, 16)[:, None]
    n = (block // height) * 32 + tl.arange(0, 32)[None, :]
    rows = m < 130
    columns = n < 40
    i0 = m * 48
    i1 = n * 48
    total = tl.zeros((16, 32), tl.float32)
    for step in range(3):
        ka = step * 16 + tl.arange(0, 16)[None, :]
        kb = step * 16 + tl.arange(0, 16)[:, None]
        a0 = tl.load(in0 + (i0 + ka), mask=rows, other=0)
        b0 = tl.load(w1 + (i1 + kb), mask=columns, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="tf32")
    tl.store(out + (n + m * 40), total, mask=rows & columns)
