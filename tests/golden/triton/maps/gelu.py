def part0(in0, out):
    # t2 = mul(x0, 0.5)  # f32[1,100,64]
    # t4 = mul(x0, 0.7071067690849304)  # f32[1,100,64]
    # t5 = erf(t4)  # f32[1,100,64]
    # t7 = add(t5, 1.0)  # f32[1,100,64]
    # t8 = mul(t2, t7)  # f32[1,100,64]
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    i_in = i < 6400
    v0 = tl.load(in0 + (i), mask=i_in, other=0)
    v1 = v0 * 0.5
    v2 = v0 * 0.7071067690849304
    v3 = tl.erf(v2)
    v4 = v3 + 1.0
    v5 = v1 * v4
    tl.store(out + (i), v5, mask=i_in)
