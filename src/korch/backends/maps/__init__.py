"""Index maps, shared by all generators of code: a cone and indices of its root in, loads and statements out.

`index.py` has the arithmetic of indices, `trace.py` pulls values through primitives; a generator brings the language.
"""
