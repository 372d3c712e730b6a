"""Adds choices to a primitive graph: other producers of the same tensors. Nothing is ever replaced.

In: a primitive graph. Out: the same graph with more producers. Start with `layouts.py`.
"""
