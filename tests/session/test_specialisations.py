"""Which program serves which shapes, and what is made next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from korch.options import Options
from korch.session import trial
from korch.session.archives import Outcome
from korch.session.source import ModelSource
from korch.session.specialisations import WAITING_PER_PROGRAM, Specialisations, SpecialisationState


class Program:
    def run(self, feeds: object, outputs: object = None) -> dict[str, object]:
        return {}


class Archive:
    """In the place of a `Place`: what is opened, and the outcome that is known of it."""

    def __init__(self, program: object = None) -> None:
        self.program = program

    def open(self) -> object:
        return self.program


@pytest.fixture
def programs(tmp_path: Path) -> Specialisations:
    return Specialisations(ModelSource(b"model"), ["x"], Options(2), tmp_path, {}, limit=2)


def wanted(programs: Specialisations, *lengths: int) -> None:
    for n in lengths:
        programs.find(((n,),))
    while programs.recalled():
        pass


def request(programs: Specialisations) -> Any:
    """What is made next."""
    return programs.first_request() or programs.longer_request()


def settle(programs: Specialisations, n: int, outcome: Outcome) -> None:
    programs.settle(programs.find(((n,),)), outcome, Archive(Program() if outcome.usable else None))


def lengths(programs: Specialisations) -> dict[int, str]:
    return {s.shapes["x"][0]: s.state for s in programs.statuses()}


def test_what_was_used_last_is_made_first(programs: Specialisations):
    wanted(programs, 1, 2, 3)
    programs.known(((1,),))
    asked = [request(programs) for _ in range(4)]
    assert [a and a[1].options.shapes["x"] for a in asked] == [(1,), (3,), (2,), None]
    assert lengths(programs) == {1: "making", 2: "making", 3: "making"}


def test_first_short_searches_then_long_ones_for_what_is_used_most(programs: Specialisations):
    wanted(programs, 1, 2)
    assert [request(programs)[1].options.time_budget for _ in range(2)] == [30.0, 30.0]
    for n in (1, 2):
        settle(programs, n, Outcome(30.0, 2.0, 1.0))
    for _ in range(5):
        programs.known(((2,),))
    chosen, asked = request(programs)
    assert chosen.binding == ((2,),) and asked.options.time_budget == 270.0 and chosen.program
    settle(programs, 2, Outcome(270.0, 2.0, 0.9))
    settle(programs, 1, Outcome(270.0, 2.0, 0.9))
    assert request(programs) is None


def test_after_a_longer_search_in_vain_the_program_stays(programs: Specialisations):
    wanted(programs, 1)
    settle(programs, 1, Outcome(30.0, 2.0, 1.0))
    program = programs.find(((1,),)).program
    settle(programs, 1, Outcome(270.0, reason="crashed"))
    assert programs.find(((1,),)).program is program and request(programs) is None


def test_what_is_slower_or_errs_is_not_used(programs: Specialisations):
    wanted(programs, 1, 2)
    settle(programs, 1, Outcome(270.0, 1.0, 2.0, "onnxruntime takes 1.000 ms, the program 2.000 ms"))
    settle(programs, 2, Outcome(270.0, reason="output 'y' errs by 1.0e-02"))
    assert lengths(programs) == {1: "rejected", 2: "failed"} and not programs.loaded
    assert request(programs) is None
    assert [s.reason for s in programs.statuses()] == [
        "output 'y' errs by 1.0e-02",
        "onnxruntime takes 1.000 ms, the program 2.000 ms",
    ]


@pytest.mark.parametrize("seconds, state", [(0.009, SpecialisationState.READY), (0.011, SpecialisationState.REJECTED)])
def test_what_lost_its_race_is_tried_in_use(
    seconds: float, state: SpecialisationState, programs: Specialisations, monkeypatch
):
    """The threads of each runtime spin for 30 ms after a call, and calls of the other take three times as long then."""
    now = 0.0
    monkeypatch.setattr(trial.time, "monotonic", lambda: now)
    wanted(programs, 1)
    settle(programs, 1, Outcome(270.0, 1.0, 2.0))
    s = programs.find(((1,),))
    assert s.state is SpecialisationState.TRIED and s.trial and s.program
    turns = list[trial.TrialCall]()
    ends = {True: -1.0, False: -1.0}
    while not s.trial.ended:
        turns.append(s.trial.turn())
        program = turns[-1].program
        slowed = 3 if now - ends[not program] < 0.03 else 1
        took = slowed * (seconds if program else 0.01)
        now += took
        ends[program] = now
        s.trial.enter(turns[-1], took)
    programs.decide(s)
    programs.decide(s)
    assert s.state is state and s.trial is None and bool(s.program) == (state is SpecialisationState.READY)
    counted = [t.program for t in turns if t.counts]
    assert abs(2 * sum(counted) - len(counted)) <= trial.TURN


@pytest.mark.parametrize("ms, state", [(0.9, SpecialisationState.TRIED), (0.3, SpecialisationState.READY)])
def test_a_program_whose_time_depends_on_data_is_tried_unless_it_is_far_faster(
    ms: float, state: SpecialisationState, programs: Specialisations
):
    wanted(programs, 1)
    settle(programs, 1, Outcome(270.0, 1.0, ms, varies=True))
    assert programs.find(((1,),)).state is state


def test_a_search_waits_for_a_trial_only_while_calls_arrive(programs: Specialisations, monkeypatch):
    wanted(programs, 1)
    settle(programs, 1, Outcome(270.0, 1.0, 2.0))
    wanted(programs, 2)
    assert programs.waiting and request(programs) is None
    monkeypatch.setattr(trial, "LATELY", 0.0)
    assert request(programs)[0].binding == ((2,),)


def test_a_program_that_cannot_be_opened_is_not_used(programs: Specialisations):
    wanted(programs, 1)
    programs.settle(programs.find(((1,),)), Outcome(30.0, 2.0, 1.0), Archive())
    (status,) = programs.statuses()
    assert status.state == "rejected" and "does not fit" in status.reason


def test_programs_used_least_recently_go(programs: Specialisations):
    wanted(programs, 1, 2, 3)
    for n in (1, 2):
        settle(programs, n, Outcome(270.0, 2.0, 1.0))
    programs.known(((1,),))
    settle(programs, 3, Outcome(270.0, 2.0, 1.0))
    assert lengths(programs) == {1: "ready", 3: "ready"}


def test_of_endless_shapes_few_are_remembered(programs: Specialisations):
    wanted(programs, *range(1000))
    assert len(programs.statuses()) <= WAITING_PER_PROGRAM * 2 + 1
    assert 999 in lengths(programs)


def test_what_an_earlier_process_found_counts(programs: Specialisations):
    programs.find(((7,),))
    place = programs._request(((7,),), 1.0).place
    place.keep(Outcome(270.0, reason="nothing fits"))
    assert programs.recalled() and lengths(programs) == {7: "failed"}
    assert not programs.recalled() and request(programs) is None


def test_where_nothing_is_made_the_rest_is_absent(programs: Specialisations):
    wanted(programs, 1)
    programs.rule_out()
    assert lengths(programs) == {1: "absent"} and request(programs) is None


def test_a_fork_makes_anew_what_its_parent_makes(programs: Specialisations):
    wanted(programs, 1)
    request(programs)
    programs.forked()
    assert programs.find(((1,),)).state is SpecialisationState.WANTED


def test_a_damaged_program_of_an_earlier_process_is_made_again(programs: Specialisations, small_archive: Path):
    import korch

    wanted(programs, 7)
    chosen, asked = request(programs)
    chosen.enter(SpecialisationState.WANTED)
    with korch.load(small_archive) as program:
        asked.place.keep(Outcome(5.0, 2.0, 1.0), program)
    content = bytearray(asked.place.archive.read_bytes())
    content[len(content) // 2] ^= 1
    asked.place.archive.write_bytes(content)
    assert asked.place.outcome(), "its directory is as it was"
    assert programs.recalled() and lengths(programs) == {7: "waiting"}
    assert not asked.place.archive.exists() and request(programs)[1] == asked
