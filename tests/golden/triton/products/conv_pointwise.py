# t2 = conv(x, c1, channels_last=1, dilations=(1, 1), group=1, pads=(0, 0, 0, 0), strides=(1, 1))  # f32[2,5,6,40]
# t4 = add(t2, bias)  # f32[2,5,6,40]
# t6 = add(t4, residual)  # f32[2,5,6,40]
# t7 = relu(t6)  # f32[2,5,6,40]


def product(in0, in2, in3, out, w1):
    block = tl.program_id(0)
    m = (block % 4) * 16 + tl.arange(0, 16)[:, None]
    n = (block // 4) * 32 + tl.arange(0, 32)[None, :]
    rows = m < 60
    columns = n < 40
    i0 = m * 20
    i1 = n * 20
    total = tl.zeros((16, 32), tl.float32)
    for step in range(2):
        ka = step * 16 + tl.arange(0, 16)[None, :]
        kb = step * 16 + tl.arange(0, 16)[:, None]
        steps_a = ka < 20
        steps_b = kb < 20
        a0 = tl.load(in0 + (i0 + ka), mask=rows & steps_a, other=0)
        b0 = tl.load(w1 + (i1 + kb), mask=columns & steps_b, other=0)
        total = tl.dot(tl.broadcast_to(a0, (16, 16)), tl.broadcast_to(b0, (16, 32)), total, input_precision="tf32")
    y0 = tl.load(in2 + (n), mask=columns, other=0)
    y1 = total + y0
    y2 = tl.load(in3 + (n + m * 40), mask=columns & rows, other=0)
    y3 = y1 + y2
    y4 = tl.where(y3 < 0, 0.0, y3)
    tl.store(out + (n + m * 40), y4, mask=rows & columns)
