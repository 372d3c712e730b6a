def part0(in0, in1, out):
    # t2 = concat(x0, x1, axis=2)  # f32[1,169,29]
    # t3 = relu(t2)  # f32[1,169,29]
    ib = tl.arange(0, 32)[None, :]
    ib_in = ib < 29
    r = tl.program_id(0) * 32 + tl.arange(0, 32)[:, None]
    r_in = r < 169
    v0 = tl.load(in0 + ((ib) + r * 24), mask=ib_in & r_in & (ib < 24), other=0)
    v1 = tl.load(in1 + ((ib - 24) + r * 5), mask=ib_in & r_in & (ib - 24 >= 0), other=0)
    v2 = tl.where((ib) < 24, v0, v1)
    v3 = tl.where(v2 < 0, 0.0, v2)
    tl.store(out + (ib + r * 29), v3, mask=ib_in & r_in)
