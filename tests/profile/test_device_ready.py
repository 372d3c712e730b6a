"""What waits to be measured: who gets it, and when nobody does."""

from __future__ import annotations

from threading import Thread

from korch.profile.cuda.ready import ReadyQueue


def queue(*others: str, room: int = 9) -> ReadyQueue[str]:
    """Of texts, whose first letter is their kind."""
    return ReadyQueue(room, others, lambda item: item[0])


def test_who_takes_stays_with_a_kind_and_away_from_those_of_others():
    row = queue()
    for item in ("a1", "a2", "b1", "a3", "b2", "c1"):
        row.put(item)
    assert [row.take(0), row.take(1), row.take(0), row.take(1)] == ["a1", "b1", "a2", "b2"]
    assert [row.take(2), row.take(1)] == ["c1", "a3"], "nobody else is left to take it"


def test_when_all_kinds_are_taken_the_oldest_is_next():
    row = queue()
    for item in ("a1", "a2", "a3"):
        row.put(item)
    assert [row.take(0), row.take(1), row.take(2)] == ["a1", "a2", "a3"]


def test_what_was_put_comes_before_what_fills_the_time_unless_that_is_alike():
    row = queue("c1", "b1")
    row.put("a1")
    assert [row.take(0), row.take(1)] == ["a1", "c1"]
    row.put("a2")
    assert [row.take(1), row.take(0)] == ["b1", "a2"]


def test_puts_wait_for_room_and_takes_for_puts():
    row, taken = queue(room=1), list[str | None]()
    row.put("a1")
    waiting = Thread(target=row.put, args=("a2",))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    assert row.take(0) == "a1"
    waiting.join(5)
    assert not waiting.is_alive() and row.take(0) == "a2"
    late = Thread(target=lambda: taken.append(row.take(0)))
    late.start()
    row.put("a3")
    late.join(5)
    assert taken == ["a3"]


def test_a_closed_shelf_gives_nothing_and_keeps_nobody_waiting():
    full, empty, taken = queue(room=1), queue(), list[str | None]()
    full.put("a1")
    threads = [Thread(target=full.put, args=("a2",)), Thread(target=lambda: taken.append(empty.take(0)))]
    for thread in threads:
        thread.start()
    full.close()
    empty.close()
    for thread in threads:
        thread.join(5)
    assert not any(t.is_alive() for t in threads) and taken == [None] and full.take(0) is None
