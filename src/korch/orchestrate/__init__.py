"""Candidates and costs in, the cheapest plan out: the binary program of the paper's §4.2, solved exactly.

Start reading at `problem`, then `rows` (what the program says) and `solve` (how it is solved).
"""

from korch.orchestrate.problem import Candidate, PrimitiveRef, Problem, Solution, Status
from korch.orchestrate.solve import solve

__all__ = ["Candidate", "PrimitiveRef", "Problem", "Solution", "Status", "solve"]
