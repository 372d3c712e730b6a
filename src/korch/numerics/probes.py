"""The gain from an error in a tensor to the outputs, by probes: the model runs with and without noise in that tensor.

The gain is the largest change of an output, relative to the output's largest magnitude, for noise of one unit (root
mean square). That is the judge's measure: a rounding error times its gain is the error that the judge finds. Roundings
are independent noise (Widrow & Kollár, "Quantization Noise", 2008). A probe's noise is normal and white, so small that
the model is nearly linear for it (`NOISE`), and so large that float32's own rounding does not matter. So onnxruntime
runs the probes, 4 to 7 times as fast as the float64 reference (`candy` 0.2 instead of 1.4 s, `resnet` 0.1 instead of
0.5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx

from korch.errors import ModelError, line_of
from korch.ir.graph import Graph
from korch.ir.onnx_write import graph_to_onnx
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.numerics.exact import Arrays
from korch.system.deadline import Deadline
from korch.system.sessions import plain_session

NOISE = 2.0**-8
"""Root mean square of a probe's noise, of that of its tensor."""
MIN_PROBES = 2
"""Tensors that are probed however late it is."""

Gains = tuple[float, ...]
"""To each output: its largest change, of its largest magnitude, for noise of one unit."""


class Probes:
    """The choice-free model `plain` with a place for noise in each of `tensors`. `values`: of these and of the tensors
    `wanted` on `feeds`, without noise. ModelError where onnxruntime cannot run it."""

    def __init__(self, plain: Graph, tensors: Iterable[Tensor], wanted: Iterable[Tensor], feeds: Arrays) -> None:
        self.tensors = tuple(tensors)
        kept = tuple(t for t in dict.fromkeys([*self.tensors, *wanted]) if t not in plain.inputs)
        self.outputs = tuple(t for t in dict.fromkeys(plain.outputs) if t.is_float and not t.const)
        self._rng = np.random.default_rng(0)
        self._feeds: dict[str, Array] = {t.name: np.asarray(feeds[t.name]) for t in plain.inputs}
        self._feeds |= {noise_of(t).name: np.zeros((), t.dtype) for t in self.tensors}
        self._session = _session(_noisy(plain, self.tensors, tuple(dict.fromkeys((*self.outputs, *kept)))))
        found = self._run(tuple(dict.fromkeys((*self.outputs, *kept))), {})
        self.values: Mapping[Tensor, Array] = {**found, **{t: self._feeds[t.name] for t in plain.inputs}}

    def gains(self, t: Tensor) -> Gains:
        """From `t` to each of `outputs`."""
        size = float(np.sqrt(np.mean(np.square(self.values[t], dtype=np.float64)))) or 1.0
        noise = self._rng.standard_normal(t.shape, np.float32) * np.float32(NOISE * size)
        found = self._run(self.outputs, {noise_of(t).name: noise.astype(t.dtype)})
        return tuple(_change(found[o], self.values[o]) / (NOISE * size) for o in self.outputs)

    def all_gains(self, until: Deadline) -> dict[Tensor, Gains]:
        """From each of `tensors`. Those that are not reached by `until` take a mean of the nearest ones that are: the
        geometric one, weighted by their distances in the order of `tensors`."""
        known: dict[int, Gains] = {}
        for i in _spread_out(len(self.tensors)):
            if until.passed and len(known) >= MIN_PROBES:
                break
            known[i] = self.gains(self.tensors[i])
        return {t: known.get(i) or _between(known, i) for i, t in enumerate(self.tensors)}

    def _run(self, wanted: Sequence[Tensor], noise: Arrays) -> dict[Tensor, Array]:
        names = [_output_of(t) for t in wanted]
        try:
            return dict(zip(wanted, self._session.run(names, {**self._feeds, **noise}), strict=True))
        except Exception as e:  # onnxruntime's own exceptions share no base
            raise ModelError(f"onnxruntime cannot run the model: {line_of(e)}") from e


def noise_of(t: Tensor) -> Tensor:
    """The input that is added to `t`."""
    return replace(t, name=f"{t.name}__noise")


def _output_of(t: Tensor) -> str:
    return f"{t.name}__value"


def _noisy(plain: Graph, tensors: Sequence[Tensor], ends: Sequence[Tensor]) -> onnx.ModelProto:
    """`plain` with an addition after each of `tensors`. Noise has any shape: a single zero is none."""
    probed = set(tensors)
    primitives: list[Primitive] = []
    for p in plain.primitives:
        if p.output in probed:
            raw = replace(p.output, name=f"{p.output.name}__exact")
            primitives += [replace(p, output=raw), Primitive("Add", (raw, noise_of(p.output)), p.output)]
        else:
            primitives.append(p)
    inputs, names = (*plain.inputs, *map(noise_of, tensors)), tuple(map(_output_of, ends))
    read = {t.name: plain.constants[t.name] for p in plain.primitives for t in p.inputs if t.const}  # choices have more
    parts = {"primitives": tuple(primitives), "inputs": inputs, "outputs": tuple(ends), "output_names": names}
    model, own = graph_to_onnx(replace(plain, **parts, constants=read)), {noise_of(t).name for t in tensors}
    for given in model.graph.input:
        if given.name in own:
            given.type.tensor_type.ClearField("shape")
    return model


def _session(model: onnx.ModelProto) -> Any:
    try:
        return plain_session(model.SerializeToString())
    except Exception as e:  # onnxruntime's own exceptions share no base; protobuf's for models beyond 2 GB
        raise ModelError(f"onnxruntime cannot run the model: {line_of(e)}") from e


def _between(known: Mapping[int, Gains], i: int) -> Gains:
    """The geometric mean of the nearest known gains before and after place `i`, weighted by their distances."""
    low, high = max(k for k in known if k <= i), min(k for k in known if k >= i)
    share = (i - low) / max(high - low, 1)
    return tuple(a ** (1 - share) * b**share for a, b in zip(known[low], known[high], strict=True))


def _change(found: Array, exact: Array) -> float:
    """The largest difference, of the largest magnitude."""
    finite = np.isfinite(exact)
    largest = float(np.abs(exact[finite]).max(initial=0.0))
    difference = float(np.abs(found[finite].astype(np.float64) - exact[finite]).max(initial=0.0))
    return difference / largest if largest else difference


def _spread_out(count: int) -> Iterator[int]:
    """The numbers below `count`: both ends first, then the middle of each gap.

    >>> list(_spread_out(6))
    [0, 5, 2, 1, 3, 4]
    """
    yield from dict.fromkeys([0, count - 1][:count])
    gaps = [(0, count - 1)]
    for low, high in gaps:  # grows while it is read
        if (middle := (low + high) // 2) not in (low, high):
            yield middle
            gaps += [(low, middle), (middle, high)]
