def part0(in0, out):
    # t2 = less(x0, 0.0)  # b8[7,33]
    # t4 = mul(x0, 2.0)  # f32[7,33]
    # t5 = where(t2, x0, t4)  # f32[7,33]
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    i_in = i < 231
    v0 = tl.load(in0 + (i), mask=i_in, other=0)
    v1 = v0 < 0.0
    v2 = v0 * 2.0
    v3 = tl.where(v1, v0, v2)
    tl.store(out + (i), v3, mask=i_in)
