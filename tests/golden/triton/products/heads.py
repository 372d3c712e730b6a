# t2 = mat_mul(x, c1)  # f32[1,21,24]
# t4 = add(t2, bias)  # f32[1,21,24]
# t5 = reshape(t4, shape=(1, 21, 3, 8))  # f32[1,21,3,8]
# t6 = transpose(t5, perm=(0, 2, 3, 1))  # f32[1,3,8,21]
# t7 = relu(t6)  # f32[1,3,8,21]


def product(in0, in2, out, w1):
    block = tl.program_id(0)
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 21
    columns = n < 24
    i0 = m * 40
    i1 = n * 40
    total = tl.zeros((16, 32), tl.float32)
    for step in range(3):
        ka = step * 16 + tl.arange(0, 16)[None, :]
        kb = step * 16 + tl.arange(0, 16)[:, None]
        steps_a = ka < 40
        steps_b = kb < 40
        a0 = tl.load(in0 + (i0 + ka), mask=rows & steps_a, other=0)
        b0 = tl.load(w1 + (i1 + kb), mask=columns & steps_b, other=0)
        total = tl.dot(tl.cast(tl.broadcast_to(a0, (16, 16)), tl.bfloat16), tl.cast(tl.broadcast_to(b0, (16, 32)), tl.bfloat16), total)
    y0 = tl.load(in2 + (n), mask=columns, other=0)
    y1 = total + y0
    y2 = tl.where(y1 < 0, 0.0, y1)
    tl.store(out + (m + n * 21), y2, mask=rows & columns)
