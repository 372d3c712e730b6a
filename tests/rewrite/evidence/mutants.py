"""Deliberately wrong rewrites, each with a graph on which it fires: the checks must catch every one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from korch.ir import Builder, Graph, Primitive, Tensor, Value
from korch.ir.primitive import freeze
from korch.rewrite.compose import map_after_shift
from korch.rewrite.im2col import im2col
from korch.rewrite.layouts import add_layouts
from korch.rewrite.moments import second_moment_less_square
from korch.rewrite.pointwise import pointwise_as_product
from korch.rewrite.rule import Rule
from korch.rewrite.samples import algebra, drawing, layouts, moments, shift, strips
from korch.rewrite.samples import im2col as windows
from korch.rewrite.samples import strassen as strassen_samples
from korch.rewrite.samples import winograd as winograd_samples
from korch.rewrite.saturate import saturated
from korch.rewrite.shift import softmax_unshifted
from korch.rewrite.space import Space
from korch.rewrite.strassen import strassen
from korch.rewrite.strips import conv_in_strips
from korch.rewrite.table import Rewrite
from korch.rewrite.winograd import winograd


@dataclass(frozen=True)
class Mutant:
    """A wrong rewrite and a maker of graphs for it."""

    name: str
    rewrite: Rewrite
    make: Callable[[Random], Graph]

    def __str__(self) -> str:
        return self.name


# Right rewrites with one thing changed ---------------------------------------------------------------------------


def changed(rewrite: Rewrite, op: str, change: Callable[[Primitive], Primitive | None]) -> Callable[[Graph], Graph]:
    """`rewrite` with the first primitive `op` it adds that `change` changes."""

    def apply(graph: Graph) -> Graph:
        result = rewrite(graph)
        primitives = list(result.primitives)
        for i in range(len(graph.primitives), len(primitives)):
            other = change(primitives[i]) if primitives[i].op == op else None
            if other is not None and other != primitives[i]:
                primitives[i] = other
                return replace(result, primitives=tuple(primitives))
        raise AssertionError(f"{rewrite.name} adds no {op} to change")

    return apply


def attr(name: str, fn: Callable[[Any], Any]) -> Callable[[Primitive], Primitive]:
    return lambda p: replace(p, attrs=freeze(dict(p.attrs) | {name: fn(p.attr(name))}))


def swapped_pads(pads: tuple[int, ...]) -> tuple[int, ...]:
    half = len(pads) // 2
    return (*pads[half:], *pads[:half])


def turned(p: Primitive) -> Primitive | None:
    """Another permutation that gives the same shape."""
    perm = (0, 1, 3, 2) if p.attr("perm") == (0, 1, 2, 3) else p.attr("perm")[::-1]
    shape = tuple(p.inputs[0].shape[a] for a in perm)
    return replace(p, attrs=freeze({"perm": perm})) if shape == p.output.shape else None


def square_conv(draw: Random) -> Graph:
    """One in which nothing but the values tells the axes apart."""
    b = Builder()
    x = b.input("x", "float32", (4, 4, 4, 4))
    y = drawing.conv(b, draw, x, 4, pads=(1, 0, 1, 2))
    return drawing.graph(b, drawing.conv(b, draw, y, 4, pads=(0, 1, 2, 1)))


def shifted_weights(graph: Graph) -> Graph:
    """Strips whose kernel stands one place too far."""
    result = conv_in_strips(graph)
    wrong = {n: np.roll(x, 1, axis=-1) for n, x in result.constants.items() if n not in graph.constants}
    return replace(result, constants={**result.constants, **wrong})


def turned_phases(graph: Graph) -> Graph:
    """Winograd with the rows' phases taken for the columns'."""
    result = winograd(graph)

    def turn(u: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return u.reshape(*u.shape[:2], 2, 2, -1).swapaxes(2, 3).reshape(u.shape)

    wrong = {n: turn(x) for n, x in result.constants.items() if n not in graph.constants}
    return replace(result, constants={**result.constants, **wrong})


def weights_of_the_next_product(rewrite: Rewrite) -> Callable[[Graph], Graph]:
    """Batched products that have one another's weights."""
    return other_weights(rewrite, lambda u: np.roll(u, 1, axis=0))


def wrong_sign(product: int) -> Callable[[Graph], Graph]:
    """Strassen with the weights of one product negated."""
    signs = np.where(np.arange(7) == product, -1, 1)[:, None, None]
    return other_weights(strassen, lambda t: (t * signs).astype(t.dtype))


