"""The CUDA driver through ctypes, as much of it as programs need: what there is, and functions of binaries."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass
from functools import cache
from typing import Any

from korch.errors import Error

PLACES = ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so")
"""Where the driver's library may be; plain names are looked up as the loader does, in its path and its cache."""
STATIC_SHARED = 48 << 10
"""Bytes of shared memory a block that a function has unasked."""
WARP = 32
_MULTIPROCESSORS, _MAJOR, _MINOR = 16, 75, 76  # of CUdevice_attribute
_DYNAMIC_SHARED, _PREFER_SHARED = 8, 1  # of CUfunction_attribute and CUfunc_cache
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
    "cuDriverGetVersion": (POINTER(c_int),),
    "cuDeviceGetCount": (POINTER(c_int),),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceGetAttribute": (POINTER(c_int), c_int, c_int),
    "cuDeviceTotalMem_v2": (POINTER(c_size_t), c_int),
    "cuDeviceGetUuid": (c_char_p, c_int),
    "cuDevicePrimaryCtxRetain": (POINTER(c_void_p), c_int),
    "cuCtxSetCurrent": (c_void_p,),
    "cuModuleLoadData": (POINTER(c_void_p), c_char_p),
    "cuModuleUnload": (c_void_p,),
    "cuModuleGetFunction": (POINTER(c_void_p), c_void_p, c_char_p),
    "cuFuncSetAttribute": (c_void_p, c_int, c_int),
    "cuFuncSetCacheConfig": (c_void_p, c_int),
    "cuLaunchKernel": (c_void_p, *(c_uint,) * 7, c_void_p, POINTER(c_void_p), POINTER(c_void_p)),
}


class Driver:
    """The functions of an opened `libcuda`; Error with the driver's own words where one fails."""

    def __init__(self, library: Any) -> None:
        self._library = library
        for name, types in _SIGNATURES.items():
            function = getattr(library, name)
            function.argtypes, function.restype = types, c_int
        self._call("cuInit", 0)
        self._contexts: dict[int, c_void_p] = {}

    def version(self) -> int:
        """Of CUDA that the driver offers: 13000 is 13.0."""
        return self._number("cuDriverGetVersion")

    def count(self) -> int:
        """How many devices there are."""
        return self._number("cuDeviceGetCount")

    def name(self, ordinal: int) -> str:
        text = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", text, len(text), self._device(ordinal))
        return text.value.decode(errors="replace")

    def capability(self, ordinal: int) -> int:
        """90 is sm_90."""
        return 10 * self.attribute(_MAJOR, ordinal) + self.attribute(_MINOR, ordinal)

    def multiprocessors(self, ordinal: int) -> int:
        return self.attribute(_MULTIPROCESSORS, ordinal)

    def uuid(self, ordinal: int) -> str:
        """The device's own number, the same in every process."""
        raw = ctypes.create_string_buffer(16)
        self._call("cuDeviceGetUuid", raw, self._device(ordinal))
        return raw.raw.hex()

    def memory(self, ordinal: int) -> int:
        """Bytes of the device."""
        size = c_size_t()
        self._call("cuDeviceTotalMem_v2", byref(size), self._device(ordinal))
        return size.value

    def activate(self, ordinal: int) -> None:
        """Makes the device's primary context, which all libraries share, this thread's."""
        if ordinal not in self._contexts:
            context = c_void_p()
            self._call("cuDevicePrimaryCtxRetain", byref(context), self._device(ordinal))
            self._contexts[ordinal] = context
        self._call("cuCtxSetCurrent", self._contexts[ordinal])

    def load(self, cubin: bytes) -> c_void_p:
        """The module of a binary for this device, in the current context."""
        module = c_void_p()
        self._call("cuModuleLoadData", byref(module), cubin)
        return module

    def unload(self, module: c_void_p) -> None:
        self._call("cuModuleUnload", module)

    def function(self, module: c_void_p, symbol: str, shared: int) -> c_void_p:
        """The function called `symbol`, which may be given `shared` bytes a block."""
        function = c_void_p()
        self._call("cuModuleGetFunction", byref(function), module, symbol.encode())
        if shared > STATIC_SHARED:
            self._call("cuFuncSetCacheConfig", function, _PREFER_SHARED)
            self._call("cuFuncSetAttribute", function, _DYNAMIC_SHARED, shared)
        return function

    def launch(
        self, function: c_void_p, grid: Sequence[int], warps: int, shared: int, stream: int, parameters: Parameters
    ) -> None:
        """Starts a function in `stream`; `parameters` as `pointers` makes them."""
        block = (WARP * warps, 1, 1)
        self._call("cuLaunchKernel", function, *grid, *block, shared, stream, parameters.at, None)

    def _device(self, ordinal: int) -> int:
        device = c_int()
        self._call("cuDeviceGet", byref(device), ordinal)
        return device.value

    def attribute(self, which: int, ordinal: int) -> int:
        """The device's attribute of this number (CUdevice_attribute)."""
        return self._number("cuDeviceGetAttribute", which, self._device(ordinal))

    def _number(self, name: str, *args: Any) -> int:
        value = c_int()
        self._call(name, byref(value), *args)
        return value.value

    def _call(self, name: str, *args: Any) -> None:
        if status := getattr(self._library, name)(*args):
            raise Error(f"the NVIDIA driver: {name}: {self._reason(status)}")

    def _reason(self, status: int) -> str:
        text = c_char_p()
        self._library.cuGetErrorString(status, byref(text))
        return (text.value or b"unknown error").decode(errors="replace") + f" ({status})"


@dataclass(frozen=True, slots=True)
class Parameters:
    """`at`: where each parameter of a launch lies, in memory of `values`."""

    at: Any
    values: Any


def pointers(addresses: Sequence[int]) -> Parameters:
    """Addresses of memory on a device as the parameters of a launch; 0 is a null pointer."""
    values = (c_void_p * max(1, len(addresses)))(*addresses)
    at = [ctypes.addressof(values) + k * ctypes.sizeof(c_void_p) for k in range(len(addresses))]
    result = (c_void_p * max(1, len(addresses)))(*at)
    return Parameters(result, values)


@cache
def driver() -> Driver:
    """The driver of this machine; Error where there is none, or no device."""
    for place in PLACES:
        try:
            library = ctypes.CDLL(place)
        except OSError:
            continue
        return Driver(library)
    raise Error("there is no NVIDIA driver here (libcuda.so.1 is not found)")
