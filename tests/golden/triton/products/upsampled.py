# t1 = interpolate(x, axis=0, indices=(0, 1, 1, 2, 3, 4, 7, 8, 10, 11), taps=2, weights=<10 values>)  # f32[5,20]
# t3 = mat_mul(t1, c2)  # f32[5,24]


def product(in0, out, w1, table0, table1):
    block = tl.program_id(0)
    m = tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 5
    columns = n < 24
    i0 = m * 2
    i1 = tl.minimum(tl.maximum(i0, 0), 9)
    i2 = tl.load(table0 + (i1), mask=rows) * 20
    i3 = m * 2 + 1
    i4 = tl.minimum(tl.maximum(i3, 0), 9)
    i5 = tl.load(table0 + (i4), mask=rows) * 20
    i6 = n * 20
    total = tl.zeros((16, 32), tl.float32)
    for step in range(2):
        ka = step * 16 + tl.arange(0, 16)[None, :]
        kb = step * 16 + tl.arange(0, 16)[:, None]
        steps_a = ka < 20
        steps_b = kb < 20
        a0 = tl.load(in0 + (i2 + ka), mask=rows & steps_a, other=0)
        a1 = a0 * tl.load(table1 + (i1), mask=rows)
        a2 = tl.load(in0 + (i5 + ka), mask=rows & steps_a, other=0)
        a3 = a1 + a2 * tl.load(table1 + (i4), mask=rows)
        a4 = tl.where(steps_a, a3, 0.0)
        b0 = tl.load(w1 + (i6 + kb), mask=columns & steps_b, other=0)
        total = tl.dot(tl.broadcast_to(a4, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="tf32")
    tl.store(out + (n + m * 24), total, mask=rows & columns)
