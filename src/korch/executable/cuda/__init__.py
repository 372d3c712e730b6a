"""Programs for NVIDIA GPUs: a `Plan` of device kernels in, one CUDA graph and its archive out.

Start with `schedule.py` (what may run side by side), then `layout.py`, `link.py`, `runtime.py`.
"""

from korch.executable.cuda.runtime import DeviceExecutable as DeviceExecutable
