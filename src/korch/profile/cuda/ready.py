"""A queue of items for several processes, each of which is quicker with an item like its last."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Condition
from typing import Generic, TypeVar

Item = TypeVar("Item")


class ReadyQueue(Generic[Item]):
    """At most `room` items that are put, besides those of `others`, which fill the time until something is put.

    A process gets an item of the `kind` that it took last, else of a kind that no other process has, else the oldest.
    """

    def __init__(self, room: int, others: Iterable[Item], kind: Callable[[Item], str]) -> None:
        self._room, self._kind = room, kind
        self._put: list[Item] = []
        self._others = list(others)
        self._held: dict[int, str] = {}
        self._changed = Condition()
        self._closed = False

    def put(self, item: Item) -> None:
        """Waits for room; nobody gets what is put when the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._put) < self._room)
            self._put.append(item)
            self._changed.notify_all()

    def take(self, taker: int) -> Item | None:
        """Waits for something; None when the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._put or self._others)
            if self._closed:
                return None
            item = self._chosen(taker)
            self._held[taker] = self._kind(item)
            self._changed.notify_all()
            return item

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _chosen(self, taker: int) -> Item:
        own, elsewhere = self._held.get(taker, ""), set(self._held.values())
        rows = (self._put, self._others)
        wishes: list[Callable[[str], bool]] = [
            lambda kind: kind == own,
            lambda kind: kind not in elsewhere,
            lambda _: True,
        ]
        for wanted in wishes:
            for row in rows:
                for i, item in enumerate(row):
                    if wanted(self._kind(item)):
                        return row.pop(i)
        raise AssertionError("only who finds something is let in")
