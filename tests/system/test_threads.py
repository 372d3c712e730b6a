"""Work for which no thread can be started is done all the same, once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

import pytest

from korch.system.threads import ThreadPool


@pytest.fixture
def no_thread(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets so many threads start, and then none."""
    start = Thread.start

    def limit(most: int) -> None:
        left = [most]

        def limited(thread: Thread) -> None:
            if not left[0]:
                raise RuntimeError("can't start new thread")
            left[0] -= 1
            start(thread)

        monkeypatch.setattr(Thread, "start", limited)

    return limit


@pytest.mark.parametrize("most", [0, 1, 2])
def test_all_work_is_done_once(no_thread, most: int):
    done = list[int]()
    no_thread(most)
    with ThreadPool(3) as pool:
        assert list(pool.map(lambda i: done.append(i) or i * i, range(20))) == [i * i for i in range(20)]
    assert sorted(done) == list(range(20))


def test_what_a_thread_has_queued_already_is_not_done_again(no_thread):
    """The only thread is busy when another is to start: the caller does the work, and the thread skips it."""
    no_thread(1)
    held, done = Event(), list[int]()
    with ThreadPool(2) as pool:
        pool.submit(held.wait)
        assert pool.submit(lambda: done.append(1) or 7).result(0) == 7
        held.set()
    assert done == [1]


def test_an_exception_is_that_of_the_work(no_thread):
    no_thread(0)
    with ThreadPool(1) as pool:
        failed = pool.submit(lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            failed.result()


def test_a_pool_that_was_shut_down_takes_no_work():
    pool = ThreadPool(1)
    pool.shutdown()
    with pytest.raises(RuntimeError, match="shutdown"):
        pool.submit(int)
