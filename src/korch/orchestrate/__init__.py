"""Candidates and costs in, the cheapest plan out: the binary program of the paper's §4.2, solved exactly.

Start reading at `problem`, then `rows` (what the program says) and `solve` (how it is solved).
"""
