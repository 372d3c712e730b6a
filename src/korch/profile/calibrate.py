"""The machine's rates, measured once and remembered."""

from __future__ import annotations

import json
from dataclasses import asdict

from korch.backends.contract import Kernel
from korch.backends.table import backends
from korch.errors import BackendError
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.machine import Machine
from korch.profile.database import Database
from korch.profile.profiler import Profiler
from korch.profile.results import Measurement
from korch.profile.setting import digest
from korch.profile.task import Rates

SIDE = 1024  # of the matrix product that competes for the peak


def machine(threads: int, database: Database, profiler: Profiler | None = None) -> Machine:
    """The calibrated machine; measured in a few seconds where the database does not have it."""
    if profiler:
        return _known(profiler) or _measured(profiler)
    with Profiler(threads, database) as own:
        return _known(own) or _measured(own)


def _key(profiler: Profiler) -> str:
    return digest("machine", profiler.timing.name, *asdict(profiler.setting).values())


def _known(profiler: Profiler) -> Machine | None:
    text = profiler.database.machine(_key(profiler))
    if text is None:
        return None
    facts = json.loads(text)
    return Machine(**{**facts, "bandwidths": tuple((int(size), float(rate)) for size, rate in facts["bandwidths"])})


def _measured(profiler: Profiler) -> Machine:
    rates = profiler.calibrate()
    if not isinstance(rates, Rates):
        raise BackendError(f"the machine cannot be calibrated: {rates.reason}")
    name = profiler.setting.processor.split("|")[0]
    peak = max(rates.peak, _product_rate(profiler))
    result = Machine(profiler.setting.threads, peak, rates.bandwidths, rates.launch, name)
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
    return [k for b in backends() if b.declines(cone) is None for k in b.build(cone, threads)]
