"""Damaged files (`mutate.py`): `changes.py` damages whole ones, `kinds.py` uses them, each in a `worker.py`."""
