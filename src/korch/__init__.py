"""Korch: provably cheapest kernel orchestration for tensor programs."""

from korch.errors import Error as Error
from korch.executable import Executable as Executable
from korch.executable import load as load
from korch.optimize import optimize as optimize

__version__ = "0.1.0"
