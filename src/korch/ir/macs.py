"""Multiply-adds of linear primitives, exactly: products with padding are not done and not counted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from korch.ir.graph import Graph
from korch.ir.ops.winograd import frames_of, tiling_of
from korch.ir.primitive import Primitive, freeze
from korch.ir.tensor import Tensor

STRIPS = {"conv_in_strips": (False, True), "conv_in_squares": (True, True)}
"""The rewrites whose convolutions multiply zeros, and along which axes neighbours become channels."""
BLOCKS = "conv_in_blocks"
"""The rewrite whose convolutions have blocks of neighbours as channels."""


def multiply_adds(p: Primitive) -> int:
    """Multiply-adds of a matrix product, convolution or recurrence, 0 for all else (interpolation and transforms are
    sparse).

    >>> from korch.ir import Builder
    >>> b = Builder()
    >>> y = b.op("Relu", b.input("x", "float32", (4, 8)) @ b.input("w", "float32", (8, 2)))
    >>> [multiply_adds(p) for p in b.graph([("y", y)]).primitives]
    [64, 0]
    """
    return p.spec.multiply_adds(p)


def total(primitives: Iterable[Primitive]) -> int:
    """Multiply-adds of all of `primitives`; Winograd's and Strassen's are those of their products, transforms do not
    count."""
    return sum(map(multiply_adds, primitives))


def float32_time(primitives: Iterable[Primitive]) -> float:
    """Multiply-adds of float32 that take as long as those of `primitives`, at least."""
    return sum(multiply_adds(p) / p.spec.faster for p in primitives)


def total_of_values(graph: Graph) -> int:
    """Multiply-adds of a choice-free selection whose values are computed once, by what it computes and not how:
    Winograd's and Strassen's products and convolutions in strips are counted as what they stand for."""
    distinct = _distinct(graph.primitives)
    makers = {p.output: p for p in distinct}
    stands = {
        p.inputs[0]: p for p in distinct if p.spec.transforms_back or (p.rule in STRIPS and not p.spec.is_convolution)
    }
    return sum(multiply_adds(_plain(p, stands, makers)) for p in distinct)


def _plain(p: Primitive, stands: Mapping[Tensor, Primitive], makers: Mapping[Tensor, Primitive]) -> Primitive:
    """The convolution or product that `p` is the work of, or `p` itself."""
    if p.output not in stands:
        return p
    if p.spec.is_convolution and p.rule in STRIPS:
        return _out_of_strips(p, stands)
    given = makers.get(p.inputs[0])
    if not p.spec.is_product or given is None:
        return p
    if given.rule == BLOCKS:
        return _out_of_blocks(given, p, stands[p.output], makers)
    of = {"WinogradInput": _convolution_of, "StrassenInput": _product_of}.get(given.op)
    return of(given, p, stands[p.output]) if of else p


def _distinct(primitives: Iterable[Primitive]) -> list[Primitive]:
    """Without those that compute from equal inputs what an earlier one computes."""
    same: dict[Tensor, Tensor] = {}
    first: dict[object, Primitive] = {}
    for p in primitives:
        q = replace(p, inputs=tuple(same.get(t, t) for t in p.inputs))
        key = (q.op, q.inputs, q.attrs, q.output.dtype, q.output.shape)
        same[p.output] = first.setdefault(key, q).output
    return list(first.values())


def _convolution_of(given: Primitive, product: Primitive, output: Primitive) -> Primitive:
    """The convolution whose place the Winograd chain of `given`, `product` and `output` takes."""
    u, kernel, phases = product.inputs[1], output.attr("kernel"), output.attr("phases")
    channels = (u.shape[-1] // phases**2, u.shape[-2])
    strides = (phases * output.attr("stride"),) * 2  # one of them is 1
    attrs = {"strides": strides, "dilations": (1, 1), "pads": given.attr("pads"), "group": 1, "channels_last": 1}
    if given.inputs[0].rank == 5:
        return _of_volumes(given, u, output)
    if phases == 1:
        window = [kernel if moves else 1 for moves in tiling_of(output).along][4 - output.output.rank :]
        weights = Tensor(u.name, u.dtype, (*channels, *window), True)
        return Primitive("Conv", (given.inputs[0], weights), output.output, freeze(attrs))
    weights = Tensor(u.name, u.dtype, (*channels[::-1], phases * kernel, phases * kernel), True)
    begin = tuple(
        phases * (kernel - 1 - pad) + cut
        for pad, cut in zip(given.attr("pads")[:2], output.attr("skipped"), strict=True)
    )
    return Primitive("ConvTranspose", (given.inputs[0], weights), output.output, freeze(attrs | {"pads": begin}))


def _of_volumes(given: Primitive, u: Tensor, output: Primitive) -> Primitive:
    """The convolution over three axes for which the products with `u` are."""
    frames, stride = frames_of(given), output.attr("stride")
    window = [output.attr("kernel") if moves else 1 for moves in tiling_of(output).along]
    attrs = {
        "strides": (frames.stride, stride, stride),
        "dilations": (frames.dilation, 1, 1),
        "group": 1,
        "pads": (frames.before, *given.attr("pads")[:2]),
        "channels_last": 1,
    }
    shape = (u.shape[-1], given.inputs[0].shape[-1], frames.taps, *window)
    return Primitive("Conv", (given.inputs[0], Tensor(u.name, u.dtype, shape, True)), output.output, freeze(attrs))


def _out_of_blocks(
    given: Primitive, product: Primitive, output: Primitive, makers: Mapping[Tensor, Primitive]
) -> Primitive:
    """The convolution of the image whose blocks of neighbours that chain has as channels."""
    x, u, blocks = given.inputs[0], product.inputs[1], output.attr("phases")
    top, left, *_ = (blocks * pad for pad in given.attr("pads"))
    while (maker := makers.get(x)) and maker.rule == BLOCKS and (maker.spec.rearranges or maker.spec.pads):
        x = maker.inputs[0]
        if maker.spec.pads:
            top, left = top + maker.attr("pads")[1], left + maker.attr("pads")[2]
    shape = (u.shape[-1] // blocks**2, x.shape[-1], 2 * blocks + 1, 2 * blocks + 1)
    attrs = {"strides": (1, 1), "dilations": (1, 1), "pads": (top, left), "group": 1, "channels_last": 1}
    return Primitive("Conv", (x, Tensor(u.name, u.dtype, shape, True)), output.output, freeze(attrs))


def _product_of(given: Primitive, product: Primitive, output: Primitive) -> Primitive:
    """The product whose place the Strassen chain of `given`, `product` and `output` takes."""
    u, x, y = product.inputs[1], given.inputs[0], output.output
    return Primitive("MatMul", (x, Tensor(u.name, u.dtype, (x.shape[-1], y.shape[-1]), True)), y)


def _out_of_strips(p: Primitive, stands: Mapping[Tensor, Primitive]) -> Primitive:
    """The convolution whose neighbouring outputs are channels of `p`, without the zeros in between."""
    end = stands[p.output]
    while end.output in stands:
        end = stands[end.output]
    strides, (outputs, inputs, *window) = p.attr("strides"), p.inputs[1].shape
    block = [s if shared else 1 for s, shared in zip(strides, STRIPS[p.rule], strict=True)]
    kernel = (k - b + 1 for k, b in zip(window, block, strict=True))
    weights = Tensor(p.inputs[1].name, p.inputs[1].dtype, (outputs // math.prod(block), inputs, *kernel), True)
    attrs = dict(p.attrs) | {"strides": tuple(s // b for s, b in zip(strides, block, strict=True))}
    return Primitive("Conv", (p.inputs[0], weights), end.output, freeze(attrs))
