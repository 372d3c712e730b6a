"""What a GPU's time is compared with: torch eager, torch.compile and XLA, each under CUDA graphs.

`serving.py` is a process of one runtime; `jax_program.py` gives XLA the model's primitives.
"""
