"""Kernels measured on NVIDIA GPUs. In: device kernels. Out: checked costs.

Start with `profiler.py`; `worker.py` is the process that has the GPU, `board.py` the GPU in it.
"""
