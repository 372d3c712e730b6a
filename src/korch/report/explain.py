"""What an executable consists of: its kernels in order, why they cost what they cost, and what was not taken."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from korch.executable import Executable, Plan, Step
from korch.executable.plan import Accuracy, Choice
from korch.ir import Category, Primitive, Tensor
from korch.ir.macs import total, total_of_values
from korch.ir.tensor import type_text
from korch.report.precisions import Precisions

MOVES = (Category.LAYOUT, Category.BROADCAST)
"""What these compute twice costs nothing worth telling."""


@dataclass(frozen=True)
class Again:
    """A primitive that other kernels compute too: their numbers."""

    primitive: str
    also_in: tuple[int, ...]


@dataclass(frozen=True)
class KernelReport:
    """One kernel. Costs in microseconds, `share` of the sum; the runner-up is the next best for the same cone. `error`:
    the estimated error of its loose primitives at the worst output, of the largest magnitude there; `error_share`: its
    share of the squares of all kernels."""

    number: int
    root: str
    type: str
    reads: tuple[str, ...]
    backend: str
    variant: str
    cost_us: float
    share: float
    primitives: tuple[str, ...]
    again: tuple[Again, ...]
    runner_up: dict[str, Any] | None
    error: float = 0.0
    error_share: float = 0.0

    def __str__(self) -> str:
        what = f"{self.backend} {self.variant}".strip()
        head = f"{self.number}: {self.root}  {what}  {self.cost_us:.1f} us  {self.share:.1%}{self._other()}"
        return "\n".join([head, *(f"    {p}" for p in self.primitives), *self._twice(), *self._error()])

    def _error(self) -> list[str]:
        share = f"{self.error_share:.1%} of the squared error"
        return [f"    estimated error {self.error:.1e}, {share}"] if self.error else []

    def _twice(self) -> list[str]:
        """A line for each set of kernels that this one shares work with."""
        shared: dict[tuple[int, ...], list[str]] = defaultdict(list)
        for a in self.again:
            shared[a.also_in].append(a.primitive.partition(" = ")[0])
        return [
            f"    computed in {', '.join(map(str, others))} too: {', '.join(names)}" for others, names in shared.items()
        ]

    def _other(self) -> str:
        if self.runner_up is None:
            return ""
        bound = "at least " if self.runner_up["variant"] == "bound" else ""
        return f"  (next best: {self.runner_up['backend']}, {bound}{self.runner_up['cost_us']:.1f} us)"


@dataclass(frozen=True)
class ChoiceReport:
    """A value that could be computed in several ways: `picked`, and the `others`.

    `won_by_us`: what the plan would cost more, at most, without what was picked: the next best offer for this value,
    computed as `instead` says (or not at all) and fitted into a plan that stays as it is everywhere else. None where
    nothing fits: layouts, for example, change only together with what is around them. What is not `measured` counts
    with its lower bound.
    """

    tensor: str
    picked: tuple[str, ...]
    others: tuple[str, ...]
    instead: tuple[str, ...]
    won_by_us: float | None
    measured: bool

    def __str__(self) -> str:
        return f"{self.tensor}  {' + '.join(self.picked)}  of {len(self.picked) + len(self.others)}  {self._margin()}"

    def _margin(self) -> str:
        if self.won_by_us is None:
            return "(nothing else fits what is around it)"
        by = f"{'' if self.measured else 'at least '}{self.won_by_us:+.1f} us"
        return f"(next best offer: {' + '.join(self.instead) or 'without it'}, {by})"


@dataclass(frozen=True)
class Explanation:
    """The kernels in execution order, and the totals. `total_us` is the sum of costs; memory in bytes.

    `options` are what the search was asked for. `multiply_adds`: of the model `as_written`; of what was `chosen`, each
    value computed once and Winograd's and Strassen's products counted as what they replace; and `executed`, where
    those products count as such, and what several kernels compute as often as they do. `accuracy` is what the program
    erred when it was made, None for one that no search has made. `precisions`: dtypes of factors and stored tensors.
    """

    kernels: tuple[KernelReport, ...]
    total_us: float
    gap: float
    threads: int
    numerics: str
    options: dict[str, str]
    by_backend: dict[str, dict[str, float]]
    memory: dict[str, int]
    multiply_adds: dict[str, int]
    precisions: Precisions
    choices: tuple[ChoiceReport, ...] = ()
    accuracy: Accuracy | None = None
    gap_physical: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        backends = ", ".join(
            f"{name}: {int(f['kernels'])} kernels, {f['us']:.1f} us" for name, f in self.by_backend.items()
        )
        memory = ", ".join(f"{name} {size / 1e6:.2f} MB" for name, size in self.memory.items())
        total = (
            f"total: {len(self.kernels)} kernels, {self.total_us / 1e3:.3f} ms, {gap_text(self.gap, self.gap_physical)}"
        )
        asked = ", ".join(f"{name} {value}" for name, value in self.options.items())
        made = ", ".join(f"{count / 1e9:.3f} G {name.replace('_', ' ')}" for name, count in self.multiply_adds.items())
        return "\n".join(
            [
                *map(str, self.kernels),
                "",
                *self._choices(),
                f"{total}, threads: {self.threads}, numerics: {self.numerics}",
                *self._accuracy(),
                *([f"asked for: {asked}"] if asked else []),
                f"multiply-adds: {made}",
                *self.precisions.lines,
                backends,
                f"memory: {memory}",
            ]
        )

    def _choices(self) -> list[str]:
        """Where there was a choice, in the order in which the values are computed."""
        fitting = [c for c in self.choices if c.won_by_us is not None]
        tied = Counter(" + ".join(c.picked) for c in self.choices if c.won_by_us is None)
        counts = ", ".join(f"{n} {what}" for what, n in tied.most_common())
        more = [f"    where no other way fits what is around it: {counts}"]
        return ["choices:", *(f"    {c}" for c in fitting), *(more if tied else []), ""] if self.choices else []

    def _accuracy(self) -> list[str]:
        a = self.accuracy
        if a is None:
            return []
        allowed = f"which cannot be judged: {a.reason}" if a.allowed is None else f"{a.allowed:.1e} allowed"
        allowed += "; every step is right on what those before it made" if a.by_step else ""
        without = [f"    without {name}, which erred too much" for name in a.dropped]
        squares = sum(k.error**2 for k in self.kernels)
        estimated = f"; {squares**0.5:.1e} estimated for its loose primitives" if squares else ""
        return [f"error: {a.error:.1e} of the largest magnitude at output {a.output!r}, {allowed}{estimated}", *without]


def gap_text(gap: float, physical: float) -> str:
    """How far a plan may be from the cheapest one, in words."""
    return (
        f"at most {gap:.1%} above the cheapest plan if no unmeasured kernel beats the best of its kind, "
        f"{physical:.1%} whatever these take"
    )


def explain(executable: Executable) -> Explanation:
    """What `executable` runs and why."""
    plan = executable.plan
    total = sum(s.cost for s in plan.steps)
    again = _computed_again(plan.steps)
    squares = sum(s.error**2 for s in plan.steps)
    kernels = tuple(_kernel(n, s, total, squares, again[n]) for n, s in enumerate(plan.steps))
    memory = {
        "arena": executable.memory.arena_bytes,
        "arena_lower_bound": executable.memory.lower_bound,
        "weights": executable.weight_bytes,
        "peak": executable.peak_bytes,
    }
    return Explanation(
        kernels,
        total * 1e6,
        plan.gap,
        executable.threads,
        plan.numerics,
        dict(plan.options),
        _by_backend(kernels),
        memory,
        _multiply_adds(plan),
        Precisions.of(plan.steps),
        tuple(map(_choice, plan.choices)),
        plan.accuracy,
        plan.gap_physical,
    )


def _multiply_adds(plan: Plan) -> dict[str, int]:
    run = (p for s in plan.steps if not s.idle for p in s.kernel.cone.primitives)
    return {"as_written": plan.as_written, "chosen": total_of_values(plan.selection()), "executed": total(run)}


def _choice(c: Choice) -> ChoiceReport:
    margin = None if c.margin is None else c.margin * 1e6
    return ChoiceReport(c.tensor, c.picked, c.others, c.instead, margin, c.measured)


def _kernel(number: int, step: Step, total: float, squares: float, again: tuple[Again, ...]) -> KernelReport:
    root, up = step.writes, step.runner_up
    other = {"backend": up.backend, "variant": up.variant, "cost_us": up.cost * 1e6} if up else None
    return KernelReport(
        number,
        root.name,
        type_text(root.dtype, root.shape),
        tuple(t.name for t in step.reads),
        "alias" if step.kernel.alias else step.kernel.backend,
        str(step.kernel.variant),
        step.cost * 1e6,
        step.cost / total if total else 0.0,
        tuple(map(str, inside(step))),
        again,
        other,
        step.error,
        step.error**2 / squares if squares else 0.0,
    )


def inside(step: Step) -> tuple[Primitive, ...]:
    """The step's primitives with the names of its place; interior tensors are numbered."""
    cone = step.kernel.cone
    name = dict(zip((*cone.leaves, cone.root), (*step.reads, step.writes), strict=True))
    for number, p in enumerate(cone.primitives[:-1], start=1):
        name.setdefault(p.output, replace(p.output, name=f"v{number}"))
    return tuple(replace(p, inputs=tuple(name[t] for t in p.inputs), output=name[p.output]) for p in cone.primitives)


