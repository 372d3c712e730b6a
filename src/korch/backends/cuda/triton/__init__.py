"""The `triton` backend: cones in, Triton source with its launches out.

Start with `backend.py`, then `plan.py`: which launches. `language.py` writes a trace in Triton, `program.py` collects
functions, `source.py` turns texts into functions of Triton, which `compile.py` compiles for a device that need not be
there, and `korch.backends.cuda.interpret` runs without one.
"""
