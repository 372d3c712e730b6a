"""Generated C for memory-intensive cones (paper section 5.2). In: a cone. Out: one C function.

Start with `backend.py`; `schedule.py` cuts a cone into loop nests, `binding.py` gives these their loops, `trace.py`
pulls values through it, `emit.py` writes the function, `maps.py` and `reductions.py` the nests in it. `winograd.py`,
`winograd_blocks.py`, `strassen.py` and `depthwise.py` write kernels of a shape of their own.
"""
