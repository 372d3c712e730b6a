def part0(in0, in2, out):
    # t3 = mul(x0, 2.0)  # f32[3,4,9,5]
    # t4 = take(t3, indices, axis=2, batch=2)  # f32[3,4,6,5]
    # t5 = relu(t4)  # f32[3,4,6,5]
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    i_in = i < 360
    v0 = tl.load(in2 + (((((i) // 5)) % 6) + ((((i) // 30)) % 4) * 6 + ((i) // 120) * 24), mask=i_in, other=0)
    v1 = tl.where(v0 < 0, v0 + 9, v0)
    v2 = tl.cast(tl.minimum(tl.maximum(v1, 0), 8), tl.int32)
    v3 = tl.load(in0 + (((i) % 5) + v2 * 5 + ((((i) // 30)) % 4) * 45 + ((i) // 120) * 180), mask=i_in, other=0)
    v4 = v3 * 2.0
    v5 = tl.where(v4 < 0, 0.0, v4)
    tl.store(out + (i), v5, mask=i_in)
