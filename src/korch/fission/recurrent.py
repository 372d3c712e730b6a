"""LSTM, GRU and RNN: one product for the inputs of all steps, and the recurrence behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np

from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value
from korch.ir.ops.recurrent import GATES, REVERSED

USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
"""Activations that ONNX takes where none are named."""


class Attributes(TypedDict, total=False):
    """What ONNX says of all three alike."""

    hidden_size: int
    direction: str
    activations: Sequence[str]
    clip: float
    layout: int


@dataclass(frozen=True)
class _Network:
    """What all three have in common: weights w [D,G*H,I] and r [D,G*H,H], bias [D,2*G*H], the first state [D,B,H]."""

    kind: str
    hidden_size: int = 0
    direction: str = "forward"
    activations: Sequence[str] = ()
    clip: float = 0.0
    layout: int = 0

    @property
    def relu(self) -> bool:
        return self.kind == "RNN" and set(self.activations) == {"Relu"}

    def refusal(self, x: Value, sequence_lens: Value | None) -> Opaque | None:
        """Why there is no definition, for what all three may have."""
        if x.dtype not in ("float32", "float64"):  # the latter for the reference: onnxruntime has no such kernels
            return Opaque(f"it computes with {x.dtype}")
        steps = x.shape[1 if self.layout else 0]
        if sequence_lens is not None and (sequence_lens.array is None or (sequence_lens.array != steps).any()):
            return Opaque("its sequences have lengths of their own")
        usual = USUAL[self.kind] * len(REVERSED[self.direction])
        if self.activations and not self.relu and list(self.activations) != usual:
            return Opaque(f"its activations are {', '.join(self.activations)}")
        return Opaque("it clips what its gates sum") if self.clip else None

    def outputs(
        self,
        b: Builder,
        x: Value,
        w: Value,
        r: Value,
        bias: Value | None,
        state: Value | None,
        cells: Value | None,
        outputs: int,
    ) -> tuple[Value, ...]:
        """Y, Y_h and, of an LSTM, Y_c."""
        gates, hidden, directions = GATES[self.kind], r.shape[2], r.shape[0]
        x = b.op("Transpose", x, perm=(1, 0, 2)) if self.layout else x
        steps, batch, size = x.shape
        given = self._given(b, b.op("Reshape", x, shape=(steps * batch, size)), w, bias)
        given = b.op("Reshape", given, shape=(steps, batch, directions, gates * hidden))
        extras = [self._state(b, cells, batch, r)] if self.kind == "LSTM" else []
        extras += [self._reset_bias(b, bias, r)] if self.kind == "GRU" else []
        last = int(outputs > 2)
        every = b.op(
            "Recurrence",
            given,
            r,
            self._state(b, state, batch, r),
            *extras,
            kind=self.kind,
            direction=self.direction,
            relu=int(self.relu),
            cells=last,
        )
        shape = (directions, batch, hidden)
        y = every if not last else _rows(b, every, 0, (steps, *shape))
        ends = [
            _rows(b, every, 0 if back else steps - 1, (1, 1, batch, hidden), d)
            for d, back in enumerate(REVERSED[self.direction])
        ]
        results = [y, b.op("Reshape", b.op("Concat", *ends, axis=1), shape=shape)]
        results += [b.op("Reshape", _rows(b, every, steps, (1, *shape)), shape=shape)] if last else []
        if self.layout:
            turned = b.op("Transpose", results[0], perm=(2, 0, 1, 3))
            results = [turned, *(b.op("Transpose", v, perm=(1, 0, 2)) for v in results[1:])]
        return tuple(results)

    def _given(self, b: Builder, rows: Value, w: Value, bias: Value | None) -> Value:
        """What the inputs of all steps give to the gates of all directions: rows [T*B,I] to [T*B,D*G*H]."""
        directions, width, size = w.shape
        product = rows @ b.op("Transpose", b.op("Reshape", w, shape=(directions * width, size)), perm=(1, 0))
        if bias is None:
            return product
        own, recurrent = (
            b.op("Slice", bias, starts=(0, i * width), lengths=(directions, width), steps=(1, 1)) for i in range(2)
        )
        if self.kind == "GRU":  # the last third is scaled by the reset gate
            ahead = np.ones((1, width), rows.dtype)
            ahead[:, 2 * width // 3 :] = 0
            recurrent = recurrent * b.constant(ahead)
        return product + b.op("Reshape", own + recurrent, shape=(1, directions * width))

    def _state(self, b: Builder, given: Value | None, batch: int, r: Value) -> Value:
        if given is None:
            return b.filled((r.shape[0], batch, r.shape[2]), 0, r.dtype)
        return b.op("Transpose", given, perm=(1, 0, 2)) if self.layout else given

    def _reset_bias(self, b: Builder, bias: Value | None, r: Value) -> Value:
        directions, _, hidden = r.shape
        if bias is None:
            return b.filled((directions, hidden), 0, r.dtype)
        return b.op("Slice", bias, starts=(0, 5 * hidden), lengths=(directions, hidden), steps=(1, 1))


def _rows(b: Builder, x: Value, first: int, lengths: tuple[int, ...], direction: int = 0) -> Value:
    return b.op("Slice", x, starts=(first, direction, 0, 0), lengths=lengths, steps=(1, 1, 1, 1))


@fission("LSTM", since=7)
def lstm(
    b: Builder,
    x: Value,
    w: Value,
    r: Value,
    bias: Value | None = None,
    sequence_lens: Value | None = None,
    state: Value | None = None,
    cells: Value | None = None,
    peepholes: Value | None = None,
    *,
    input_forget: int = 0,
    outputs: int = 1,
    **attrs: Unpack[Attributes],
) -> tuple[Value, ...] | Opaque:
    """x [T,B,I], or [B,T,I] in layout 1, over w [D,4H,I] and r [D,4H,H]."""
    if peepholes is not None or input_forget:
        return Opaque("it has peepholes or coupled gates")
    network = _Network("LSTM", **attrs)
    return network.refusal(x, sequence_lens) or network.outputs(b, x, w, r, bias, state, cells, outputs)


@fission("GRU", "RNN", since=7)
def gru_or_rnn(
    b: Builder,
    x: Value,
    w: Value,
    r: Value,
    bias: Value | None = None,
    sequence_lens: Value | None = None,
    state: Value | None = None,
    *,
    linear_before_reset: int = 0,
    op: str,
    outputs: int = 1,
    **attrs: Unpack[Attributes],
) -> tuple[Value, ...] | Opaque:
    """x [T,B,I], or [B,T,I] in layout 1, over w [D,3H,I] and r [D,3H,H] for a GRU, [D,H,I] and [D,H,H] for an RNN."""
    if op == "GRU" and not linear_before_reset:
        return Opaque("its reset gate comes before the product")
    network = _Network(op, **attrs)
    return network.refusal(x, sequence_lens) or network.outputs(b, x, w, r, bias, state, None, outputs)
