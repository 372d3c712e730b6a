"""Fault injection: `shim.c` and `hook.py` fail calls, `scenarios.py` says in which runs, `runs.py` judges them.

In: scenarios and faults. Out: how each run ended, and whether the next one is whole. Start with `runs.py`.
"""
