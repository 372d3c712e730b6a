"""Is an executable its model? Its outputs beside onnxruntime's, both against float64.

What the float64 values are says `numerics/exact.py`, what counts as an error and what is allowed `numerics/error.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from korch.errors import ModelError, VerificationError
from korch.executable import Executable
from korch.executable.by_step import first_wrong, rounds_to_bytes
from korch.executable.feeds import other_feeds, port_feeds, random_feeds
from korch.executable.plan import Plan
from korch.executable.segmented import Segmented
from korch.fission.importer import ordered, read
from korch.ir.ops.table import is_array
from korch.numerics.bounds import own_bound
from korch.numerics.error import amplifies, bound_of, error_of, too_ill
from korch.numerics.exact import Arrays, float64_outputs, onnxruntime_outputs
from korch.system.sessions import plain_session

Source = str | Path | bytes | onnx.ModelProto


@dataclass(frozen=True)
class OutputCheck:
    """One output: errors of Korch and of onnxruntime (not optimising) against float64, and what is allowed; `bound` is
    None where onnxruntime errs so much that the output cannot be judged.

    `difference` is between the two; `tolerance` the smallest one that would hold against float64 and onnxruntime.
    """

    name: str
    korch_error: float
    onnxruntime_error: float
    difference: float
    bound: float | None

    @property
    def ratio(self) -> float:
        """Korch's error in units of onnxruntime's; 1 where both are exact."""
        if not self.onnxruntime_error:
            return float("inf") if self.korch_error else 1.0
        return self.korch_error / self.onnxruntime_error

    @property
    def tolerance(self) -> float:
        return max(self.korch_error, self.difference)

    @property
    def judged(self) -> bool:
        return self.bound is not None

    @property
    def passed(self) -> bool:
        return self.bound is not None and self.korch_error <= self.bound

    @property
    def verdict(self) -> str:
        """In a word or two."""
        return "cannot be judged" if not self.judged else "ok" if self.passed else "WRONG"


@dataclass(frozen=True)
class Verification:
    """All outputs, and the numerics class that the executable was made for. `by_step`: each step of the program is
    right on what those before it made. That is the verdict where bytes fall to either side of a step."""

    numerics: str
    outputs: tuple[OutputCheck, ...]
    by_step: bool = False

    @property
    def passed(self) -> bool:
        return self.by_step or all(o.passed for o in self.outputs)

    def require(self) -> None:
        """VerificationError with the worst output where one is beyond its bound, or with one that cannot be judged."""
        if self.passed:
            return
        wrong = [(o, o.bound) for o in self.outputs if o.bound is not None and not o.passed]
        if wrong:
            worst, bound = max(wrong, key=lambda w: w[0].korch_error / max(w[1], np.finfo(float).tiny))
            raise VerificationError(
                f"output {worst.name!r} is {worst.korch_error:.2e} of its largest magnitude from float64; numerics "
                f"{self.numerics} allow {bound:.2e} ({len(wrong)} of {len(self.outputs)} outputs are wrong)"
            )
        for o in self.outputs:
            if not o.judged:
                raise VerificationError(
                    f"output {o.name!r} cannot be judged: {too_ill(o.onnxruntime_error)}; give others with --input"
                )

    def to_json(self) -> dict[str, Any]:
        """Plain data: the verdict and all numbers."""
        derived = [
            {"ratio": o.ratio, "tolerance": o.tolerance, "judged": o.judged, "passed": o.passed} for o in self.outputs
        ]
        outputs = [asdict(o) | d for o, d in zip(self.outputs, derived, strict=True)]
        return {"passed": self.passed, "numerics": self.numerics, "by_step": self.by_step, "outputs": outputs}


def verify(executable: Executable, model: Source, feeds: Arrays | None = None, seed: int = 0) -> Verification:
    """Runs `executable`, onnxruntime and the float64 reference on `feeds`, or on seeded random ones: where these tell
    nothing, as onnxruntime itself errs too much on them, on others.

    ModelError where the model is not the one that the executable was made from.
    """
    if isinstance(executable, Segmented):
        return _beside_onnxruntime(executable, model, feeds, seed)
    shapes = {port.name: port.shape for port in executable.inputs}
    values = json.loads(dict(executable.plan.options).get("values", "{}"))
    prepared = _prepared(model, shapes, values)
    graph = executable.plan.graph
    given = feeds if feeds is not None else random_feeds(graph, seed)
    result = _compared(executable, prepared, given)
    others: Iterable[Arrays] = other_feeds(graph) if feeds is None else ()
    for other in others:
        if all(o.judged for o in result.outputs):
            break
        result = _compared(executable, prepared, given := other)
    raised = all(o.passed or amplifies(result.numerics, o.bound) for o in result.outputs)
    if result.passed or not (raised and rounds_to_bytes(executable.plan)):
        return result
    return replace(result, by_step=not first_wrong(executable.plan, given, lambda plan: _outputs(plan, given)))


def _outputs(plan: Plan, feeds: Arrays) -> Arrays:
    with Executable.link(plan, plan.threads) as program:
        return program.run(feeds)


def _compared(executable: Executable, prepared: onnx.ModelProto, given: Arrays) -> Verification:
    found = executable.run(given)
    reference = float64_outputs(prepared, given)
    theirs = onnxruntime_outputs(prepared, given)
    for name in found:
        if name not in reference or reference[name].shape != found[name].shape:
            raise ModelError(f"the archive's output {name!r} is none of this model: it was made from another one")
    checks = (_check(n, found[n], theirs[n], reference[n], executable.plan.numerics) for n in found)
    return Verification(executable.plan.numerics, tuple(checks))


def _beside_onnxruntime(program: Segmented, model: Source, feeds: Arrays | None, seed: int) -> Verification:
    """The outputs beside onnxruntime's on the whole model: there is no float64 reference for what it runs itself."""
    given = dict(feeds) if feeds is not None else port_feeds(program.inputs, seed)
    found = program.run(given)
    session = plain_session(ordered(model, program.values).SerializeToString(), program.threads)
    pairs = zip(found, session.run(list(found), given), strict=True)
    theirs = {n: x for n, x in pairs if is_array(x) and x.dtype.kind in "iubf"}
    checks = (_check(n, found[n], x, x.astype(np.float64), program.numerics) for n, x in theirs.items())
    return Verification(program.numerics, tuple(checks))


def _prepared(model: Source, shapes: Mapping[str, tuple[int, ...]], values: Mapping[str, Any]) -> onnx.ModelProto:
    try:
        prepared = read(model, shapes, values)
    except ModelError as e:
        if "a shape is given for" in str(e) or "dimensions, not" in str(e):
            raise ModelError(f"the archive was made from another model: {e}") from None
        raise
    return prepared


def _check(name: str, ours: np.ndarray, theirs: np.ndarray, exact: np.ndarray, numerics: str) -> OutputCheck:
    found, error = error_of(ours, exact, theirs), error_of(theirs, exact, theirs)
    bound = own_bound(numerics)
    if bound is None or found > bound:
        bound = bound_of(numerics, error, ours.dtype)
    return OutputCheck(name, found, error, error_of(ours, theirs, theirs), bound)
