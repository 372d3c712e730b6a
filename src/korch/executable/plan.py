"""The plan: which kernels run, in which order, and what they were predicted to cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from korch.backends.contract import Kernel
from korch.errors import Error
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.numerics.verdict import Verdict


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """The best kernel that was not taken for a step; `cost` in seconds."""

    backend: str
    variant: str
    cost: float


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that several primitives of the graph can compute: what was `picked`, and the `others` that were not.

    `margin`: seconds that the plan costs more at most if what was picked is forbidden and only the kernels that hold
    it are replaced, computing the value as in `instead` (nothing there: it is not computed at all); None where nothing
    fits in. `measured`: whether what would come in is; otherwise its lower bound counts.
    """

    tensor: str
    picked: tuple[str, ...]
    others: tuple[str, ...]
    instead: tuple[str, ...] = ()
    margin: float | None = None
    measured: bool = True


@dataclass(frozen=True, slots=True)
class Accuracy(Verdict):
    """The verdict on the program when the plan was made, on seeded random inputs.

    `dropped` are the choices that were forbidden because plans with them erred too much.
    """

    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One kernel at its place in the plan.

    `reads` and `writes` are this place's tensors for the leaves and the root of `kernel.cone`; names may differ from
    the cone's, because equal cones share one kernel. `cost` in seconds; `lower`: what physics allow. `error`: the
    estimated error of its loose primitives at the plan's worst output, of the largest magnitude there.
    """

    kernel: Kernel
    reads: tuple[Tensor, ...]
    writes: Tensor
    cost: float = 0.0
    runner_up: RunnerUp | None = None
    lower: float = 0.0
    error: float = 0.0

    @staticmethod
    def of(kernel: Kernel, cost: float = 0.0, runner_up: RunnerUp | None = None) -> Step:
        """The step of a kernel whose cone has the graph's own names."""
        return Step.at(kernel.cone, kernel, cost, runner_up)

    @staticmethod
    def at(cone: Cone, kernel: Kernel, cost: float, runner_up: RunnerUp | None = None) -> Step:
        """The step of a kernel in the place of `cone`, which equals the kernel's but for names."""
        return Step(kernel, cone.leaves, cone.root, cost, runner_up)

    @property
    def idle(self) -> bool:
        """Whether nothing has to run: an alias, or no element to write."""
        return self.kernel.alias or not self.writes.size

    def __str__(self) -> str:
        what = "alias" if self.kernel.alias else f"{self.kernel.backend} {self.kernel.variant}".strip()
        return f"{self.writes.name} = {what}({', '.join(t.name for t in self.reads)})  # {self.cost * 1e6:.1f} us"


@dataclass(frozen=True)
class Plan:
    """Steps in execution order for the outputs of `graph`, whose constants include every constant leaf.

    `predicted_seconds` is the sum of the costs. `gap`: how far the plan is from the cheapest one at most, relative to
    its cost, if no unmeasured kernel is better than the best of its kind; `gap_physical`: if each of these may take as
    little as physics allow. `options` are those of the search, for the archive's manifest. `as_written` are the
    multiply-adds of the model before there were choices.
    """

    graph: Graph
    steps: tuple[Step, ...]
    threads: int = 1
    numerics: str = "default"
    predicted_seconds: float = 0.0
    gap: float = 0.0
    options: tuple[tuple[str, str], ...] = ()
    as_written: int = 0
    choices: tuple[Choice, ...] = ()
    accuracy: Accuracy | None = None
    gap_physical: float = 0.0

    @property
    def target(self) -> str:
        """The target of the plan: `cpu` or `cuda`."""
        return dict(self.options).get("target", "cpu")

    @property
    def modelled(self) -> bool:
        """Whether costs are a model's: then nothing was measured."""
        return dict(self.options).get("costs") == "model"

    @property
    def constants(self) -> tuple[Tensor, ...]:
        """The constants that steps read or the graph returns, each once."""
        wanted = [t for s in self.steps for t in s.reads] + list(self.graph.outputs)
        return tuple({t.name: t for t in wanted if t.const}.values())

    @property
    def libraries(self) -> frozenset[str]:
        """The native libraries that kernels call, and "onnxruntime" where it runs steps."""
        native = {name for s in self.steps for name in s.kernel.libraries}
        return frozenset(native | ({"onnxruntime"} if any(s.kernel.host for s in self.steps) else set()))

    @property
    def device(self) -> str:
        """The name of the GPU that the plan is for; empty where it is for none."""
        return dict(self.options).get("device", "")

    def on(self, target: str, device: str) -> Plan:
        """The same plan, for this target and device."""
        options = {**dict(self.options), "target": target, "device": device}
        return replace(self, options=tuple(options.items()))

    def selection(self) -> Graph:
        """The choice-free graph that the steps compute; a primitive computed twice with equal inputs stands once."""
        primitives = _renamed(self.steps, {t.name for t in (*self.graph.inputs, *self.constants)})
        return replace(
            self.graph, primitives=primitives, constants={t.name: self.graph.constants[t.name] for t in self.constants}
        )

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps))


