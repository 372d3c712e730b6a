"""LSTM, GRU and RNN against onnxruntime."""

import numpy as np
import pytest

from .oracle import check, check_model, node_model, run, values

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def _inputs(kind, directions=1, steps=4, batch=2, size=3, hidden=5, layout=0):
    width = GATES[kind] * hidden
    state = (batch, directions, hidden) if layout else (directions, batch, hidden)
    x = values(batch, steps, size) if layout else values(steps, batch, size)
    w, r = values(directions, width, size, seed=1), values(directions, width, hidden, seed=2)
    bias, first = values(directions, 2 * width, seed=3), values(*state, seed=4)
    return [x, w, r, bias, None, first, *([values(*state, seed=5)] if kind == "LSTM" else [])]


def _feeds(inputs):
    return {f"x{i}": x for i, x in enumerate(inputs) if x is not None}


def _attributes(kind, **more):
    return {"hidden_size": 5, **({"linear_before_reset": 1} if kind == "GRU" else {}), **more}


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize(("direction", "directions"), [("forward", 1), ("reverse", 1), ("bidirectional", 2)])
def test_every_direction_and_output(kind, direction, directions):
    inputs = _inputs(kind, directions)
    for outputs in range(1, 4 if kind == "LSTM" else 3):
        graph = check(kind, *inputs, constants=[1, 2, 3], outputs=outputs, **_attributes(kind, direction=direction))
        assert [p.op for p in graph.primitives].count("MatMul") == 1


@pytest.mark.parametrize("kind", GATES)
def test_what_is_left_out(kind):
    check(kind, *_inputs(kind)[:3], **_attributes(kind))
    check(kind, *_inputs(kind, steps=1)[:4], constants=[1, 2], **_attributes(kind))


@pytest.mark.parametrize("kind", GATES)
def test_batches_first(kind):
    """onnxruntime has no such layout: it is given what the turned tensors are."""
    attrs, inputs = _attributes(kind, direction="bidirectional"), _inputs(kind, 2, layout=1)
    turned = [x.swapaxes(0, 1) if i in (0, 5, 6) and x is not None else x for i, x in enumerate(inputs)]
    outputs = 3 if kind == "LSTM" else 2
    y, *ends = run(node_model(kind, turned, outputs=outputs, **attrs), _feeds(turned))
    wanted = [y.transpose(2, 0, 1, 3), *(e.swapaxes(0, 1) for e in ends)]
    check_model(node_model(kind, inputs, outputs=outputs, layout=1, **attrs), _feeds(inputs), wanted)


def test_a_network_of_relus():
    check("RNN", *_inputs("RNN", 2), **_attributes("RNN", direction="bidirectional", activations=["Relu", "Relu"]))


def test_lengths_that_are_all_of_the_sequence():
    inputs = _inputs("GRU")
    inputs[4] = np.asarray([4, 4], np.int32)
    check("GRU", *inputs, constants=[4], **_attributes("GRU"))


def test_the_unusual_stays_whole():
    inputs = _inputs("LSTM")
    check("LSTM", *inputs, values(1, 15, seed=6), opaque=True, **_attributes("LSTM"))
    check("LSTM", *inputs, opaque=True, **_attributes("LSTM", clip=1.0))
    check("LSTM", *inputs, opaque=True, **_attributes("LSTM", activations=["HardSigmoid", "Tanh", "Tanh"]))
    check("GRU", *_inputs("GRU"), opaque=True, hidden_size=5)
    inputs[4] = np.asarray([4, 3], np.int32)
    check("LSTM", *inputs, constants=[4], opaque=True, **_attributes("LSTM"))
