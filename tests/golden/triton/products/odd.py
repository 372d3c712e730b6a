# t2 = mat_mul(x, w)  # f32[17,5]


def product(in0, in1, out):
    block = tl.program_id(0)
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 17
    columns = n < 5
    i0 = m * 33
    total = tl.zeros((16, 32), tl.float32)
    for step in range(3):
        ka = step * 16 + tl.arange(0, 16)[None, :]
        kb = step * 16 + tl.arange(0, 16)[:, None]
        steps_a = ka < 33
        steps_b = kb < 33
        a0 = tl.load(in0 + (i0 + ka), mask=rows & steps_a, other=0)
        b0 = tl.load(in1 + (n + kb * 5), mask=columns & steps_b, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="ieee")
    tl.store(out + (n + m * 5), total, mask=rows & columns)
