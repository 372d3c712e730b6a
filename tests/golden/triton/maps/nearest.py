def part0(in0, out):
    # t1 = gather(x0, axis=2, indices=<26 values>)  # f32[1,8,26,13]
    # t2 = gather(t1, axis=3, indices=<26 values>)  # f32[1,8,26,26]
    # t4 = mul(t2, 2.0)  # f32[1,8,26,26]
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    i_in = i < 5408
    v0 = tl.load(in0 + (((((i) % 26)) // 2) + ((((((i) // 26)) % 26)) // 2) * 13 + ((i) // 676) * 169), mask=i_in, other=0)
    v1 = v0 * 2.0
    tl.store(out + (i), v1, mask=i_in)
