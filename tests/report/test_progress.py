"""What progress says where there is no terminal."""

from __future__ import annotations

import logging

import pytest

from korch.report.progress import line, progress, standing
from korch.search.tuning import SearchState


def test_states_as_text():
    assert line(SearchState("reading")) == "reading"
    assert (
        line(SearchState("measuring", 3, 20, bound=1e-3, rounds=2))
        == "round 2: measuring 3 of 20 kernels, at least 1.000 ms"
    )
    assert standing(SearchState("solving", incumbent=2e-3, bound=1.5e-3)) == "best 2.000 ms, gap 25.0%"


def test_a_few_plain_lines(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    states = [SearchState("reading"), SearchState("enumerating"), SearchState("solving")]
    states += [SearchState(phase, n, 100, rounds=n) for n in range(1, 50) for phase in ("measuring", "solving")]
    with caplog.at_level(logging.INFO), progress() as report:
        for state in states:
            report(state)
    assert [r.getMessage() for r in caplog.records] == ["reading", "enumerating", "solving"]


def test_quiet_says_nothing(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]):
    with caplog.at_level(logging.DEBUG), progress(quiet=True) as report:
        report(SearchState("reading"))
    assert not caplog.records and capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress(quiet=True) as report:
        report(SearchState("measuring", 3, 20, incumbent=2e-3, bound=1.5e-3, rounds=2))
        report(SearchState("solving", rounds=3))
    assert capsys.readouterr().out == ""