def check(plan: Plan) -> None:
    """Raises Error where a step reads what nobody has made, or its tensors do not fit its kernel."""
    known = set(plan.graph.inputs)
    if given := next((t for t in (*known, *(s.writes for s in plan.steps)) if t.const), None):
        raise Error(f"{given} is a constant, and an input or what a step writes")
    for number, step in enumerate(plan.steps):
        for t in step.reads:
            if t not in known and not _is_held(t, plan.graph):
                raise Error(f"step {number} ({step.writes.name}) reads {t}, which no earlier step writes")
        _check_types(number, step)
        if step.writes in known:
            raise Error(f"step {number} writes {step.writes}, which exists already")
        known.add(step.writes)
    for name, t in zip(plan.graph.output_names, plan.graph.outputs, strict=True):
        if t not in known and not _is_held(t, plan.graph):
            raise Error(f"no step writes the output {name!r} ({t})")


def _is_held(t: Tensor, graph: Graph) -> bool:
    """Whether it is one of the graph's constants."""
    held = graph.constants.get(t.name) if t.const else None
    return held is not None and (str(held.dtype), held.shape) == (t.dtype, t.shape)


def _check_types(number: int, step: Step) -> None:
    """The step's tensors have the types and shapes that the kernel was built for."""
    cone = step.kernel.cone
    built, given = (*cone.leaves, cone.root), (*step.reads, step.writes)
    if [(t.dtype, t.shape) for t in built] != [(t.dtype, t.shape) for t in given]:
        raise Error(f"step {number} gives {', '.join(map(str, given))} to a kernel for {', '.join(map(str, built))}")
    if step.kernel.alias and step.reads[0].nbytes != step.writes.nbytes:
        raise Error(f"step {number} aliases {step.reads[0]} as {step.writes}, which has another size")


def _renamed(steps: Iterable[Step], taken: set[str]) -> tuple[Primitive, ...]:
    """The steps' primitives under names that are unique in the whole; what is stored keeps its own."""
    steps = tuple(steps)
    taken = taken | {s.writes.name for s in steps}
    made: dict[tuple[object, ...], Tensor] = {}
    result: list[Primitive] = []
    for number, step in enumerate(steps):
        name = dict(zip(step.kernel.cone.leaves, step.reads, strict=True))
        for p in step.kernel.cone.primitives:
            inputs = tuple(name[t] for t in p.inputs)
            key = (p.op, inputs, p.attrs, p.output.dtype, p.output.shape)
            last = p.output == step.kernel.cone.root
            if key in made and not last:
                name[p.output] = made[key]
                continue
            output = step.writes if last else replace(p.output, name=_free(p.output.name, number, taken))
            taken.add(output.name)
            name[p.output] = made[key] = output
            result.append(replace(p, inputs=inputs, output=output))
    return tuple(result)


def _free(name: str, step: int, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_in_step{step}"
    return name
