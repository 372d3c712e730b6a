# t1 = exp(x)  # f32[19,13]
# t3 = concat(t1, z, axis=1)  # f32[19,21]
# t5 = add(t3, bias)  # f32[19,21]
# t7 = relu(w)  # f32[17,9]
# t8 = pad(t7, mode='constant', pads=(1, 0, 3, 2), value=2.0)  # f32[21,11]
# t9 = gather(t8, axis=1, indices=(3, 0, 0, 7, 9, 10, 2))  # f32[21,7]
# t10 = mat_mul(t5, t9)  # f32[19,7]


def product(in0, in1, in2, in3, out, table0):
    block = tl.program_id(0)
    m = block * 16 + tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 19
    columns = n < 7
    i0 = m * 13
    i1 = m * 8
    i2 = tl.minimum(tl.maximum(n, 0), 6)
    i3 = tl.load(table0 + (i2), mask=columns)
    i4 = (i3)
    total = tl.zeros((16, 32), tl.float32)
    for step in range(2):
        ka = step * 16 + tl.arange(0, 16)[None, :]
        kb = step * 16 + tl.arange(0, 16)[:, None]
        steps_a = ka < 21
        steps_b = kb < 21
        a0 = tl.load(in0 + (i0 + (ka)), mask=rows & steps_a & (ka < 13), other=0)
        a1 = tl.exp(a0)
        a2 = tl.load(in1 + (i1 + (ka - 13)), mask=rows & steps_a & (ka - 13 >= 0), other=0)
        a3 = tl.where((ka) < 13, a1, a2)
        a4 = tl.load(in2 + (ka), mask=steps_a, other=0)
        a5 = a3 + a4
        a6 = tl.where(steps_a, a5, 0.0)
        b0 = tl.load(in3 + (i4 + (kb - 1) * 9), mask=columns & steps_b & (i3 < 9) & (kb - 1 >= 0) & (kb - 1 < 17), other=0)
        b1 = tl.where(b0 < 0, 0.0, b0)
        b2 = tl.where(((kb - 1) < 0) | ((kb - 1) >= 17) | ((i3) >= 9), 2.0, b1)
        b3 = tl.where(steps_b, b2, 0.0)
        total = tl.dot(tl.broadcast_to(a6, (16, 16)), tl.broadcast_to(b3, (16, 32)), total, input_precision="ieee")
    tl.store(out + (n + m * 7), total, mask=rows & columns)
