"""Candidates and costs in, the cheapest plan out: the binary program of the paper's §4.2, solved exactly.

Pure functions on data. Start reading at `problem`, then `rows` (the program) and `solve` (how it is solved).
"""

from korch.solve.problem import Candidate, PrimitiveRef, Problem, Solution, Status
from korch.solve.solve import solve

__all__ = ["Candidate", "PrimitiveRef", "Problem", "Solution", "Status", "solve"]
