# t2 = mat_mul(p, v)  # f32[2,3,11,8]
# t3 = transpose(t2, perm=(0, 2, 1, 3))  # f32[2,11,3,8]
# t4 = reshape(t3, shape=(2, 11, 24))  # f32[2,11,24]


def product(in0, in1, out):
    block = tl.program_id(0)
    z = block // 1
    block = block % 1
    m = tl.arange(0, 16)[:, None]
    n = tl.arange(0, 32)[None, :]
    rows = m < 11
    columns = n < 8
    i0 = m * 11 + z * 121
    i1 = n + z * 88
    total = tl.zeros((16, 32), tl.float32)
    for step in range(1):
        ka = step * 16 + tl.arange(0, 16)[None, :]
        kb = step * 16 + tl.arange(0, 16)[:, None]
        steps_a = ka < 11
        steps_b = kb < 11
        a0 = tl.load(in0 + (i0 + ka), mask=rows & steps_a, other=0)
        b0 = tl.load(in1 + (i1 + kb * 8), mask=columns & steps_b, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="ieee")
    tl.store(out + (n + ((z) % 3) * 8 + m * 24 + ((z) // 3) * 264), total, mask=rows & columns)
