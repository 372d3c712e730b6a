"""What a recurrence takes; what it computes is tested with the fission of LSTM, GRU and RNN."""

import pytest

from korch.ir import Builder


@pytest.mark.parametrize(
    ("x", "r", "state", "direction"),
    [
        ((5, 2, 1, 16), (1, 12, 4), (1, 2, 4), "forward"),
        ((5, 2, 1, 16), (1, 16, 4), (1, 3, 4), "forward"),
        ((5, 2, 1, 16), (1, 16, 4), (1, 2, 4), "bidirectional"),
        ((5, 2, 2, 16), (1, 16, 4), (1, 2, 4), "forward"),
    ],
)
def test_shapes_that_do_not_fit(x, r, state, direction):
    b = Builder()
    given = [b.input(name, "float32", shape) for name, shape in (("x", x), ("r", r), ("h", state), ("c", state))]
    with pytest.raises(ValueError, match=r"make no LSTM|are not bidirectional"):
        b.op("Recurrence", *given, kind="LSTM", direction=direction, relu=0, cells=0)


def test_the_last_cells_lie_behind_the_states():
    b = Builder()
    given = [b.input(str(i), "float32", shape) for i, shape in enumerate(((5, 2, 1, 16), (1, 16, 4), *[(1, 2, 4)] * 2))]
    attrs = {"kind": "LSTM", "direction": "reverse", "relu": 0}
    assert b.op("Recurrence", *given, cells=1, **attrs).shape == (6, 1, 2, 4)
    assert b.op("Recurrence", *given, cells=0, **attrs).shape == (5, 1, 2, 4)
