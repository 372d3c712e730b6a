"""Triton source becomes binaries for a device, which need not be there.

Where functions are interpreted (`TRITON_INTERPRET=1`), Triton's own library is no longer code that it can compile: then
and to use all processors, kernels are compiled in processes of their own.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from korch.backends.contract import Kernel, Launch
from korch.backends.cuda.buffers import Buffer, buffers_of
from korch.backends.cuda.triton.source import python_functions
from korch.backends.cuda.triton.workers import Workers
from korch.errors import BackendError
from korch.system.processor import processors

POINTERS = {
    "float32": "*fp32",
    "float64": "*fp64",
    "float16": "*fp16",
    "bfloat16": "*bf16",
    "int8": "*i8",
    "int16": "*i16",
    "int32": "*i32",
    "int64": "*i64",
    "uint8": "*u8",
    "uint16": "*u16",
    "uint32": "*u32",
    "uint64": "*u64",
    "bool": "*i1",
}
ALIGNMENT = 16
"""Bytes to which every buffer is aligned at least."""


@dataclass(frozen=True, slots=True)
class CompiledLaunch:
    """A compiled launch: the `symbol` of the function in `cubin`, bytes of `shared` memory a block, `warps` a block.

    Its `parameters` are pointers: the launch's buffers, then as many that are not used and may be null.
    """

    function: str
    cubin: bytes
    symbol: str
    shared: int
    warps: int
    parameters: int


Identity = tuple[str, tuple[Launch, ...], tuple[Buffer, ...]]
Compiled = dict[Identity, tuple[CompiledLaunch, ...]]
"""The binaries of each launch of kernels that have been compiled, all for one device."""


def identity(kernel: Kernel) -> Identity:
    """All that its binaries depend on."""
    return kernel.source, kernel.launches, buffers_of(kernel)


def compile_kernel(kernel: Kernel, capability: int) -> tuple[CompiledLaunch, ...]:
    """A binary for each launch; BackendError says what does not compile."""
    functions = python_functions(kernel.source)
    dtypes = [b.dtype for b in buffers_of(kernel)]
    return tuple(_compiled(functions[launch.function], launch, dtypes, capability) for launch in kernel.launches)


def _compiled(function: Any, launch: Launch, dtypes: Sequence[str], capability: int) -> CompiledLaunch:
    triton, compiler = import_module("triton"), import_module("triton.compiler")
    backend = import_module("triton.backends.compiler")
    jitted = triton.JITFunction(function)
    types = [POINTERS[dtypes[i]] for i in launch.buffers]
    aligned = {(i,): [["tt.divisibility", ALIGNMENT]] for i in range(len(types))}
    source = compiler.ASTSource(jitted, dict(zip(jitted.arg_names, types, strict=True)), {}, aligned)
    options = {"num_warps": launch.warps, "num_stages": launch.stages}
    try:
        made = triton.compile(source, target=backend.GPUTarget("cuda", capability, 32), options=options)
    except Exception as e:  # Triton raises all kinds
        raise BackendError(f"{launch.function} does not compile for sm_{capability}: {_line(e)}") from e
    about = made.metadata
    if about.global_scratch_size or about.num_ctas != 1:
        raise BackendError(f"{launch.function} wants memory of the launcher, which it is not given")
    parameters = parameters_of(made.asm["ptx"])
    if parameters < len(types):
        raise BackendError(f"{launch.function} takes {parameters} parameters for {len(types)} buffers")
    return CompiledLaunch(launch.function, made.asm["cubin"], about.name, about.shared, about.num_warps, parameters)


def parameters_of(ptx: str) -> int:
    """How many parameters the kernel in `ptx` takes: functions that it calls may stand before its entry."""
    return ptx.partition(".entry")[2].partition(")")[0].count(".param")


def _line(e: BaseException) -> str:
    lines = [line for line in str(e).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(e).__name__


@contextmanager
def compilers(jobs: int = 0) -> Generator[Executor]:
    """Processes that compile: `pool.submit(compile_kernel, kernel, capability)`; as many as processors by default."""
    with Workers(jobs or processors(), unset=("TRITON_INTERPRET",)) as pool:
        yield pool
