"""What `device.py` asks a GPU for, computed on the host: how calls are tried without one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from korch.backends.cuda.vendor.device import WindowSettings, activate, finish, store
from korch.backends.cuda.vendor.rounding import half, rounded, rounded_mask


@dataclass(frozen=True)
class Plain:
    """Sums in float32; factors are rounded where the precision is half, TF32 is taken for float32."""

    torch: Any
    precision: str

    @contextmanager
    def settings(self) -> Generator[None]:
        """Nothing to set."""
        yield

    def _factors(self, *given: Any) -> tuple[Any, ...]:
        """float32 tensors, rounded."""
        dtype = half(self.torch, self.precision)
        return tuple(rounded(x, dtype).float() if dtype else x for x in given)

    def _result(self, y: Any) -> Any:
        """What cuDNN gives of rounded factors is rounded, too."""
        return y.to(half(self.torch, self.precision) or y.dtype)

    def multiply(self, a: Any, b: Any, out: Any, add: Any, scale: float) -> None:
        """out = scale * a b + add"""
        self.torch.matmul(*self._factors(a, b), out=out)
        finish(out, add, scale)

    def multiply_activated(self, a: Any, b: Any, out: Any, add: Any, scale: float, activation: str) -> None:
        """out = activation(scale * a b + add)"""
        self.multiply(a, b, out, add, scale)
        activate(self.torch, out, activation)

    def convolve(self, x: Any, w: Any, out: Any, bias: Any, window: WindowSettings) -> None:
        """out = conv(x, w) + bias"""
        convolve = self.torch.nn.functional.conv2d
        y = convolve(
            *self._factors(x, w), None, window["strides"], window["pads"], window["dilations"], window["group"]
        )
        store(self.torch, self._result(y), bias, out)

    def convolve_relu(self, x: Any, w: Any, out: Any, bias: Any, residual: Any, window: WindowSettings) -> None:
        """out = relu(conv(x, w) + bias + residual)"""
        self.convolve(x, w, out, bias, window)
        finish(out, residual, 1.0)
        activate(self.torch, out, "relu")

    def convolve_transposed(self, x: Any, w: Any, out: Any, bias: Any, window: WindowSettings) -> None:
        """out = transposed conv(x, w) + bias"""
        convolve = self.torch.nn.functional.conv_transpose2d
        y = convolve(
            *self._factors(x, w),
            None,
            window["strides"],
            window["pads"],
            window["extra"],
            window["group"],
            window["dilations"],
        )
        store(self.torch, self._result(y), bias, out)

    def depthwise(self, x: Any, w: Any, out: Any, bias: Any, window: WindowSettings) -> None:
        """out = conv(x, w) + bias"""
        self.convolve(x, w, out, bias, window)

    def attend(self, q: Any, k: Any, v: Any, out: Any, mask: Any, scale: float, implementation: str) -> None:
        """out = softmax(scale * q k^T + mask) v"""
        dtype = half(self.torch, self.precision)
        if dtype and mask is not None:
            mask = rounded_mask(self.torch, mask, dtype).float()
        q, k, v = self._factors(q, k, v)
        y = self.torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
        out.copy_(self._result(y))
