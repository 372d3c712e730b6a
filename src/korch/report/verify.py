"""Is an executable its model? Its outputs beside onnxruntime's, both against float64.

The float64 values are those of the model as it is written: its weights are widened before fission, so that nothing
that Korch folds into them is rounded, and the evaluation shares no code with any backend. Errors are in units of the
output's largest magnitude; of outputs that are no floats, the share of elements that differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from korch.errors import ModelError, VerificationError
from korch.executable import Executable
from korch.executable.feeds import random_feeds
from korch.fission import fission
from korch.fission.importer import read
from korch.ir.evaluate import evaluate_graph
from korch.report.widen import widened

STRICT = 4.0
"""Of onnxruntime's own error: the bound of numerics `strict`."""
BOUNDS = {"default": 1e-4, "fast": 1e-3}
"""Of the largest magnitude, by numerics."""

Arrays = Mapping[str, np.ndarray]
Source = str | Path | bytes | onnx.ModelProto


@dataclass(frozen=True)
class OutputCheck:
    """One output: errors of Korch and of onnxruntime (not optimising) against float64, and what is allowed.

    `difference` is between the two; `tolerance` the smallest one that would hold against float64 and onnxruntime.
    """

    name: str
    korch_error: float
    onnxruntime_error: float
    difference: float
    bound: float

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
    def passed(self) -> bool:
        return self.korch_error <= self.bound


@dataclass(frozen=True)
class Verification:
    """All outputs, and the numerics class that the executable was made for."""

    numerics: str
    outputs: tuple[OutputCheck, ...]

    @property
    def passed(self) -> bool:
        return all(o.passed for o in self.outputs)

    def require(self) -> None:
        """VerificationError with the worst output where one is beyond its bound."""
        wrong = [o for o in self.outputs if not o.passed]
        if wrong:
            worst = max(wrong, key=lambda o: o.korch_error / max(o.bound, np.finfo(float).tiny))
            raise VerificationError(
                f"output {worst.name!r} is {worst.korch_error:.2e} of its largest magnitude from float64; numerics "
                f"{self.numerics} allow {worst.bound:.2e} ({len(wrong)} of {len(self.outputs)} outputs are wrong)"
            )

    def to_json(self) -> dict[str, Any]:
        """Plain data: the verdict and all numbers."""
        derived = [{"ratio": o.ratio, "tolerance": o.tolerance, "passed": o.passed} for o in self.outputs]
        outputs = [asdict(o) | d for o, d in zip(self.outputs, derived, strict=True)]
        return {"passed": self.passed, "numerics": self.numerics, "outputs": outputs}


def verify(executable: Executable, model: Source, feeds: Arrays | None = None, seed: int = 0) -> Verification:
    """Runs `executable`, onnxruntime and the float64 reference on `feeds`, or on seeded random ones.

    ModelError where the model is not the one that the executable was made from.
    """
    shapes = {port.name: port.shape for port in executable.inputs}
    prepared = _prepared(model, shapes)
    given = dict(feeds) if feeds is not None else random_feeds(executable.plan.graph.inputs, seed)
    found = executable.run(given)
    reference = float64_outputs(prepared, given)
    theirs = onnxruntime_outputs(prepared, given)
    for name in found:
        if name not in reference or reference[name].shape != found[name].shape:
            raise ModelError(f"the archive's output {name!r} is none of this model: it was made from another one")
    checks = (_check(n, found[n], theirs[n], reference[n], executable.plan.numerics) for n in found)
    return Verification(executable.plan.numerics, tuple(checks))


def _prepared(model: Source, shapes: Mapping[str, tuple[int, ...]]) -> onnx.ModelProto:
    try:
        prepared = read(model, shapes)
    except ModelError as e:
        if "a shape is given for" in str(e) or "dimensions, not" in str(e):
            raise ModelError(f"the archive was made from another model: {e}") from None
        raise
    return prepared


def float64_outputs(model: onnx.ModelProto, feeds: Arrays) -> dict[str, np.ndarray]:
    """The model's outputs, evaluated in float64; weights stay float32 where the model cannot be widened."""
    expected = [(o.name, _lengths(o)) for o in model.graph.output]
    try:
        with np.errstate(all="ignore"):
            outputs = evaluate_graph(fission(widened(model)), feeds)
        if all(lengths is None or outputs[name].shape == lengths for name, lengths in expected):
            return outputs
    except (ModelError, ValueError, TypeError):  # an operator that has no float64 form, so onnxruntime refuses it
        pass
    with np.errstate(all="ignore"):
        return evaluate_graph(fission(model), feeds)


def _lengths(info: onnx.ValueInfoProto) -> tuple[int, ...] | None:
    kind = info.type.tensor_type
    fixed = kind.HasField("shape") and all(d.HasField("dim_value") for d in kind.shape.dim)
    return tuple(d.dim_value for d in kind.shape.dim) if fixed else None


def onnxruntime_outputs(model: onnx.ModelProto, feeds: Arrays) -> dict[str, np.ndarray]:
    """The model's outputs by onnxruntime without optimisations."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    names = [o.name for o in model.graph.output]
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return dict(zip(names, map(np.asarray, session.run(names, dict(feeds))), strict=True))
    except Exception as e:  # onnxruntime's own exceptions share no base
        raise ModelError(f"onnxruntime cannot run the model: {(str(e).splitlines() or [type(e).__name__])[0]}") from e


def _check(name: str, ours: np.ndarray, theirs: np.ndarray, exact: np.ndarray, numerics: str) -> OutputCheck:
    error = error_of(theirs, exact, theirs)
    return OutputCheck(name, error_of(ours, exact, theirs), error, error_of(ours, theirs, theirs),
                       bound_of(numerics, error, ours.dtype))  # fmt: skip


def bound_of(numerics: str, onnxruntime_error: float, dtype: np.dtype[Any]) -> float:
    """The error that `numerics` allow an output of `dtype`: never less than one rounding to that dtype.

    Where the dtype rounds more coarsely than the class allows (float16), or onnxruntime itself errs more (quantized
    models, whose values at a step fall to either side), `strict` takes its place.
    """
    rounding = float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0
    strict = max(STRICT * onnxruntime_error, rounding)
    if numerics == "strict" or max(rounding, onnxruntime_error) > BOUNDS[numerics]:
        return strict
    return BOUNDS[numerics] if dtype.kind == "f" else max(BOUNDS[numerics], strict)


def error_of(found: np.ndarray, exact: np.ndarray, single: np.ndarray) -> float:
    """The error of `found` as the top of this file defines it.

    Where onnxruntime's `single` leaves the finite numbers and float64 does not, any value passes.
    """
    if not found.size:
        return 0.0
    if found.dtype.kind != "f":
        return float((found != exact).mean())
    a, b = found.astype(np.float64), exact.astype(np.float64)
    finite = np.isfinite(b)
    told = ~finite | np.isfinite(single)
    if not (np.array_equal(a[~finite], b[~finite], equal_nan=True) and np.isfinite(a[finite & told]).all()):
        return float("inf")
    distance = float(np.abs(a[finite & told] - b[finite & told]).max(initial=0.0))
    largest = float(np.abs(b[finite & told]).max(initial=0.0))
    return distance / largest if largest else distance
