"""Generated code for a Scatter with the maps before and behind it: sums over edges, bags and segments.

In: a cone with one Scatter. Out: C whose threads own parts of the result. Start with `backend.py`.
"""
