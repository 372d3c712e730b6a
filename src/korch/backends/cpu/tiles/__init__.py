"""Cones of several linear primitives, run strip by strip with what lies between them in the second-level cache.

In: a cone. Out: kernels made of other backends' kernels, each on a strip. Start with `backend.py`; `access.py` says
what a primitive reads for a part of its output, `stages.py` cuts a cone into stages, `strips.py` the output into
strips (`piece.py`: a stage of one; `repeat.py`: those that only lie elsewhere), `emit.py` writes the C around them.
"""
