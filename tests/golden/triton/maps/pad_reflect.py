def part0(in0, out, table0, table1):
    # t1 = pad(x0, mode='reflect', pads=(0, 0, 1, 2, 0, 0, 3, 4), value=1.5)  # f32[1,8,17,19]
    # t2 = exp(t1)  # f32[1,8,17,19]
    ib = tl.arange(0, 32)[None, :]
    ib_in = ib < 19
    r = tl.program_id(0) * 16 + tl.arange(0, 16)[:, None]
    r_in = r < 136
    v0 = tl.load(in0 + (tl.load(table0 + (ib), mask=ib_in) + tl.load(table1 + (((r) % 17)), mask=r_in) * 13 + ((r) // 17) * 169), mask=ib_in & r_in, other=0)
    v1 = tl.exp(v0)
    tl.store(out + (ib + r * 19), v1, mask=ib_in & r_in)
