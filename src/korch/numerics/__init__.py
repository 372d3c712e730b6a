"""How far a program's outputs may be from the model's, and how far they are.

In: a model, feeds and what a program made of them. Out: errors, bounds, and which choices cost most error.
Start with `error.py`, then `exact.py`, `judge.py` and `blame.py`.
"""