def _computed_again(steps: Sequence[Step]) -> list[tuple[Again, ...]]:
    """For each step what other steps compute too. Equal values are found by numbering them by what computes them."""
    numbers: dict[object, int] = {}
    value: dict[Tensor, int] = {}
    holders: dict[int, dict[int, Primitive]] = defaultdict(dict)
    for step_number, step in enumerate(steps):
        own = {t: value.setdefault(t, numbers.setdefault(t, len(numbers))) for t in step.reads}
        for p in inside(step):
            key = (p.op, tuple(own[t] for t in p.inputs), p.attrs, p.output.dtype, p.output.shape)
            own[p.output] = numbers.setdefault(key, len(numbers))
            if p.category not in MOVES:
                holders[own[p.output]][step_number] = p
        value[step.writes] = own[step.writes]
    twice = [places for places in holders.values() if len(places) > 1]
    return [
        tuple(Again(str(places[n]), tuple(o for o in places if o != n)) for places in twice if n in places)
        for n in range(len(steps))
    ]


def _by_backend(kernels: Sequence[KernelReport]) -> dict[str, dict[str, float]]:
    """Kernels and microseconds of each backend, the dearest first."""
    sums: dict[str, dict[str, float]] = {}
    for k in kernels:
        own = sums.setdefault(k.backend, {"kernels": 0, "us": 0.0})
        own["kernels"] += 1
        own["us"] += k.cost_us
    return dict(sorted(sums.items(), key=lambda item: -item[1]["us"]))