def other_weights(rewrite: Rewrite, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Graph], Graph]:
    """`rewrite` with all that it makes of weights changed."""

    def apply(graph: Graph) -> Graph:
        result = rewrite(graph)
        wrong = {n: change(x) for n, x in result.constants.items() if n not in graph.constants}
        return replace(result, constants={**result.constants, **wrong})

    return apply


def swapped_rows(graph: Graph) -> Graph:
    """Strassen with the rows of each pair in the other's place."""
    result = strassen(graph)
    *kept, last = result.primitives
    k, y = last.output.shape[-1], last.output
    parts = {n: replace(y, name=f"{y.name}_{n}", shape=(y.size // (2 * k), 2, k)) for n in ("pairs", "turned")}
    steps = [
        Primitive("StrassenOutput", last.inputs, parts["pairs"], freeze({"shape": parts["pairs"].shape})),
        Primitive("Gather", (parts["pairs"],), parts["turned"], freeze({"axis": 1, "indices": (1, 0)})),
        Primitive("Reshape", (parts["turned"],), y, freeze({"shape": y.shape})),
    ]
    return replace(result, primitives=(*kept, *steps))


def padded_windows(draw: Random) -> Graph:
    """A convolution whose windows overlap and see more padding behind than before."""
    b = Builder()
    x = b.input("x", "float32", (1, draw.randint(4, 6), draw.randint(4, 6), 2))
    return drawing.graph(b, drawing.conv(b, draw, x, windows.MANY, channels_last=1, pads=(0, 1, 1, 2)))


def weights_as_written(graph: Graph) -> Graph:
    """im2col with weights that have channels before positions."""
    result = im2col(graph)
    (p,) = (p for p in graph.primitives if p.op == "Conv")
    wrong = {
        n: graph.constants[p.inputs[1].name].reshape(p.output.shape[-1], -1).T
        for n in result.constants
        if n not in graph.constants
    }
    return replace(result, constants={**result.constants, **wrong})


CHANGED: Iterable[tuple[str, Callable[[Graph], Graph], Callable[[Random], Graph]]] = (
    ("twin conv with its pads swapped", changed(add_layouts, "Conv", attr("pads", swapped_pads)), square_conv),
    ("transposed the wrong way", changed(add_layouts, "Transpose", turned), square_conv),
    (
        "slice from one further",
        changed(add_layouts, "Slice", attr("starts", lambda s: (s[0], s[1] - 1, *s[2:]))),
        layouts.moves_between,
    ),
    ("padded by another mode", changed(add_layouts, "Pad", attr("mode", lambda m: "wrap")), layouts.moves_between),
    (
        "resized with other shares",
        changed(add_layouts, "Interpolate", attr("weights", lambda w: w[::-1])),
        layouts.moves_between,
    ),
    (
        "pool that counts its padding",
        changed(add_layouts, "AveragePool", attr("count_include_pad", lambda c: 1 - c)),
        layouts.pools,
    ),
    ("max over another window", changed(add_layouts, "MaxPool", attr("pads", swapped_pads)), layouts.pools),
    ("strips with a shifted kernel", shifted_weights, strips.few_channels),
    (
        "strips with too little padding",
        changed(conv_in_strips, "Conv", attr("pads", lambda p: (p[0], p[1] + 1, p[2], p[3] - 1))),
        strips.few_channels,
    ),
    ("winograd with its phases turned", turned_phases, winograd_samples.transposed_4x4),
    (
        "winograd one row too far",
        changed(winograd, "WinogradInput", attr("pads", lambda p: (p[0] + 1, p[1], p[2] - 1, p[3]))),
        winograd_samples.plain_2x2,
    ),
    (
        "strided winograd one column too far",
        changed(winograd, "WinogradInput", attr("pads", lambda p: (p[0], p[1] + 1, p[2], p[3] - 1))),
        winograd_samples.strided_3x3,
    ),
    (
        "winograd one frame too far",
        changed(winograd, "WinogradInput", attr("frames", lambda f: (*f[:3], f[3] + 1, f[4] - 1))),
        winograd_samples.through_frames,
    ),
    ("winograd with weights of other products", weights_of_the_next_product(winograd), winograd_samples.strided_3x3),
    ("strassen with weights of other products", weights_of_the_next_product(strassen), strassen_samples.rows),
    ("strassen with a wrong sign", wrong_sign(3), strassen_samples.rows),
    ("strassen with the rows of a pair swapped", swapped_rows, strassen_samples.image),
    ("windows padded on the other side", changed(im2col, "Pad", attr("pads", swapped_pads)), padded_windows),
    ("windows in another order", changed(im2col, "Gather", attr("indices", lambda i: (*i[1:], i[0]))), padded_windows),
    ("windows against unturned weights", weights_as_written, padded_windows),
)


# Wrong laws ------------------------------------------------------------------------------------------------------


Inside = Callable[[Builder, Mapping[str, Value]], Value]


def law(left: Inside, right: Inside, shapes: Mapping[str, tuple[int, ...]]) -> tuple[Any, Any]:
    """(rewrite, make): the graph computes `left`, the rewrite adds `right` as another producer."""

    def make(draw: Random) -> Graph:
        b = Builder()
        return b.graph([("y", left(b, {n: b.input(n, "float32", s) for n, s in shapes.items()}))])

    def apply(graph: Graph) -> Graph:
        b = Builder(prefix="other")
        b.reserve(graph.constants)
        y = right(b, {t.name: b.input(t.name, t.dtype, t.shape) for t in graph.inputs}).tensor
        other = [replace(p, output=graph.outputs[0]) if p.output == y else p for p in b.primitives]
        return graph.add(other, {n: x for n, x in b.constants.items()})

    return apply, make


def matrix_turn(b: Builder, x: Value) -> Value:
    return b.op("Transpose", x, perm=(1, 0))


def total(b: Builder, x: Value) -> Value:
    return b.op("ReduceSum", x, axes=(1,), keepdims=1)


def largest(b: Builder, x: Value) -> Value:
    return b.op("ReduceMax", x, axes=(1,), keepdims=1)


SQUARE = {"x": (4, 4), "y": (4, 4), "z": (4, 4)}
WRONG_LAWS: Mapping[str, tuple[Inside, Inside]] = {
    "transpose keeps the order": (
        lambda b, v: matrix_turn(b, v["x"] @ v["y"]),
        lambda b, v: matrix_turn(b, v["x"]) @ matrix_turn(b, v["y"]),
    ),
    "matmul commutes": (lambda b, v: v["x"] @ v["y"], lambda b, v: v["y"] @ v["x"]),
    "relu is linear": (
        lambda b, v: b.op("Relu", v["x"] + v["y"]),
        lambda b, v: b.op("Relu", v["x"]) + b.op("Relu", v["y"]),
    ),
    "relu before a matmul": (lambda b, v: b.op("Relu", v["x"]) @ v["y"], lambda b, v: b.op("Relu", v["x"] @ v["y"])),
    "division by row sums before another sum": (
        lambda b, v: (v["x"] / total(b, v["y"])) @ v["z"],
        lambda b, v: v["x"] @ (v["z"] / total(b, v["y"])),
    ),
    "softmax of another maximum": (
        lambda b, v: b.op("Exp", v["x"] - largest(b, v["x"])) / total(b, b.op("Exp", v["x"] - largest(b, v["x"]))),
        lambda b, v: b.op("Exp", v["x"] - largest(b, v["x"])) / total(b, b.op("Exp", v["x"])),
    ),
    "mean of a product": (
        lambda b, v: b.op("ReduceMean", v["x"] * v["y"], axes=(1,), keepdims=1),
        lambda b, v: (
            b.op("ReduceMean", v["x"], axes=(1,), keepdims=1) * b.op("ReduceMean", v["y"], axes=(1,), keepdims=1)
        ),
    ),
    "sum of a maximum": (
        lambda b, v: total(b, b.op("Max", v["x"], v["y"])),
        lambda b, v: b.op("Max", total(b, v["x"]), total(b, v["y"])),
    ),
    "concat in the other order": (
        lambda b, v: b.op("Concat", v["x"], v["y"], axis=1) @ b.op("Concat", v["z"], v["x"], axis=0),
        lambda b, v: v["x"] @ v["x"] + v["y"] @ v["z"],
    ),
    "one part in a million": (lambda b, v: v["x"] * 3.0, lambda b, v: v["x"] * 3.000001),
}


# Wrong algebraic rules -------------------------------------------------------------------------------------------


def forgets_the_bias(s: Space, p: Primitive) -> Iterator[Tensor]:
    """W (x + v) = W x."""
    yield from (next(iter(s.producers(t))).inputs[0] for t in map_after_shift(s, p))


def maps_the_other_way(s: Space, p: Primitive) -> Iterator[Tensor]:
    """W (V x) = (V W) x, for square matrices."""
    for q in s.producers(p.inputs[0]) if p.op == "MatMul" else ():
        if q.op == "MatMul" and q.inputs[1].const and p.inputs[1].const:
            yield s.op("MatMul", q.inputs[0], s.op("MatMul", p.inputs[1], q.inputs[1]))


def shifts_the_sum_alone(s: Space, p: Primitive) -> Iterator[Tensor]:
    """exp(x - m) / sum exp(x - m) = exp x / sum exp(x - m)."""
    for t in softmax_unshifted(s, p):
        (q,) = s.producers(t)
        yield s.op("Div", q.inputs[0], p.inputs[1])


def unshifts_whatever_is_subtracted(s: Space, p: Primitive) -> Iterator[Tensor]:
    """exp(x - y) / sum exp(x - y) = exp x / sum exp x."""
    for e in s.producers(p.inputs[0]) if p.op == "Div" else ():
        for q in s.producers(e.inputs[0]) if e.op == "Exp" else ():
            if q.op == "Sub":
                other = s.op("Exp", q.inputs[0])
                yield s.op("Div", other, s.op("ReduceSum", other, axes=(1,), keepdims=1))


def softmax_of_centred_columns(draw: Random) -> Graph:
    """Sums along rows, but what is subtracted is alike along columns alone."""
    b = Builder()
    x = b.input("x", "float32", (draw.randint(3, 5), draw.randint(3, 5)))
    e = b.op("Exp", x - b.op("ReduceMax", x, axes=(0,), keepdims=1))
    return drawing.graph(b, e / b.op("ReduceSum", e, axes=(1,), keepdims=1))


def forgets_the_square_of_the_mean(s: Space, p: Primitive) -> Iterator[Tensor]:
    """mean (x - mean x)^2 = mean x^2."""
    yield from (next(iter(s.producers(t))).inputs[0] for t in second_moment_less_square(s, p))


def adds_the_square_of_the_mean(s: Space, p: Primitive) -> Iterator[Tensor]:
    """mean (x - mean x)^2 = max(mean x^2 + (mean x)^2, 0)."""
    for t in second_moment_less_square(s, p):
        yield s.op("Relu", s.op("Add", *next(iter(s.producers(t))).inputs))


def transposes_the_kernel(s: Space, p: Primitive) -> Iterator[Tensor]:
    """conv(x, W) = W^T x, for square kernels of one position."""
    for t in pointwise_as_product(s, p):
        product = s.producers(next(iter(s.producers(t))).inputs[0])[0]
        w, x = product.inputs
        yield s.op("Reshape", s.op("MatMul", s.op("Transpose", w, perm=(1, 0)), x), shape=t.shape)


def square_kernel(draw: Random) -> Graph:
    b = Builder()
    x, w = b.input("x", "float32", (1, 3, 2, 2)), b.input("w", "float32", (3, 3, 1, 1))
    attrs = {"strides": (1, 1), "pads": (0,) * 4, "dilations": (1, 1), "group": 1, "channels_last": 0}
    return drawing.graph(b, b.op("Conv", x, w, **attrs))


def two_products(draw: Random) -> Graph:
    b = Builder()
    x = b.input("x", "float32", (4, 3))
    return drawing.graph(b, (x @ drawing.weights(b, draw, 3, 3)) @ drawing.weights(b, draw, 3, 3))


def alone(rule: Rule) -> Callable[[Graph], Graph]:
    return lambda graph: saturated(graph, [rule])


RULES: Iterable[tuple[str, Callable[[Graph], Graph], Callable[[Random], Graph]]] = (
    ("forgets the bias", alone(Rule("wrong", forgets_the_bias)), algebra.chain),
    ("maps the other way", alone(Rule("wrong", maps_the_other_way)), two_products),
    ("shifts the sum alone", alone(Rule("wrong", shifts_the_sum_alone)), shift.bounded_rows),
    (
        "unshifts whatever is subtracted",
        alone(Rule("wrong", unshifts_whatever_is_subtracted)),
        softmax_of_centred_columns,
    ),
    ("forgets the square of the mean", alone(Rule("wrong", forgets_the_square_of_the_mean)), moments.small_variances),
    ("adds the square of the mean", alone(Rule("wrong", adds_the_square_of_the_mean)), moments.small_variances),
    ("transposes the kernel", alone(Rule("wrong", transposes_the_kernel)), square_kernel),
)


def mutants() -> list[Mutant]:
    """Every one of them."""
    made = [(name, fn, make) for name, fn, make in (*CHANGED, *RULES)]
    made += [(name, *law(*sides, SQUARE)) for name, sides in WRONG_LAWS.items()]
    return [Mutant(name, Rewrite(name.replace(" ", "_"), 1, fn), make) for name, fn, make in made]
