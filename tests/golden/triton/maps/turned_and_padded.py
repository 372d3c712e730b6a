def part0(in0, out):
    # t1 = transpose(x0, perm=(0, 2, 1))  # f32[2,33,40]
    # t2 = exp(t1)  # f32[2,33,40]
    # t3 = pad(t2, mode='edge', pads=(0, 1, 0, 0, 2, 3), value=0.0)  # f32[2,36,43]
    ib = (tl.program_id(0) % 2) * 32 + tl.arange(0, 32)[None, :]
    ib_in = ib < 43
    iab = tl.arange(0, 64)[:, None]
    iab_in = iab < 36
    iaa = (tl.program_id(0) // 2)
    v0 = tl.load(in0 + (tl.minimum(tl.maximum(iab - 1, 0), 32) + tl.minimum(tl.maximum(ib, 0), 39) * 33 + iaa * 1320), mask=iab_in & ib_in, other=0)
    v1 = tl.exp(v0)
    tl.store(out + (ib + iab * 43 + iaa * 1548), v1, mask=iab_in & ib_in)
