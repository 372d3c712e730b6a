"""What is shown to people: comparisons with other runtimes, and reports on plans.

In: models, archives, plans. Out: plain dicts and text. Start with `bench.py`; the runtimes are in `peers/`.
"""
