"""Cones of one linear primitive as a library sees them: its operands and result through strides, and its post-ops.

In: a cone. Out: a `Match`, or why there is none. Start with `pattern.py`; `activations.py` is the table of elementwise
post-ops; `product.py` reads matrix products out of a match.
"""
