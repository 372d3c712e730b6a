"""The recurrence of ONNX's LSTM, GRU and RNN: what remains of them without the product of all steps' inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.table import Array, Category, Emit, Op, Pull, Region, Shape, add, whole, write_reshape
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
"""Gates in ONNX's order: input, output, forget, cell; update, reset, hidden; the state itself."""
REVERSED = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""Which directions begin with the last step."""


def _infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    """Of x [steps, batch, directions, gates * H], recurrent weights [directions, gates * H, H], the first state
    [directions, batch, H] and for an LSTM its cells, for a GRU the bias [directions, H] that the reset gate scales:
    every state [steps, directions, batch, H], behind which with `cells` come the last cells of an LSTM."""
    x, r, state, *more = inputs
    gates, hidden = GATES[attrs["kind"]], r.shape[-1]
    steps, batch, directions = x.shape[:3]
    fits = x.shape[3] == gates * hidden and r.shape == (directions, gates * hidden, hidden)
    wanted = {"LSTM": [(directions, batch, hidden)], "GRU": [(directions, hidden)], "RNN": []}[attrs["kind"]]
    if not fits or state.shape != (directions, batch, hidden) or [t.shape for t in more] != wanted:
        shapes = ", ".join(str(list(t.shape)) for t in inputs)
        raise ValueError(f"tensors of shapes {shapes} make no {attrs['kind']}")
    if len(REVERSED[attrs["direction"]]) != directions:
        raise ValueError(f"{directions} directions are not {attrs['direction']}")
    return x.dtype, (steps + attrs["cells"], directions, batch, hidden)


def _evaluate(p: Primitive, region: Region, pull: Pull) -> Array:
    """Evaluated whole: every state depends on all before it."""
    x, r, state, *more = (pull(i, whole(t.shape)) for i, t in enumerate(p.inputs))
    states: list[list[Array]] = []
    for d, back in enumerate(REVERSED[p.attr("direction")]):
        mine = _states(
            p.attr("kind"),
            x[::-1, :, d] if back else x[:, :, d],
            r[d],
            state[d],
            *(m[d] for m in more),
            relu=p.attr("relu"),
        )
        *mine, last = mine
        states.append((mine[::-1] if back else mine) + ([last] if p.attr("cells") else []))
    y = np.asarray(states, x.dtype).reshape(len(states), -1, *p.output.shape[2:]).swapaxes(0, 1)
    return y[np.ix_(*region)]


def _states(kind: str, x: Array, r: Array, h: Array, extra: Array | None = None, relu: int = 0) -> list[Array]:
    """The state after each step of x [steps, batch, gates * H], and behind them the last cells."""
    found: list[Array] = []
    cells = h if extra is None or kind != "LSTM" else extra
    for given in x:
        if kind == "LSTM":
            i, o, f, c = np.split(given + h @ r.T, 4, axis=-1)
            cells = _sigmoid(f) * cells + _sigmoid(i) * np.tanh(c)
            h = _sigmoid(o) * np.tanh(cells)
        elif kind == "GRU":
            (z, s, n), (hz, hs, hn) = np.split(given, 3, axis=-1), np.split(h @ r.T, 3, axis=-1)
            z, fresh = _sigmoid(z + hz), np.tanh(n + _sigmoid(s + hs) * (hn + extra))
            h = (1 - z) * fresh + z * h
        else:
            total = given + h @ r.T
            h = np.maximum(total, 0) if relu else np.tanh(total)
        found.append(h)
    return [*found, cells]


def _sigmoid(x: Array) -> Array:
    return 0.5 * np.tanh(0.5 * x) + 0.5


def _write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """ONNX's operator, its product of the inputs with the identity."""
    x, r, state, *more = names
    kind, (steps, batch, directions, width) = p.attr("kind"), p.inputs[0].shape
    hidden, dtype = p.inputs[1].shape[-1], p.inputs[0].dtype
    flat = write_reshape(emit, x, (steps, batch, directions * width))
    chosen = emit.const(np.eye(directions * width, dtype=dtype).reshape(directions, width, -1))
    bias, rest = "", more
    attrs: dict[str, Any] = {"hidden_size": hidden, "direction": p.attr("direction")}
    if kind == "GRU":
        zeros, rest = emit.const(np.zeros((directions, 5 * hidden), dtype)), []
        bias = emit.node("Concat", [zeros, *more], axis=1)
        attrs["linear_before_reset"] = 1
    if p.attr("relu"):
        attrs["activations"] = ["Relu"] * directions
    y, cells = p.output.name, f"{p.output.name}_cells"
    given = [flat, chosen, r, bias, "", state, *rest]
    if not p.attr("cells"):
        emit.node(kind, given, y, **attrs)
        return
    emit.node(kind, given, f"{y}_states", more=("", cells), **attrs)
    last = write_reshape(emit, cells, (1, directions, batch, hidden))
    emit.node("Concat", [f"{y}_states", last], y, axis=0)


def _multiply_adds(p: Primitive) -> int:
    return p.inputs[0].size * p.inputs[1].shape[-1]


add(
    Op(
        "Recurrence",
        Category.OPAQUE,
        _infer,
        _evaluate,
        _write,
        recurs=True,
        terms=lambda p: max(p.inputs[1].shape[-1], 1),
        multiply_adds=_multiply_adds,
    )
)
