"""Products, convolutions, transforms, attention and recurrent networks, and patterns that rewrites look for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fuzzing.draft import MICROSOFT, Draft
from fuzzing.operators import template
from fuzzing.operators.folds import images, window
from fuzzing.operators.moves import integers


def scaled(d: Draft, shape: Sequence[int], terms: int, dtype: str, constant: bool | None = None) -> str:
    """A factor whose products with values near 1 are near 1."""
    width = 1.7 / math.sqrt(max(terms, 1))
    return d.fresh(dtype, shape, -width, width, d.chance(0.75) if constant is None else constant)


@template("MatMul")
def matmul(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 4))
    shape, dtype = d.arrays[x].shape, d.arrays[x].dtype.name
    known = [
        n
        for n in d.made
        if d.arrays[n].dtype.name == dtype
        and d.arrays[n].ndim >= 2
        and len(shape) >= 2
        and d.arrays[n].shape[-2] == shape[-1]
    ]
    if known and d.chance(0.3):
        d.node(op, [x, d.rng.choice(known)])
        return
    rank = d.rng.choice([1, 2, 2, 2, len(shape)])
    lead = d.narrowed(shape[:-2])[: max(rank - 2, 0)] if rank > 2 else ()
    columns = () if rank == 1 else (d.length(33),)
    d.node(op, [x, scaled(d, (*lead, shape[-1], *columns), shape[-1], dtype)])


@template("FusedMatMul", domain=MICROSOFT)
def fused_matmul(d: Draft, op: str) -> None:
    a, b = d.rng.choice([0, 1]), d.rng.choice([0, 1])
    x = d.some(rank=(2, 4))
    shape = d.arrays[x].shape
    inner, n = shape[-2 if a else -1], d.length(17)
    y = scaled(d, (n, inner) if b else (inner, n), inner, d.arrays[x].dtype.name)
    d.node(op, [x, y], domain=MICROSOFT, transA=a, transB=b, alpha=d.rng.choice([None, 0.5, 2.0]))


@template("Gemm")
@template("FusedGemm", domain=MICROSOFT)
def gemm(d: Draft, op: str) -> None:
    x = d.some(rank=(2, 2))
    a, b = d.rng.choice([0, 1]), d.rng.choice([0, 1])
    (m, k), n = d.arrays[x].shape[:: -1 if a else 1], d.length(33)
    dtype = d.arrays[x].dtype.name
    given = [x, scaled(d, (n, k) if b else (k, n), k, dtype)]
    if d.chance(0.7):
        given.append(d.fresh(dtype, d.rng.choice([(n,), (1, n), (m, 1), (m, n), ()])))
    attrs = {"alpha": d.rng.choice([None, 0.5, 2.0]), "beta": d.rng.choice([None, 0.5])}
    if op == "FusedGemm":
        attrs |= {"activation": d.rng.choice(["Relu", "Sigmoid", "Tanh"])}
    d.node(op, given, domain=MICROSOFT if op == "FusedGemm" else "", transA=a, transB=b, **attrs)


def _groups(d: Draft, channels: int) -> tuple[int, int]:
    """How many groups, and channels of the output."""
    kind = d.rng.choice(["plain", "plain", "plain", "depthwise", "groups"])
    if kind == "plain":
        return 1, d.length(17)
    group = channels if kind == "depthwise" else d.rng.choice([g for g in range(1, channels + 1) if channels % g == 0])
    return group, group * d.rng.choice([1, 1, 2, 3])


@template("Conv")
@template("FusedConv", domain=MICROSOFT)
def convolution(d: Draft, op: str) -> None:
    x = images(d, 3, 5, d.rng.choice([0, 0, 8, 16]))
    channels, spatial, dtype = d.arrays[x].shape[1], d.arrays[x].shape[2:], d.arrays[x].dtype.name
    group, out = _groups(d, channels)
    attrs: dict[str, object] = dict(window(d, spatial))
    kernel = attrs["kernel_shape"]
    assert isinstance(kernel, list)
    if d.chance(0.15):
        del attrs["pads"]
        attrs |= {"auto_pad": d.rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]), "dilations": [1] * len(kernel)}
    terms = channels // group * math.prod(kernel)
    given = [x, scaled(d, (out, channels // group, *kernel), terms, dtype)]
    if d.chance(0.6):
        given.append(d.fresh(dtype, (out,), constant=d.chance(0.8)))
    if op == "FusedConv":
        attrs["activation"] = d.rng.choice(["Relu", "Sigmoid", "Tanh"])
    d.node(op, given, domain=MICROSOFT if op == "FusedConv" else "", group=group, **attrs)


@template("ConvTranspose")
def transposed_convolution(d: Draft, op: str) -> None:
    x = images(d, 3, 4)
    channels, spatial, dtype = d.arrays[x].shape[1], d.arrays[x].shape[2:], d.arrays[x].dtype.name
    group = d.rng.choice([g for g in range(1, channels + 1) if channels % g == 0]) if d.chance(0.3) else 1
    kernel = [d.rng.choice([1, 2, 3, 4]) for _ in spatial]
    strides = [d.rng.choice([1, 2, 3]) for _ in spatial]
    attrs: dict[str, object] = {"kernel_shape": kernel, "strides": strides}
    if d.chance(0.6):
        attrs["pads"] = [d.rng.randint(0, k - 1) for _ in range(2) for k in kernel]
    if d.chance(0.3):
        attrs["output_padding"] = [d.rng.randint(0, s - 1) for s in strides]
    out = d.length(5)
    given = [x, scaled(d, (channels, out, *kernel), channels * math.prod(kernel), dtype)]
    if d.chance(0.5):
        given.append(d.fresh(dtype, (out * group,)))
    d.node(op, given, group=group, **attrs)


EQUATIONS = (
    *("ij,jk->ik", "ij,kj->ik", "bij,bjk->bik", "bhid,bhjd->bhij", "bihd,bjhd->bhij", "i,j->ij", "ii->i", "ij->ji"),
    *("ij->", "ij,ij->i", "bij,jk->bik", "abc,cd,de->abe", "ij,ij->ij", "abcd,be->acde", "...ij,...jk->...ik"),
)


@template("Einsum", since=12)
def einsum(d: Draft, op: str) -> None:
    equation = d.rng.choice(EQUATIONS)
    lengths = {c: d.length(9) for c in "abcdehijk"}
    terms = equation.split("->")[0].split(",")
    lead = (d.length(3),) if "..." in equation else ()
    shapes = [(*(lead if "..." in t else ()), *(lengths[c] for c in t if c.isalpha())) for t in terms]
    first = d.some(fits=lambda y: y.shape == shapes[0], rank=(0, 5), shape=lambda: shapes[0])
    dtype = d.arrays[first].dtype.name
    d.node(op, [first, *(scaled(d, s, s[-1] if s else 1, dtype) for s in shapes[1:])], equation=equation)


@template("DFT", since=17)
def dft(d: Draft, op: str) -> None:
    shape = (d.length(3), d.length(33), d.rng.choice([1, 2]))
    x = d.some(rank=(3, 3), fits=lambda y: y.shape == shape, shape=lambda: shape)
    onesided = d.rng.choice([0, 1]) if shape[2] == 1 else 0
    inverse = d.rng.choice([0, 1]) if shape[2] == 2 else 0
    length = [d.weight(np.int64(d.length(33)))] if d.chance(0.3) else []
    if d.setting.opset >= 20:
        d.node(op, [x, *(length or [""]), d.weight(np.int64(1))], onesided=onesided, inverse=inverse)
    else:
        d.node(op, [x, *length], axis=1, onesided=onesided, inverse=inverse)


@template("STFT", since=17)
def stft(d: Draft, op: str) -> None:
    n, frame, step = d.rng.randint(20, 64), d.rng.choice([4, 7, 8, 16]), d.rng.choice([1, 3, 4, 8])
    x = d.input(d.array(d.setting.dtype, (d.length(3), n, 1)))
    shape = d.weight(np.int64(frame))
    if d.chance(0.6):
        windowed = [d.fresh(d.setting.dtype, (frame,), 0.1, 1.0, True), shape]
    else:
        windowed = ["", shape]
    d.node(op, [x, d.weight(np.int64(step)), *windowed], onesided=d.rng.choice([0, 1]))


@template("Attention", since=23)
def attention(d: Draft, op: str) -> None:
    batch, heads, length, size = d.length(2), d.rng.choice([1, 2, 4]), d.length(9), d.rng.choice([2, 4, 8])
    shared = d.rng.choice([h for h in (1, 2, 4) if heads % h == 0])
    keys = length if d.chance(0.5) else d.length(9)
    folded = d.chance(0.4)

    def of(count: int, rows: int) -> tuple[int, ...]:
        return (batch, rows, count * size) if folded else (batch, count, rows, size)

    q = d.some(rank=(3, 4), fits=lambda y: y.shape == of(heads, length), shape=lambda: of(heads, length))
    dtype = d.arrays[q].dtype.name
    given = [q, d.fresh(dtype, of(shared, keys)), d.fresh(dtype, of(shared, keys))]
    if d.chance(0.3):
        given.append(d.fresh("bool" if d.chance(0.3) else dtype, (length, keys)))
    attrs: dict[str, object] = {"is_causal": d.rng.choice([0, 0, 1])}
    if folded:
        attrs |= {"q_num_heads": heads, "kv_num_heads": shared}
    if d.chance(0.2):
        attrs["softcap"] = 2.0
    if d.chance(0.2):
        attrs["scale"] = 0.5
    d.node(op, given, **attrs)


@template("RotaryEmbedding", since=23)
def rotary_embedding(d: Draft, op: str) -> None:
    batch, heads, length, size = d.length(2), d.rng.choice([1, 2, 4]), d.length(9), d.rng.choice([4, 8])
    shape = (batch, heads, length, size) if d.chance(0.5) else (batch, length, heads * size)
    x = d.some(rank=(3, 4), fits=lambda y: y.shape == shape, shape=lambda: shape)
    dtype, part = d.arrays[x].dtype.name, d.rng.choice([0, 0, 2])
    half = (part or size) // 2
    attrs: dict[str, object] = {"interleaved": d.rng.choice([0, 1])}
    attrs |= {"rotary_embedding_dim": part} if part else {}
    attrs |= {"num_heads": heads} if len(shape) == 3 else {}
    if d.chance(0.5):
        table = [d.fresh(dtype, (16, half), -1, 1) for _ in range(2)]
        d.node(op, [x, *table, d.fresh("int64", (batch, length), 0, 15)], **attrs)
    else:
        d.node(op, [x, *(d.fresh(dtype, (batch, length, half), -1, 1) for _ in range(2))], **attrs)


@template("MatMulNBits", domain=MICROSOFT)
def matmul_nbits(d: Draft, op: str) -> None:
    k, n, block = d.rng.choice([16, 32, 40, 64]), d.length(17), d.rng.choice([16, 32])
    bits = d.rng.choice([4, 4, 8])
    blocks = -(-k // block)
    x = d.some(rank=(2, 3), fits=lambda y: y.shape[-1] == k, shape=lambda: (d.length(9), k))
    dtype = d.arrays[x].dtype.name
    w = d.weight(d.array("uint8", (n, blocks, block * bits // 8), 0, 255))
    scale = d.weight(d.array(dtype, (n, blocks), 0.01, 0.05))
    zero = []
    if d.chance(0.5):
        zero = [d.weight(d.array("uint8", (n, -(-blocks * bits // 8)), 0, 255))]
    d.node(op, [x, w, scale, *zero], domain=MICROSOFT, K=k, N=n, block_size=block, bits=bits)


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@template(*GATES)
def recurrent(d: Draft, op: str) -> None:
    steps, batch, size, hidden = d.length(5), d.length(3), d.length(9), d.rng.choice([1, 2, 3, 4, 8])
    direction = d.rng.choice(["forward", "reverse", "bidirectional"])
    directions, gates = 2 if direction == "bidirectional" else 1, GATES[op]
    shape = (steps, batch, size)
    x = d.some(rank=(3, 3), fits=lambda y: y.shape == shape, shape=lambda: shape)
    dtype = d.arrays[x].dtype.name
    given = [
        x,
        scaled(d, (directions, gates * hidden, size), size, dtype, True),
        scaled(d, (directions, gates * hidden, hidden), hidden, dtype, True),
    ]
    if d.chance(0.7):
        given.append(d.fresh(dtype, (directions, 2 * gates * hidden), constant=True))
        if d.chance(0.5):
            given += ["", d.fresh(dtype, (directions, batch, hidden))]
    attrs = {"linear_before_reset": d.rng.choice([0, 1])} if op == "GRU" else {}
    outputs = d.rng.randint(1, 3 if op == "LSTM" else 2)
    d.nodes_of(op, given, outputs, hidden_size=hidden, direction=direction, **attrs)


@template("siblings:MatMul", "siblings:Conv")
def siblings(d: Draft, op: str) -> None:
    """Several products of one input, added or side by side: queries, keys and values; branches."""
    count = d.rng.randint(2, 3)
    if op.endswith("MatMul"):
        x = d.some(rank=(2, 3))
        k, dtype, n = d.arrays[x].shape[-1], d.arrays[x].dtype.name, d.length(17)
        made = [d.node("MatMul", [x, scaled(d, (k, n), k, dtype, True)]) for _ in range(count)]
        if d.chance(0.5):
            made = [d.node("Add", [y, d.fresh(dtype, (n,), constant=True)]) for y in made]
    else:
        x = images(d, 4, 4, d.rng.choice([8, 16]))
        c, dtype, n = d.arrays[x].shape[1], d.arrays[x].dtype.name, d.rng.choice([8, 16])
        made = []
        for _ in range(count):
            k = d.rng.choice([1, 3])
            pads = [k // 2] * 4
            w = scaled(d, (n, c, k, k), c * k * k, dtype, True)
            bias = [d.fresh(dtype, (n,), constant=True)] * d.chance(0.5)
            made.append(d.node("Conv", [x, w, *bias], kernel_shape=[k, k], pads=pads))
    end = d.rng.choice(["Add", "Mul", "Concat"])
    if end == "Concat":
        d.node("Concat", made, axis=1)
    else:
        d.node(end, made[:2])


@template("chain:Conv")
def chain(d: Draft, op: str) -> None:
    """Convolutions 3x3 or 1x1 with elementwise operators in between, as Winograd's algorithm and strips want them."""
    x = images(d, 4, 4, d.rng.choice([8, 16]))
    for _ in range(d.rng.randint(1, 2)):
        c, dtype, n, k = d.arrays[x].shape[1], d.arrays[x].dtype.name, d.rng.choice([8, 16]), d.rng.choice([1, 3, 3])
        given = [x, scaled(d, (n, c, k, k), c * k * k, dtype, True), d.fresh(dtype, (n,), constant=True)]
        x = d.node("Conv", given, kernel_shape=[k, k], pads=[k // 2] * 4)
        x = d.node(d.rng.choice(["Relu", "Tanh", "Sigmoid"]), [x])


@template("heads:MatMul")
def heads(d: Draft, op: str) -> None:
    """Attention as exporters write it."""
    batch, length, count, size = d.length(2), d.length(13), d.rng.choice([1, 2, 4]), d.rng.choice([4, 8])
    shape = (batch, length, count * size)
    x = d.some(rank=(3, 3), fits=lambda y: y.shape == shape, shape=lambda: shape)
    dtype, width = d.arrays[x].dtype.name, count * size
    parts = list[str]()
    for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        y = d.node("MatMul", [x, scaled(d, (width, width), width, dtype, True)])
        y = d.node("Reshape", [y, integers(d, [batch, length, count, size])])
        parts.append(d.node("Transpose", [y], perm=perm))
    scores = d.node("Mul", [d.node("MatMul", parts[:2]), d.weight(size**-0.5, dtype)])
    y = d.node("MatMul", [d.node("Softmax", [scores], axis=3), parts[2]])
    y = d.node("Transpose", [y], perm=[0, 2, 1, 3])
    d.node("Reshape", [y, integers(d, [batch, length, width])])
