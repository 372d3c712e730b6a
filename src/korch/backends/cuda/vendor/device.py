"""How torch is asked on a GPU: forms that write into the given output where torch has them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import Any

from korch.backends.cuda.vendor.rounding import half, rounded, rounded_mask

IMPLEMENTATIONS = {"efficient": "EFFICIENT_ATTENTION", "flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION"}
"""Of `torch.nn.attention.SDPBackend`."""

WindowSettings = Mapping[str, Any]
_SETTINGS = RLock()
"""Held while the settings of the process are those of a call: threads would give each other their precisions."""


@dataclass(frozen=True)
class CudaLibraries:
    """cuBLAS and cuDNN in one precision.

    cuDNN chooses its kernels by rules, which give the same for the same problem and version, and never by a trial: that
    chose anew whenever a program was loaded, and other kernels than those that the search had timed.
    """

    torch: Any
    precision: str

    @contextmanager
    def settings(self) -> Generator[None]:
        """Sets torch's process-wide settings while calls run, for one thread at a time: TF32 or not; and cuDNN tries no
        kernels and takes those that give the same bits each time.

        Of torch's two ways to allow TF32 this is the one by names of precisions; the other one is not touched.
        """
        wanted = "tf32" if self.precision == "tf32" else "ieee"
        with _SETTINGS:
            before = self._set(wanted, wanted, False, True)
            try:
                yield
            finally:
                self._set(*before)

    def _set(self, product: str, convolution: str, tries: bool, same: bool) -> tuple[str, str, bool, bool]:
        """Sets them and returns the settings before."""
        matmul, cudnn = self.torch.backends.cuda.matmul, self.torch.backends.cudnn
        before = matmul.fp32_precision, cudnn.conv.fp32_precision, cudnn.benchmark, cudnn.deterministic
        matmul.fp32_precision, cudnn.conv.fp32_precision, cudnn.benchmark, cudnn.deterministic = (
            product,
            convolution,
            tries,
            same,
        )
        return before

    @property
    def _half(self) -> Any:
        return half(self.torch, self.precision)

    # Products -----------------------------------------------------------------------------------------------------

    def multiply(self, a: Any, b: Any, out: Any, add: Any, scale: float) -> None:
        """out = scale * a b + add; two axes, or three with batches."""
        if self._half:
            self._multiply_halves(a, b, out, add, scale)
        elif add is None and scale == 1.0:
            (self.torch.mm if out.dim() == 2 else self.torch.bmm)(a, b, out=out)
        else:
            multiply = self.torch.addmm if out.dim() == 2 else self.torch.baddbmm
            multiply(out if add is None else add, a, b, beta=0 if add is None else 1, alpha=scale, out=out)

    def multiply_activated(self, a: Any, b: Any, out: Any, add: Any, scale: float, activation: str) -> None:
        """out = activation(scale * a b + add) of matrices: one kernel where `add` is a vector."""
        if self._half:
            self._multiply_halves(a, b, out, add, scale)
            activate(self.torch, out, activation)
        else:
            self.torch.ops.aten._addmm_activation.out(
                add, a, b, beta=1, alpha=scale, use_gelu=activation == "gelu", out=out
            )

    def _multiply_halves(self, a: Any, b: Any, out: Any, add: Any, scale: float) -> None:
        """Rounded factors, sums and result in float32; what follows is added in place."""
        multiply = self.torch.ops.aten.mm if out.dim() == 2 else self.torch.ops.aten.bmm
        multiply.dtype_out(rounded(a, self._half), rounded(b, self._half), self.torch.float32, out=out)
        finish(out, add, scale)

    # Convolutions -------------------------------------------------------------------------------------------------

    def convolve(self, x: Any, w: Any, out: Any, bias: Any, window: WindowSettings) -> None:
        """out = conv(x, w) + bias"""
        call, args = self.torch.ops.aten.cudnn_convolution, self._geometry(window)
        flags = self._flags()
        if self._half:
            y = call(rounded(x, self._half), rounded(w, self._half), *args, window["group"], *flags)
            store(self.torch, y, bias, out)
        else:
            call.out(x, w, *args, window["group"], *flags, out=out)
            _add_channels(out, bias)

    def convolve_relu(self, x: Any, w: Any, out: Any, bias: Any, residual: Any, window: WindowSettings) -> None:
        """out = relu(conv(x, w) + bias + residual) by one kernel, which torch cannot tell where to write."""
        dtype = self._half or x.dtype
        x, w, bias = rounded(x, dtype), rounded(w, dtype), bias.to(dtype)
        window_args = (window["strides"], window["pads"], window["dilations"], window["group"])
        if residual is None:
            y = self.torch.cudnn_convolution_relu(x, w, bias, *window_args)
        else:
            y = self.torch.cudnn_convolution_add_relu(x, w, rounded(residual, dtype), 1.0, bias, *window_args)
        out.copy_(y)

    def convolve_transposed(self, x: Any, w: Any, out: Any, bias: Any, window: WindowSettings) -> None:
        """out = transposed conv(x, w) + bias"""
        dtype, (pads, strides, dilations) = self._half or x.dtype, self._geometry(window)
        y = self.torch.cudnn_convolution_transpose(
            rounded(x, dtype),
            rounded(w, dtype),
            pads,
            window["extra"],
            strides,
            dilations,
            window["group"],
            *self._flags(),
        )
        store(self.torch, y, bias, out)

    def depthwise(self, x: Any, w: Any, out: Any, bias: Any, window: WindowSettings) -> None:
        """out = conv(x, w) + bias by torch's own kernel"""
        self.torch.ops.aten._conv_depthwise2d.out(
            x, w, list(w.shape[2:]), bias, window["strides"], window["pads"], window["dilations"], out=out
        )

    def _geometry(self, window: WindowSettings) -> tuple[Any, Any, Any]:
        """As cuDNN's calls have it."""
        return window["pads"], window["strides"], window["dilations"]

    def _flags(self) -> tuple[bool, bool, bool]:
        """Whether to try kernels, to want the same bits each time (others add in the order in which their blocks end),
        to allow TF32."""
        return False, True, self.precision == "tf32"

    # Attention ----------------------------------------------------------------------------------------------------

    def attend(self, q: Any, k: Any, v: Any, out: Any, mask: Any, scale: float, implementation: str) -> None:
        """out = softmax(scale * q k^T + mask) v by the implementation of that name, and by no other."""
        attention, dtype = self.torch.nn.attention, self._half
        if dtype:
            q, k, v = (rounded(x, dtype) for x in (q, k, v))
            mask = None if mask is None else rounded_mask(self.torch, mask, dtype)
        q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, v))
        with attention.sdpa_kernel(getattr(attention.SDPBackend, IMPLEMENTATIONS[implementation])):
            y = self.torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
        out.copy_(y)


def finish(out: Any, add: Any, scale: float) -> None:
    """out = scale * out + add"""
    if scale != 1.0:
        out.mul_(scale)
    if add is not None:
        out.add_(add)


def activate(torch: Any, out: Any, activation: str) -> None:
    """out = activation(out)"""
    if activation == "relu":
        torch.relu_(out)
    else:
        torch.ops.aten.gelu_(out, approximate="tanh")


def _add_channels(out: Any, bias: Any) -> None:
    if bias is not None:
        out.add_(bias.view(1, -1, 1, 1))


def store(torch: Any, y: Any, bias: Any, out: Any) -> None:
    """out = y + bias, in float32 whatever y is"""
    if bias is None:
        out.copy_(y)
    else:
        torch.add(y, bias.view(1, -1, 1, 1), out=out)
