"""Exact evaluation of primitive graphs over finite fields, where two roundings can hide no wrong rewrite.

In: primitives and random residues. Out: residues that are equal where the graphs are
(TASO section 4, Mirage section 5).
Start with `field.py` (numbers), `residues.py` (arrays), `primitives.py` (what each primitive means).
"""

from korch.rewrite.exact.primitives import Beyond as Beyond
from korch.rewrite.exact.primitives import Field as Field
from korch.rewrite.exact.residues import Residues as Residues
