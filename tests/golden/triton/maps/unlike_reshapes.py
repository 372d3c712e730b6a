def part0(in0, in1, in2, out):
    # t2 = add(x0, a)  # f32[6,4]
    # t3 = reshape(t2, shape=(8, 3))  # f32[8,3]
    # t5 = mul(t3, b)  # f32[8,3]
    # t6 = transpose(t5, perm=(1, 0))  # f32[3,8]
    i = tl.arange(0, 32)
    i_in = i < 24
    v0 = tl.load(in0 + (((i) // 8) + ((i) % 8) * 3), mask=i_in, other=0)
    v1 = tl.load(in1 + (((((i) // 8) + ((i) % 8) * 3) % 4)), mask=i_in, other=0)
    v2 = v0 + v1
    v3 = tl.load(in2 + (((i) // 8)), mask=i_in, other=0)
    v4 = v2 * v3
    tl.store(out + (i), v4, mask=i_in)
