"""Enumerates candidate kernels as cones, before any code exists (paper section 4.1, as cut enumeration).

In: a primitive graph with choices. Out: cones. Start with `cuts.py`; `algorithm1.py` is the paper's own algorithm,
kept as the oracle of the tests.
"""

from korch.candidates.cuts import Limits as Limits
from korch.candidates.cuts import enumerate_cones as enumerate_cones
from korch.candidates.trim import trimmed as trimmed
