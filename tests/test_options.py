"""What a caller can ask for, and how it is written down."""

from __future__ import annotations

import pytest

from korch import options
from korch.errors import Error
from korch.options import Options


def test_texts_are_what_was_asked_for():
    assert Options(2).texts() == {"threads": "2", "numerics": "default"}
    asked = Options(1, 2.5, "fast", {"b": (1, 3), "a": [7]}).texts()
    assert asked == {"threads": "1", "numerics": "fast", "time_budget": "2.5", "shapes": "a=7 b=1,3"}


@pytest.mark.parametrize(
    ("numerics", "unproved"),
    [("strict", False), ("default", False), ("fast", True), ("relaxed", True), ("9e-4", False), ("3e-3", True)],
)
def test_numerics_are_names_or_numbers(numerics: str, unproved: bool):
    assert Options(numerics=numerics).unproved == unproved


def test_as_many_threads_as_can_be_busy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(options, "processors", lambda: 3)
    assert Options().thread_count == 3 and Options(2).thread_count == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"threads": -1},
        {"time_budget": 0.0},
        *({"numerics": n} for n in ("so-so", "", "0", "-1e-3", "nan", "inf", "0.2")),
    ],
)
def test_nonsense_is_refused(wrong):
    with pytest.raises(Error, match=next(iter(wrong)).replace("_", " ")):
        Options(**wrong)
