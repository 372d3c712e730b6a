"""The machine's rates, measured once and remembered."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import inf, isfinite

from korch.backends.contract import Kernel
from korch.backends.table import backends, entries
from korch.errors import BackendError
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive, freeze
from korch.ir.tensor import Tensor
from korch.machine import Machine
from korch.profile.database import Database, known_machine
from korch.profile.physics import Physics
from korch.profile.profiler import Profiler
from korch.profile.results import Measurement
from korch.profile.setting import measuring_code
from korch.profile.task import Rates
from korch.system.digest import digest

SIDE = 1024  # of the matrix product that competes for the peak
ROW = 256
SIZES = tuple(ROW * 4**k for k in range(9))  # elements
MARGIN = 0.9  # of the best time seen: what remains a lower bound when the machine has a better day
FUNCTIONS = ("Exp", "Log", "Tanh", "Erf", "Sigmoid", "Softplus", "Sqrt", "Reciprocal")
SAMPLE = 1 << 16  # elements on which a function is timed: in cache, and large against a launch


def machine(threads: int, database: Database, profiler: Profiler | None = None) -> Machine:
    """The calibrated machine; measured in a few seconds where the database does not have it."""
    if profiler:
        result = _known(profiler) or _measured(profiler)
        rates = Physics.of(result)
        profiler.physics.raised(rates.peak, rates.bandwidth)
        return result
    with Profiler(threads, database) as own:
        return _known(own) or _measured(own)


def _key(profiler: Profiler) -> str:
    versions = (entry.version for entry in entries() if entry.target == "cpu")  # what is timed is their code
    return digest("machine", measuring_code(), *asdict(profiler.setting).values(), *versions)


def _known(profiler: Profiler) -> Machine | None:
    return known_machine(profiler.database, _key(profiler))


def _measured(profiler: Profiler) -> Machine:
    rates = profiler.calibrate()
    if not isinstance(rates, Rates):
        raise BackendError(f"the machine cannot be calibrated: {rates.reason}")
    name = profiler.setting.processor.split("|")[0]
    peak = max(rates.peak, _product_rate(profiler))
    result = Machine(
        profiler.setting.threads, peak, rates.bandwidths, rates.launch, name, _moves(profiler), _elements(profiler)
    )
    if result.moves and result.elements:  # else nothing could be measured, which need not stay so
        profiler.database.record_machine(_key(profiler), json.dumps(asdict(result)))
    return result


def _product_rate(profiler: Profiler) -> float:
    """Operations a second of the fastest library's matrix product, 0 without one."""
    kernels = [k for k in _products(profiler.setting.threads) if k.libraries]
    results = profiler.measure(kernels)
    return max((2 * SIDE**3 / r.seconds for r in results if isinstance(r, Measurement)), default=0.0)


def _products(threads: int) -> list[Kernel]:
    x, y = Tensor("x", "float32", (SIDE, SIDE)), Tensor("y", "float32", (SIDE, SIDE), const=True)
    cone = Cone.of([Primitive("MatMul", (x, y), Tensor("z", "float32", (SIDE, SIDE)))])
    return [k for b in backends() if b.refuses(cone) is None for k in b.build(cone, threads)]


def _moves(profiler: Profiler) -> tuple[tuple[int, float], ...]:
    """The faster of writing what is read, and reading alone, at every size; never less for more bytes."""
    write = [_chain(n, "Relu") for n in SIZES]
    read = [_row_sums(2 * n) for n in SIZES]
    seconds = _seconds(profiler, [*write, *read])
    best = [min(a, b) * MARGIN for a, b in zip(seconds[: len(SIZES)], seconds[len(SIZES) :], strict=True)]
    rising = [min(best[i:]) for i in range(len(best))]
    return tuple((8 * n, s) for n, s in zip(SIZES, rising, strict=True) if isfinite(s))


def _elements(profiler: Profiler) -> tuple[tuple[str, float], ...]:
    """What a function costs: a chain of four against one of Relus."""
    chains = [_chain(SAMPLE, *["Relu"] * 4), *(_chain(SAMPLE, *[f] * 4) for f in FUNCTIONS)]
    plain, *others = _seconds(profiler, chains)
    each = {
        f: MARGIN * max(s - plain, 0.0) / (4 * SAMPLE) for f, s in zip(FUNCTIONS, others, strict=True) if isfinite(s)
    }
    for f, within in (("Exp", "Sigmoid"), ("Log", "Softplus")):  # which waits for itself in a chain less than alone
        each[f] = min(each.get(f, inf), each.get(within, inf))
    return tuple((f, s) for f, s in each.items() if isfinite(s))


def _seconds(profiler: Profiler, cones: list[Cone]) -> list[float]:
    """The fastest right kernel's time for each cone."""
    offered = [
        [k for b in backends() if not b.fallback and b.refuses(c) is None for k in b.build(c, profiler.setting.threads)]
        for c in cones
    ]
    results = iter(profiler.measure([k for kernels in offered for k in kernels]))
    times = [[r.seconds for r in (next(results) for _ in kernels) if isinstance(r, Measurement)] for kernels in offered]
    return [min(t, default=inf) for t in times]


def _chain(size: int, *ops: str) -> Cone:
    tensors = [Tensor(f"t{i}", "float32", (size // ROW, ROW)) for i in range(len(ops) + 1)]
    return Cone.of(Primitive(op, (tensors[i],), tensors[i + 1]) for i, op in enumerate(ops))


def _row_sums(size: int) -> Cone:
    x, y = Tensor("x", "float32", (size // ROW, ROW)), Tensor("y", "float32", (size // ROW, 1))
    return Cone.of([Primitive("ReduceSum", (x,), y, freeze({"axes": (1,), "keepdims": 1}))])
