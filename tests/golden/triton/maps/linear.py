def part0(in0, out, table0, table1):
    # t1 = interpolate(x0, axis=2, indices=<104 values>, taps=2, weights=<104 values>)  # f32[1,8,52,13]
    # t3 = add(t1, 1.0)  # f32[1,8,52,13]
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    i_in = i < 5408
    v0 = tl.load(in0 + (((i) % 13) + tl.load(table0 + (((((i) // 13)) % 52) * 2), mask=i_in) * 13 + ((i) // 676) * 169), mask=i_in, other=0)
    v1 = v0 * tl.load(table1 + (((((i) // 13)) % 52) * 2), mask=i_in)
    v2 = tl.load(in0 + (((i) % 13) + tl.load(table0 + (((((i) // 13)) % 52) * 2 + 1), mask=i_in) * 13 + ((i) // 676) * 169), mask=i_in, other=0)
    v3 = v1 + v2 * tl.load(table1 + (((((i) // 13)) % 52) * 2 + 1), mask=i_in)
    v4 = v3 + 1.0
    tl.store(out + (i), v4, mask=i_in)
