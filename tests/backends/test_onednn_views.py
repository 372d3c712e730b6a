"""Strided views against numpy's own, and multiply-adds against a count of every product."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from korch.backends.linear.views import View, inverse
from korch.ir import Primitive, Tensor
from korch.ir.macs import multiply_adds
from korch.ir.primitive import freeze

SHAPES = st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=4).map(tuple)


def shown(view: View, buffer: np.ndarray) -> np.ndarray:
    """What the view shows of a float64 buffer."""
    strides = [s * buffer.itemsize for s in view.strides]
    return np.lib.stride_tricks.as_strided(buffer[view.offset :], view.shape, strides)


@given(SHAPES, st.data())
def test_a_reshape_is_numpys_or_a_copy(shape, data):
    perm = data.draw(st.permutations(range(len(shape))))
    buffer = np.arange(np.prod(shape), dtype=np.float64)
    x, view = buffer.reshape(shape).transpose(perm), View.dense(0, shape).transpose(perm)
    for target in itertools.permutations((*x.shape, 1)):
        moved = view.reshape(target)
        copied = not np.shares_memory(x.reshape(target), buffer)
        assert (moved is None) == copied
        if moved is not None:
            np.testing.assert_array_equal(shown(moved, buffer), x.reshape(target))


@given(SHAPES, st.data())
def test_broadcast_then_slice_is_numpys(shape, data):
    kept = tuple(n if data.draw(st.booleans()) else 1 for n in shape)
    buffer = np.arange(np.prod(kept), dtype=np.float64)
    starts = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
    lengths = tuple(n - s for n, s in zip(shape, starts))
    view = View.dense(0, kept).broadcast((2, *shape)).slice((0, *starts), (1,) * (len(shape) + 1), (2, *lengths))
    x = np.broadcast_to(buffer.reshape(kept), (2, *shape))[(slice(None), *(slice(s, None) for s in starts))]
    np.testing.assert_array_equal(shown(view, buffer), x)


@given(st.permutations(range(5)))
def test_inverse_undoes(perm):
    view = View.dense(0, (2, 3, 4, 5, 6))
    assert view.transpose(perm).transpose(inverse(perm)) == view


@given(*(st.integers(1, n) for n in (9, 4, 3, 2)), st.integers(0, 3), st.integers(0, 3))
def test_multiply_adds_leave_padding_out(size, taps, stride, dilation, begin, end):
    reach = (taps - 1) * dilation + 1
    if size + begin + end < reach:
        return
    length = (size + begin + end - reach) // stride + 1
    attrs = {"strides": (stride,), "dilations": (dilation,), "pads": (begin, end), "group": 1, "channels_last": 0}
    x, w, y = (Tensor(n, "float32", s) for n, s in (("x", (2, 3, size)), ("w", (5, 3, taps)), ("y", (2, 5, length))))
    places = (i * stride + j * dilation - begin for i in range(length) for j in range(taps))
    expected = 2 * 3 * 5 * sum(0 <= at < size for at in places)
    assert multiply_adds(Primitive("Conv", (x, w), y, freeze(attrs))) == expected
    w = Tensor("w", "float32", (5, 3, taps))
    assert multiply_adds(Primitive("ConvTranspose", (y, w), x, freeze(attrs))) == expected
