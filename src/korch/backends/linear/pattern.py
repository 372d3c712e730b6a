"""Reads a cone as one call: views of leaves, one linear primitive, a chain of post-ops, a view of the output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from korch.backends.contract import Refusal
from korch.backends.linear.activations import Eltwise, activation
from korch.backends.linear.views import OUT, View, inverse
from korch.ir import Category, Cone, Primitive, Tensor

MAX_POST_OPS = 16
MAX_RANK = 12
_BINARY = {"Add": "add", "Mul": "mul", "Sub": "sub", "Div": "div", "Max": "max", "Min": "min"}


@dataclass(frozen=True, slots=True)
class Binary:
    """The post-op `dnnl_binary_<alg>`, as oneDNN calls it; its operand is seen in the shape of the linear output."""

    alg: str
    operand: View


PostOp = Eltwise | Binary


@dataclass(frozen=True, slots=True)
class Match:
    """What a library is asked for: `output` (which has the linear output's shape) = post_ops(linear(x, w))."""

    linear: Primitive
    x: View
    w: View
    x_const: bool
    w_const: bool
    post_ops: tuple[PostOp, ...]
    output: View


class _NoMatch(Exception):
    """The cone is none of ours; the text is the reason."""


def match(cone: Cone) -> Match | Refusal:
    """The cone as one call, or why it is none."""
    try:
        return _match(cone)
    except _NoMatch as reason:
        return Refusal(str(reason))


def _match(cone: Cone) -> Match:
    linear = _linear(cone)
    inside = _Inside(linear, cone.makers, {t: i for i, t in enumerate(cone.leaves)}, _carried(cone, linear))
    post_ops, output = _epilogue(cone.root, inside)
    x, w = (_leaf_view(t, inside) for t in linear.inputs)
    consts = [cone.leaves[v.leaf].const for v in (x, w)]
    return Match(linear, x, w, consts[0], consts[1], post_ops, output)


def _linear(cone: Cone) -> Primitive:
    """The one linear primitive, where the cone passes the checks that need no look at its structure."""
    if len(cone.linear) != 1:
        raise _NoMatch(f"has {len(cone.linear)} linear primitives; a library takes one")
    linear = cone.linear[0]
    if not linear.spec.is_bilinear:
        raise _NoMatch(f"{linear.op} is no linear primitive of a library's")
    ends = (*cone.leaves, cone.root)
    for t in (*cone.leaves, *(p.output for p in cone.primitives)):
        if t.dtype != "float32" and (t.dtype != "bool" or t in ends):  # activations may compare
            raise _NoMatch(f"{t.name} is {t.dtype}; only float32 is supported")
        if t.size == 0 or t.rank > MAX_RANK:
            raise _NoMatch(f"{t} is empty or has more than {MAX_RANK} axes")
    return linear


@dataclass(frozen=True)
class _Inside:
    """What the walk asks of the cone. `carried` are the tensors that depend on the linear primitive."""

    linear: Primitive
    made: Mapping[Tensor, Primitive]
    leaf: Mapping[Tensor, int]
    carried: frozenset[Tensor]


def _carried(cone: Cone, linear: Primitive) -> frozenset[Tensor]:
    carried = {linear.output}
    for p in cone.primitives:
        if not carried.isdisjoint(p.inputs):
            carried.add(p.output)
    return frozenset(carried)


@dataclass(frozen=True)
class _Step:
    """t = post_ops(view of `source`): operands have t's shape; `back` reads a view of t's shape in source's."""

    post_ops: tuple[PostOp, ...]
    source: Tensor
    back: Callable[[View], View | None]


def _epilogue(root: Tensor, inside: _Inside) -> tuple[tuple[PostOp, ...], View]:
    """Post-ops in order of application, and the output's buffer; both in the shape of the linear output."""
    t, post_ops, output = root, (), View.dense(OUT, root.shape)
    while t != inside.linear.output:
        step = _step(t, inside)
        post_ops = tuple(_moved(op, step.back) for op in (*step.post_ops, *post_ops))
        output = _through(output, step.back)
        t = step.source
    if len(post_ops) > MAX_POST_OPS:
        raise _NoMatch(f"has {len(post_ops)} post-ops; at most {MAX_POST_OPS} are supported")
    return post_ops, output


def _moved(op: PostOp, back: Callable[[View], View | None]) -> PostOp:
    return replace(op, operand=_through(op.operand, back)) if isinstance(op, Binary) else op


def _through(view: View, back: Callable[[View], View | None]) -> View:
    moved = back(view)
    if moved is None:
        raise _NoMatch(f"a Reshape after the linear primitive would have to copy a view of shape {view.shape}")
    return moved


def _step(t: Tensor, inside: _Inside) -> _Step:
    p = inside.made[t]
    found = activation(t, inside.made, inside.carried)
    if found:
        return _elementwise(t, (found[0],), found[1])
    match p.op:
        case "Transpose":
            perm = inverse(p.attr("perm"))
            return _Step((), p.inputs[0], lambda v: v.transpose(perm))
        case "Reshape" | "Identity":
            return _elementwise(t, (), p.inputs[0])
        case op if op in _BINARY:
            return _binary(p, inside)
        case _:
            raise _NoMatch(f"there is no post-op for {p}")


def _elementwise(t: Tensor, post_ops: tuple[PostOp, ...], source: Tensor) -> _Step:
    """A step that keeps the elements' order, unit axes (or a Reshape) aside."""
    if t.size != source.size:
        raise _NoMatch(f"{t.name} broadcasts {source}, which depends on the linear primitive, to {t}")
    return _Step(post_ops, source, lambda v: v.reshape(source.shape))


def _binary(p: Primitive, inside: _Inside) -> _Step:
    depends = [t in inside.carried for t in p.inputs]
    if all(depends):
        raise _NoMatch(f"uses the linear result twice, in no pattern that is a post-op: {p}")
    x, other = p.inputs if depends[0] else p.inputs[::-1]
    operand = _leaf_view(other, inside).broadcast(p.output.shape)
    return _elementwise(p.output, _binary_post_ops(p.op, operand, depends[0]), x)


def _binary_post_ops(op: str, operand: View, is_first: bool) -> tuple[PostOp, ...]:
    """x op operand, or operand op x, where x is the running value."""
    if op == "Sub" and not is_first:
        return Eltwise("linear", -1.0), Binary("add", operand)
    if op == "Div" and not is_first:
        return Eltwise("pow", 1.0, -1.0), Binary("mul", operand)
    return (Binary(_BINARY[op], operand),)


def _leaf_view(t: Tensor, inside: _Inside) -> View:
    """`t`, which is a leaf or made from one by layout and broadcast primitives only."""
    if t in inside.leaf:
        return View.dense(inside.leaf[t], t.shape)
    p = inside.made[t]
    if p.category not in (Category.LAYOUT, Category.BROADCAST) and not p.spec.is_view:
        raise _NoMatch(f"computes {p} beside the linear primitive's own chain")
    view = view_of(p, _leaf_view(p.inputs[0], inside))
    if view is None:
        raise _NoMatch(f"{p} is no strided view")
    return view


def view_of(p: Primitive, x: View) -> View | None:
    """What `p` shows of its input `x`; None where that is no strided view."""
    match p.op:
        case "Transpose":
            return x.transpose(p.attr("perm"))
        case "Reshape":
            return x.reshape(p.output.shape)
        case "Slice":
            return x.slice(p.attr("starts"), p.attr("steps"), p.output.shape)
        case "Expand":
            return x.broadcast(p.output.shape)
        case "Identity":
            return x
        case _:
            return None
