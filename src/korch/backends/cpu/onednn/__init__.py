"""oneDNN: cones of one linear primitive, its operands and result seen through strides, and its post-ops.

In: a cone. Out: kernels. `../../linear` says what oneDNN would be asked, `call.py` the call as data, `emit.py` the C.
Start with `backend.py`; `korch_dnnl.h` runs it all.
"""
