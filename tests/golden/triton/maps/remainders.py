def part0(in0, in1, out):
    # t2 = mod(x0, x1, fmod=0)  # i32[99]
    # t3 = div(x0, x1)  # i32[99]
    # t4 = add(t2, t3)  # i32[99]
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    i_in = i < 99
    v0 = tl.load(in0 + (i), mask=i_in, other=0)
    v1 = tl.load(in1 + (i), mask=i_in, other=0)
    v2 = tl.where(((tl.where(v1 == 0, 0, v0 % tl.where(v1 == 0, 1, v1))) != 0) & (((tl.where(v1 == 0, 0, v0 % tl.where(v1 == 0, 1, v1))) < 0) != (v1 < 0)), (tl.where(v1 == 0, 0, v0 % tl.where(v1 == 0, 1, v1))) + v1, tl.where(v1 == 0, 0, v0 % tl.where(v1 == 0, 1, v1)))
    v3 = tl.where(v1 == 0, 0, v0 // tl.where(v1 == 0, 1, v1))
    v4 = v2 + v3
    tl.store(out + (i), v4, mask=i_in)
