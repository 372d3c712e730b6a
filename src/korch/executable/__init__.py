"""Links a plan into one native program, lays out its memory, stores and loads it, and runs it.

In: a `Plan`. Out: an `Executable`, a `.korch` archive, a folder for C programs.
Start with `plan.py`, then `memory.py`, `link.py` with `c/model.c`, `runtime.py` and `archive.py`; GPUs: `cuda/`.
"""

from korch.executable.plan import Plan as Plan
from korch.executable.plan import RunnerUp as RunnerUp
from korch.executable.plan import Step as Step
from korch.executable.runtime import Executable as Executable
from korch.executable.runtime import Profile as Profile
from korch.executable.runtime import load as load
