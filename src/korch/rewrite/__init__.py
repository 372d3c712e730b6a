"""Adds choices to a primitive graph: other producers of the same tensors. Nothing is ever replaced.

In: a primitive graph. Out: the same graph with more producers. Start with `table.py`, `saturate.py` and `layouts.py`.
"""

from korch.rewrite.table import add_choices as add_choices
from korch.rewrite.table import all_rewrites as all_rewrites
