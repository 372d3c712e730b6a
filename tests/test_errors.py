"""Texts of errors are lines, whatever names they tell."""

from __future__ import annotations

import pickle

import pytest

from korch import errors

CLASSES = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.Error)]


@pytest.mark.parametrize("kind", [c for c in CLASSES if c is not errors.NoPlan])
def test_one_line_fit_for_a_terminal(kind: type[errors.Error]):
    e = kind("node 'a\nb\r\x1b[2J\u2028c\N{SNOWMAN}' is malformed")
    assert str(e) == "node 'a b  [2J c\N{SNOWMAN}' is malformed" and str(pickle.loads(pickle.dumps(e))) == str(e)


def test_none_lacks_its_text():
    assert str(errors.NoPlan("nothing makes 't'", "t")) == "nothing makes 't'"
    assert len(CLASSES) > 10
