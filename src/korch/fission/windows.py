"""How far windows reach past the borders: ONNX's pads, auto_pad and ceil_mode as explicit pads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack


class WindowAttributes(TypedDict, total=False):
    """ONNX's attributes of how a window moves, as convolutions and pools have them in common."""

    auto_pad: str
    ceil_mode: int
    dilations: Sequence[int]
    pads: Sequence[int]
    strides: Sequence[int]


@dataclass(frozen=True)
class AxisWindow:
    """One spatial axis of a pooling or convolution: input length n, and the window's geometry."""

    n: int
    kernel: int
    stride: int
    dilation: int
    begin: int = 0
    end: int = 0

    @property
    def reach(self) -> int:
        """From the window's first position to its last, both counted."""
        return self.dilation * (self.kernel - 1) + 1

    def same(self, lower: bool) -> tuple[int, int]:
        """Pads for ceil(n / stride) outputs; an odd one goes to the front if `lower`."""
        total = max((-(-self.n // self.stride) - 1) * self.stride + self.reach - self.n, 0)
        return (total - total // 2, total // 2) if lower else (total // 2, total - total // 2)

    def ceiled(self) -> tuple[int, int]:
        """Pads whose last window may stick out, but begins inside the input or its front padding."""
        length = -(-(self.n + self.begin + self.end - self.reach) // self.stride) + 1
        length -= (length - 1) * self.stride >= self.n + self.begin
        exact = (length - 1) * self.stride + self.reach - self.n - self.begin
        return self.begin, max(exact, min(self.end, exact + self.stride - 1))


@dataclass(frozen=True)
class Geometry:
    """Complete, explicit attributes of a window operator over `k` spatial axes."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]

    @property
    def is_wide(self) -> bool:
        """Whether a pad is no shorter than the kernel, as dilation with ceil_mode can make it; runtimes refuse that."""
        return any(p >= k for p, k in zip(self.pads, self.kernel * 2, strict=True))

    @property
    def attrs(self) -> dict[str, tuple[int, ...]]:
        """What Conv and the pools share."""
        return {"strides": self.strides, "dilations": self.dilations, "pads": self.pads}


def geometry(lengths: Sequence[int], kernel: Sequence[int], **window: Unpack[WindowAttributes]) -> Geometry:
    """ONNX's attributes over inputs of `lengths`, made explicit."""
    k = len(lengths)
    strides, dilations = tuple(window.get("strides") or [1] * k), tuple(window.get("dilations") or [1] * k)
    auto_pad = window.get("auto_pad", "NOTSET")
    pads = (window.get("pads") if auto_pad == "NOTSET" else None) or [0] * 2 * k
    windows = [AxisWindow(lengths[i], kernel[i], strides[i], dilations[i], pads[i], pads[k + i]) for i in range(k)]
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        pairs = [w.same(auto_pad == "SAME_LOWER") for w in windows]
    else:
        pairs = [w.ceiled() if window.get("ceil_mode") else (w.begin, w.end) for w in windows]
    return Geometry(tuple(kernel), strides, dilations, (*(p[0] for p in pairs), *(p[1] for p in pairs)))
