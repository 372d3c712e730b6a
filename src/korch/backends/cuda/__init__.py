"""Backends for NVIDIA GPUs: cones in, Triton functions or calls of vendor libraries out.

Start with `buffers.py` (what a kernel is given) and `interpret.py` (how it is tried without a GPU).
"""
