"""What a cost depends on besides the kernel, and the keys under which costs are remembered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from korch.backends.contract import Kernel
from korch.backends.table import entry_of
from korch.backends.toolchain import Toolchain
from korch.errors import BackendError
from korch.ir.cone import Cone
from korch.system import samples
from korch.system.digest import code_digest, digest
from korch.system.processor import cache_bytes, processor


@dataclass(frozen=True)
class Setting:
    """The compiler's version and flags, the processor with its instruction sets and caches, and the number of
    threads."""

    compiler: str
    processor: str
    threads: int


def setting_of(toolchain: Toolchain, threads: int) -> Setting:
    """This machine's. Where a compiler lies does not matter, what it is asked does."""
    compiler = " ".join((toolchain.version, *toolchain.command[1:], *toolchain.flags))
    caches = (str(cache_bytes(level, 0)) for level in (1, 2, 3))
    return Setting(compiler, "|".join((processor(), *caches)), threads)


def cost_key(kernel: Kernel, setting: Setting) -> str:
    """Equal for kernels that cost the same: the names of tensors take no part."""
    return digest(kernel.cone.signature, kernel.backend, _version(kernel.backend), kernel.variant, *_where(setting))


def offer_key(cone: Cone, backend: str, setting: Setting) -> str:
    """Equal for cones for which a backend offers the same kernels at the same costs."""
    return digest("offer", cone.signature, backend, entry_of(backend).version, *_where(setting))


def _where(setting: Setting) -> tuple[object, ...]:
    return setting.compiler, setting.processor, setting.threads, measuring_code()


@cache
def measuring_code() -> str:
    """Of the code that checks and times kernels."""
    here = Path(__file__).parent
    return code_digest([*here.rglob("*.py"), *here.rglob("*.c"), Path(samples.__file__)])


def _version(backend: str) -> str:
    try:
        return entry_of(backend).version
    except BackendError:
        return ""  # a kernel from outside the table
