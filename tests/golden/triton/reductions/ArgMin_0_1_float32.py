def part0(in0, out):
    # t1 = arg_min(x0, axis=0, keepdims=0, select_last_index=1)  # i64[9]
    r = tl.program_id(0) * 8 + tl.arange(0, 8)[:, None]
    r_in = r < 9
    k50 = tl.arange(0, 64)[None, :]
    k50_in = k50 < 50
    v0 = tl.load(in0 + (r + k50 * 9), mask=k50_in & r_in, other=0)
    v1 = tl.where(k50_in, v0, float("inf"))
    v2 = folds.smallest(v1, 1, True)
    v3 = tl.where(((v0 == v2) | (v0 != v0)) & k50_in, k50, -1)
    v4 = folds.largest(v3, 1, True)
    v5 = tl.cast(v4, tl.int64)
    tl.store(out + (r), v5, mask=r_in)
