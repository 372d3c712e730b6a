# t1 = reshape(x, shape=(18, 3, 2, 20))  # f32[18,3,2,20]
# t2 = transpose(t1, perm=(1, 2, 0, 3))  # f32[3,2,18,20]
# t3 = slice(t2, lengths=(1, 2, 18, 20), starts=(0, 0, 0, 0), steps=(1, 1, 1, 1))  # f32[1,2,18,20]
# t4 = slice(t2, lengths=(1, 2, 18, 20), starts=(1, 0, 0, 0), steps=(1, 1, 1, 1))  # f32[1,2,18,20]
# t5 = transpose(t4, perm=(0, 1, 3, 2))  # f32[1,2,20,18]
# t6 = mat_mul(t3, t5)  # f32[1,2,18,18]
# t8 = mul(t6, 0.25)  # f32[1,2,18,18]
# t11 = where(mask, t8, -10000.0)  # f32[1,2,18,18]


def product(in0, in2, out):
    block = tl.program_id(0)
    z = block // 2
    block = block % 2
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 18
    columns = n < 18
    i0 = z * 20 + m * 120
    i1 = z * 20 + n * 120 + 40
    total = tl.zeros((16, 32), tl.float32)
    for step in range(2):
        ka = step * 16 + tl.arange(0, 16)[None, :]
        kb = step * 16 + tl.arange(0, 16)[:, None]
        steps_a = ka < 20
        steps_b = kb < 20
        a0 = tl.load(in0 + (i0 + ka), mask=rows & steps_a, other=0)
        b0 = tl.load(in0 + (i1 + kb), mask=columns & steps_b, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="tf32")
    y0 = total * 0.25
    y1 = tl.load(in2 + (n + m * 18), mask=columns & rows, other=0)
    y2 = tl.where(y1, y0, -10000.0)
    tl.store(out + (n + m * 18 + z * 324), y2, mask=rows & columns)
