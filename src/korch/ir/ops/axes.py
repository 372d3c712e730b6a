"""How axes and attributes look where channels, the second axis of an activation, are the last one."""

from __future__ import annotations

from typing import Any


def first_to_last(rank: int) -> tuple[int, ...]:
    """The permutation from channels-first to channels-last."""
    return (0, *range(2, rank), 1)


def last_to_first(rank: int) -> tuple[int, ...]:
    """The permutation from channels-last to channels-first."""
    return (0, rank - 1, *range(1, rank - 1))


def channels_last(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values of each axis, in the order of channels-last axes."""
    return tuple(values[a] for a in first_to_last(len(values)))


def axis_last(axis: int, rank: int) -> int:
    """The number of the axis where channels are last."""
    return first_to_last(rank).index(axis)


def along_last(attrs: dict[str, Any], rank: int) -> dict[str, Any]:
    """Of a primitive that works along one axis."""
    return attrs | {"axis": axis_last(attrs["axis"], rank)}


def window_last(attrs: dict[str, Any], rank: int) -> dict[str, Any]:
    """Of a primitive that has spatial axes, wherever these are."""
    return attrs | {"channels_last": 1}
