"""Cones with one matrix product or convolution. In: a cone. Out: a refusal, a lower bound, Triton kernels in tiles.

Start with `face.py`. `product.py` says what is multiplied, `tiles.py` which tiles are worth trying and why, `emit.py`
writes the functions.
"""

from korch.backends.cuda.triton.linear.face import bound, build, refusal

__all__ = ["bound", "build", "refusal"]
