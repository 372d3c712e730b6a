"""The `triton` backend: cones in, Triton source with its launches out.

Start with `backend.py`. `spell.py` is the language of what a trace finds, `source.py` turns texts into functions of
Triton, which `compile.py` compiles for a device (no device needed) and `korch.backends.cuda.interpret` runs without.
"""
