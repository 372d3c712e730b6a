"""What a cost depends on besides the kernel, and the keys under which costs are remembered."""

from __future__ import annotations

from dataclasses import dataclass

from korch.backends.contract import Kernel
from korch.backends.table import entry_of
from korch.digest import digest
from korch.errors import BackendError
from korch.ir.cone import Cone


@dataclass(frozen=True)
class Setting:
    """The compiler's version, the processor with its instruction sets, and the number of threads."""

    compiler: str
    processor: str
    threads: int


def cost_key(kernel: Kernel, setting: Setting) -> str:
    """Equal for kernels that cost the same: the names of tensors take no part."""
    parts = (kernel.cone.signature, kernel.backend, _version(kernel.backend), kernel.variant)
    return digest(*parts, setting.compiler, setting.processor, setting.threads)


def offer_key(cone: Cone, backend: str, setting: Setting) -> str:
    """Equal for cones for which a backend offers the same kernels at the same costs."""
    s = setting
    return digest("offer", cone.signature, backend, entry_of(backend).version, s.compiler, s.processor, s.threads)


def _version(backend: str) -> str:
    try:
        return entry_of(backend).version
    except BackendError:
        return ""  # a kernel from outside the table
