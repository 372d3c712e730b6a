# t2 = mat_mul(x, c1)  # f32[2,19,34]
# t4 = add(t2, bias)  # f32[2,19,34]
# t6 = div(t4, 1.4142135381698608)  # f32[2,19,34]
# t7 = erf(t6)  # f32[2,19,34]
# t9 = add(t7, 1.0)  # f32[2,19,34]
# t10 = mul(t4, t9)  # f32[2,19,34]
# t12 = mul(t10, 0.5)  # f32[2,19,34]
# t14 = mul(t12, scale)  # f32[2,19,34]
# t16 = add(t14, residual)  # f32[2,19,34]


def product(in0, in2, in6, in7, out, w1):
    block = tl.program_id(0)
    m = (block % 3) * 16 + tl.arange(0, 16)[:, None]
    n = (block // 3) * 32 + tl.arange(0, 32)[None, :]
    rows = m < 38
    columns = n < 34
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
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="tf32")
    y0 = tl.load(in2 + (n), mask=columns, other=0)
    y1 = total + y0
    y2 = y1 / 1.4142135381698608
    y3 = tl.erf(y2)
    y4 = y3 + 1.0
    y5 = y1 * y4
    y6 = y5 * 0.5
    y7 = tl.load(in6 + (((m) % 19)), mask=rows, other=0)
    y8 = y6 * y7
    y9 = tl.load(in7 + (n + m * 34), mask=columns & rows, other=0)
    y10 = y8 + y9
    tl.store(out + (n + m * 34), y10, mask=rows & columns)
