"""Backends turn cones into kernels. In: a cone. Out: a refusal with its reason, a lower bound, kernels.

Start with `contract.py`; each backend is a folder with a `backend.py` that defines `BACKEND`.
"""
