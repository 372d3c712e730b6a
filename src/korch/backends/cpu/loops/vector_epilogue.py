"""The epilogue of a tile: elementwise primitives on a product's sums in registers, as vectors of C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from korch.backends.cpu.loops.ctypes import INFIX, extreme_order, is_ordered, literal, together
from korch.backends.maps.trace import Maker
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

EXTREMES = {
    "Max": "korch_larger{lanes}({0}, {1})",
    "Min": "korch_smaller{lanes}({0}, {1})",
    "Relu": "korch_larger{lanes}((korch_f{lanes}){{0}}, {0})",
}
CALLED = {"Sigmoid": "korch_sigmoid"}
"""Primitives that are functions of vectors, by names but for the lanes."""
EXPRESSIBLE = frozenset({"Add", "Sub", "Mul", "Div", *EXTREMES, *CALLED, "LeakyRelu"})
"""Primitives that vectors of C can express."""
FUNCTIONS = {"korch_siluf": "korch_silu", "korch_mishf": "korch_mish"}
"""What is a function of vectors, too: its name but for their lanes, by that of the function of numbers."""


@dataclass(frozen=True)
class EpilogueStep:
    """A primitive, or as a `function` of one tensor several, of which it is the last."""

    primitive: Primitive
    inputs: tuple[Tensor, ...]
    function: str = ""


@dataclass(frozen=True)
class VectorEpilogue:
    """The epilogue of a tile: `steps` in order, on the result of `product`. `operands` are the tensors they load."""

    product: Tensor
    steps: tuple[EpilogueStep, ...]
    operands: tuple[Tensor, ...]

    def added_first(self) -> Tensor | None:
        """What is added to the product before anything else is done with it, and read for nothing else."""
        first, *others = self.steps
        added = next((t for t in first.inputs if t != self.product), None)
        if first.primitive.op != "Add" or first.function or added not in self.operands:
            return None
        later = {t for s in others for t in s.inputs}
        return None if later & {added, self.product} else added

    def without_first(self) -> VectorEpilogue:
        """What follows the first step."""
        return replace(self, product=self.steps[0].primitive.output, steps=self.steps[1:])

    def lines(self, total: str, lanes: int, loaded: dict[Tensor, str], suffix: str) -> tuple[list[str], str]:
        """C statements, and the name of the value that is stored for the vector `total`."""
        names, lines = {self.product: total, **loaded}, list[str]()
        for k, step in enumerate(self.steps):
            args = [names.get(t) or everywhere(t.value, lanes) for t in step.inputs]
            names[step.primitive.output] = f"y{k}{suffix}"
            value = f"{step.function}{lanes}({args[0]})" if step.function else expression(step.primitive, args, lanes)
            lines.append(f"  const korch_f{lanes} y{k}{suffix} = {value};")
        return lines, names[self.steps[-1].primitive.output if self.steps else self.product]


def vector_epilogue_of(cone: Cone, p: Primitive) -> VectorEpilogue | None:
    """The epilogue of the product `p` in `cone`; None where it is empty, or where vectors cannot express it."""
    after = {q.output: q for q in _after(cone, p)}
    if not after or cone.root not in after or any(q.output.shape != p.output.shape for q in after.values()):
        return None
    if any(t.dtype != "float32" for q in after.values() for t in (*q.inputs, q.output)):
        return None
    steps, needed = list[EpilogueStep](), {cone.root}
    for t, q in reversed(after.items()):
        step = _step(q, after.get) if t in needed else None
        if t in needed and not step:
            return None
        if step:
            steps.insert(0, step)
            needed.update(step.inputs)
    read = dict.fromkeys(t for s in steps for t in s.inputs if t not in after and t != p.output and t.value is None)
    stored = all(cone.behind_views(t, lambda op: op.cuts) in cone.leaves for t in read)
    return VectorEpilogue(p.output, tuple(steps), tuple(read)) if stored else None


def _after(cone: Cone, p: Primitive) -> Iterator[Primitive]:
    reached = {p.output}
    for q in cone.primitives:
        if not reached.isdisjoint(q.inputs):
            reached.add(q.output)
            yield q


def _step(p: Primitive, maker: Maker) -> EpilogueStep | None:
    """The step that computes `p`, fused with its operands where that is one function; None where no vectors can."""
    fused = together(p, maker, maker)
    if fused and fused.function in FUNCTIONS:
        return EpilogueStep(p, (fused.source,), FUNCTIONS[fused.function])
    return EpilogueStep(p, p.inputs) if p.op in EXPRESSIBLE else None


def everywhere(value: float | None, lanes: int) -> str:
    """A vector of one number, in C."""
    assert value is not None, "an operand is not loaded"
    return f"({broadcast(literal(value, 'float32'), lanes)})"


def broadcast(number: str, lanes: int) -> str:
    """The number in all lanes, in C: 0 + -0 would be 0, and an addition."""
    return f"{number} - (korch_f{lanes}){{0}}"


def expression(p: Primitive, args: list[str], lanes: int) -> str:
    """The C of an expressible primitive of the vectors `args`."""
    if p.op in INFIX:
        return f"{args[0]} {INFIX[p.op]} {args[1]}"
    if p.op in CALLED:
        return f"{CALLED[p.op]}{lanes}({args[0]})"
    if p.op == "Relu":
        return EXTREMES[p.op].format(*args, lanes=lanes)
    if p.op in EXTREMES:
        a, b = (args[i] for i in extreme_order(p))
        larger = EXTREMES[p.op].format(a, b, lanes=lanes)
        return larger if is_ordered(p) else f"KORCH_PICK({lanes}, {a} != {a}, {a}, {larger})"
    (x,), alpha = args, p.attr("alpha")
    below = f"{literal(alpha, 'float32')} * {x}"
    return f"korch_larger{lanes}({x}, {below})" if 0 < alpha <= 1 else f"KORCH_PICK({lanes}, {x} >= 0, {x}, {below})"
