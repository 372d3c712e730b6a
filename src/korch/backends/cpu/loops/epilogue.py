"""What hand-shaped kernels share: the head of the function, and elementwise primitives behind their result."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager

from korch.backends.cpu.c import Code, Statement, Statements, run_function
from korch.backends.cpu.c.tree import Declaration, comments
from korch.backends.cpu.loops.caches import outgrows
from korch.backends.cpu.loops.ctypes import C_TYPES, is_expressible
from korch.backends.cpu.loops.language import C, c_index
from korch.backends.cpu.loops.wide import Wide, after_register, in_vectors
from korch.backends.cpu.loops.writer import LINE
from korch.backends.maps.index import Index, Var, flat, unflat
from korch.backends.maps.trace import Indices, Requests, Trace
from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

BLOCK = 64
"""Channels of a result that wait, in the first-level cache, for what follows them."""


def refusal(first: Primitive, rest: Sequence[Primitive]) -> str:
    """Why the epilogue `rest` of the primitive `first` is not built; empty if it is."""
    if any(p.category is not Category.ELEMENTWISE or p.output.shape != first.output.shape for p in rest):
        return f"more than elementwise primitives behind {first.op}"
    made = {p.output for p in (first, *rest)}
    stored = (*(t for p in (first, *rest) for t in p.inputs if t not in made), first.output, (first, *rest)[-1].output)
    if other := next((t for t in stored if t.dtype != "float32" and t.value is None), None):
        return f"{first.op} beside {other.dtype}"
    return next((f"{p.op} on {p.inputs[0].dtype}" for p in rest if not is_expressible(p)), "")


def begun(cone: Cone, x: Tensor) -> Statements:
    """The first statements of the function that runs the kernel, the leaf `x` as x."""
    text = Statements()
    text.add("(void)state; (void)workspace;")
    for i, t in enumerate(cone.leaves):
        if t.value is None:
            text.add(f"const {C_TYPES[t.dtype]} *restrict in{i} = in[{i}];")
    text.add(f"const {C_TYPES[x.dtype]} *restrict x = in{cone.leaves.index(x)};")
    text.add(f"{C_TYPES[cone.root.dtype]} *restrict out = out_;")
    return text


def code(
    cone: Cone,
    text: Statements,
    threads: int,
    streamed: bool = False,
    declarations: Iterable[Declaration] = (),
    workspace: int = 0,
) -> Code:
    """The code of the cone, which a team of `threads` or one thread runs by the statements `text`; what these need
    stands before."""
    if streamed:
        text.add("korch_streamed();")
    run = run_function(threads > 1, text.body, text.steals, "out_")
    return Code((*comments(cone), *declarations, run), workspace)


@contextmanager
def blocks(text: Statements, name: str, channels: int) -> Generator[int]:
    """The loop over blocks of `channels`, `count` of them from `name` on; how many a block has."""
    block = min(BLOCK, channels)
    with text.block(f"for (int {name} = 0; {name} < {channels}; {name} += {block})"):
        text.add(f"const int count = {f'KORCH_MIN({block}, {channels} - {name})' if channels % block else block};")
        yield block


def simd(text: Statements, body: Iterable[Statement]) -> None:
    """The loop over a block's channels c, as vectors."""
    text.add("#pragma omp simd")
    with text.block("for (int c = 0; c < count; ++c)"):
        text.add(*body)


def store(text: Statements, cone: Cone, p: Primitive, streamed: bool, of: int) -> None:
    """Stores `count` channels, a block `of` so many, of the root at (image, h, w, c0), or (image, w, c0), from the
    result of `p`, the first primitive that computes, in z. Images of volumes are their frames."""
    lead = _lead(p.output.shape)
    at = flat((*lead, Index()), p.output.shape)
    _store(text, cone, p, lead, f"{c_index(at)} + c0", streamed, of)


def store_row(text: Statements, cone: Cone, p: Primitive, streamed: bool, of: int) -> None:
    """The same for a result of any rank, and, a number at a time (`of` 1), of any dtype, at (row, c0): rows are counted
    through all axes but the last."""
    *lead, channels = p.output.shape
    rows = unflat(_axis("row", math.prod(lead)), tuple(lead))
    _store(text, cone, p, rows, f"row * {channels} + c0", streamed, of)


def _store(text: Statements, cone: Cone, p: Primitive, lead: Indices, place: str, streamed: bool, of: int) -> None:
    """Stores the root from `place` on, its indices being `lead` and c0 + c."""
    channels = p.output.shape[-1]
    c = Var("c", 0, channels)
    idx = (*lead, Index.of(Var("c0", 0, channels)) + Index.of(c))
    traced = _tracer(cone, p.output, idx, ("z", Index.of(c)))
    if wide := in_vectors(c, of, traced):
        with text.block(f"for (int c = 0; c < count; c += {wide.lanes})"):
            text.add(*wide.stored(f"out + {place} + c", streamed))
        return
    trace, value = traced(C())
    if streamed:
        text.add(f"float piece[{of}] __attribute__((aligned(64)));")
        simd(text, [*trace.lines, f"piece[c] = {value};"])
        text.add(f"korch_stream(out + {place}, piece, count);")
    else:
        simd(text, [*trace.lines, f"out[{place} + c] = {value};"])


def from_register(cone: Cone, t: Tensor, lanes: int, register: str) -> tuple[Wide, str] | None:
    """A vector of the root's channels, made of the same of `t` in a register, and its address at (image, h, w, c0), or
    (image, w, c0); None where vectors cannot say what lies between."""
    c = Var("c0", 0, t.shape[-1])
    idx = (*_lead(t.shape), Index.of(c))
    wide = after_register(c, lanes, register, _tracer(cone, t, idx, (register, Index())))
    return (wide, f"out + {c_index(flat(idx, t.shape))}") if wide else None


def _tracer(cone: Cone, t: Tensor, idx: Indices, at: tuple[str, Index]) -> Callable[[C], tuple[Trace, str]]:
    """What computes the root at `idx` in a language, with what it reads of `t` in an array at a place."""

    def traced(language: C) -> tuple[Trace, str]:
        arrays = {leaf: f"in{i}" for i, leaf in enumerate(cone.leaves)}
        makers = {q.output: q for q in cone.primitives}
        trace = Trace(makers, arrays, {t: lambda _t, _at: at}, Requests(), language)
        return trace, trace.value(cone.root, idx)

    return traced


def streams(cone: Cone, whole: Sequence[int] = ()) -> bool:
    """Whether the root, a part of a tensor of the `whole` shape or all of it, is worth storing past the caches."""
    return outgrows(whole or cone.root.shape) and cone.root.shape[-1] % LINE == 0


def _lead(shape: Sequence[int]) -> Indices:
    """The places of a channels-last tensor with one to three axes between images and channels; every frame of a volume
    is an image."""
    *images, height, width = shape[:-1] if len(shape) > 3 else (shape[0], 1, shape[1])
    at, h, w = (_axis(name, n) for name, n in (("image", math.prod(images)), ("h", height), ("w", width)))
    return (*unflat(at, tuple(images)), h, w) if len(shape) > 3 else (at, w)


def _axis(name: str, length: int) -> Index:
    return Index.of(Var(name, 0, length)) if length > 1 else Index()


def thread_number(threads: int) -> str:
    return "omp_get_thread_num()" if threads > 1 else "0"
