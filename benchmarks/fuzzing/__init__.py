"""Random valid models, plans forced at random, and the verdict on what they compute (`fuzz.py`).

`draft.py` writes models node by node, `operators/` has the templates, `forced.py` the plans, `verdict.py` the judge.
"""
