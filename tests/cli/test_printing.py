"""Results as people and programs read them."""

from __future__ import annotations

import pytest

from korch.cli.printing import print_table


def test_rows_are_not_folded_where_nobody_says_how_wide_the_page_is(capsys: pytest.CaptureFixture[str]):
    print_table(["kernel", ">ms"], [["x" * 150, "1.0"]], "all of them")
    assert "x" * 150 + "   1.0" in capsys.readouterr().out
