"""Calls of cuBLAS and cuDNN, run by torch on the host, against float64; and what is refused, with its reason."""

from __future__ import annotations

import json
import timeit
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from korch.backends.contract import Kernel, Refusal, Variant
from korch.backends.cuda.buffers import buffers_of, prepare
from korch.backends.cuda.interpret import interpret
from korch.backends.cuda.vendor import calls
from korch.backends.cuda.vendor.backend import BACKEND, Vendor
from korch.backends.cuda.vendor.calls import CALLS
from korch.backends.cuda.vendor.device import CudaLibraries
from korch.backends.cuda.vendor.heads import find_attention
from korch.backends.table import backends, entry_of
from korch.candidates.cuts import Limits, enumerate_cones
from korch.devices import device_named
from korch.fission.softmax import softmax
from korch.ir import Builder, Cone, Value
from korch.ir.evaluate import evaluate_cone
from korch.profile.check import check
from korch.profile.inputs import leaf_arrays

from .vendor_cones import (
    ATTENTION,
    CONVOLUTIONS,
    PRODUCTS,
    channels,
    cone_of,
    const,
    conv,
    convolved,
    deconvolved,
    gelu,
    image,
    qkv,
    relu,
    turned,
    x,
)

ALL = Vendor(("ieee", "tf32x3", "tf32", "fp16", "bf16"))
UNITS = {"fp16": 2.0**-11, "bf16": 2.0**-8}


def run(kernel: Kernel, leaves: list[np.ndarray]) -> np.ndarray:
    """The output, full of NaN before."""
    root = np.full(kernel.cone.root.shape, np.nan, np.float32)
    buffers = [*(np.array(leaf) for leaf in leaves), root, *prepare(kernel, leaves)]
    assert [(b.dtype, b.shape) for b in buffers_of(kernel)] == [(a.dtype.name, a.shape) for a in buffers]
    interpret(kernel, buffers)
    return root


def assert_right(kernel: Kernel, leaves: list[np.ndarray]) -> None:
    y, precision = run(kernel, leaves), kernel.variant.precision
    if precision not in UNITS:
        report = check(y, kernel.cone, leaves)
        assert not report.reason, f"{kernel.variant}: {report.reason}"
        return
    expected = evaluate_cone(kernel.cone, leaves)
    error = np.abs(y - expected).max() / max(np.abs(expected).max(), 1.0)
    assert error <= 4 * UNITS[precision], f"{kernel.variant}: {error}"


def assert_all_right(cone: Cone, backend: Vendor = ALL) -> list[Variant]:
    """Every variant computes the cone; all of them."""
    pytest.importorskip("torch", reason="calls run through torch")
    assert backend.refuses(cone) is None
    kernels, leaves = backend.build(cone, 132), leaf_arrays(cone)
    for kernel in kernels:
        assert kernel.call and kernel.call.function in CALLS
        assert_right(kernel, leaves)
    variants = [k.variant for k in kernels]
    assert len(set(variants)) == len(variants)
    return variants


@pytest.mark.parametrize("make", PRODUCTS.values(), ids=PRODUCTS)
def test_products(make):
    assert_all_right(cone_of(make))


@pytest.mark.parametrize("last", [0, 1], ids=["nchw", "nhwc"])
@pytest.mark.parametrize("make", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolutions(make, last):
    assert_all_right(cone_of(lambda b: make(b, last)))


@pytest.mark.parametrize("make", ATTENTION.values(), ids=ATTENTION)
def test_attention(make):
    variants = assert_all_right(cone_of(make))
    assert {Variant("attention efficient", p) for p in ("tf32x3", "fp16")} <= set(variants)


def test_calls_are_data():
    """What is written into an archive and read again runs as well."""
    torch = pytest.importorskip("torch")
    cone = cone_of(lambda b: CONVOLUTIONS["bias relu"](b, 1))
    kernel, leaves = BACKEND.build(cone, 132)[0], leaf_arrays(cone)
    assert kernel.call
    attrs = json.loads(json.dumps(kernel.call.attrs))
    buffers = [*leaves, np.full(cone.root.shape, np.nan, np.float32), *prepare(kernel, leaves)]
    CALLS[kernel.call.function](torch, [torch.from_numpy(a) for a in buffers], attrs)
    assert not check(buffers[len(leaves)], cone, leaves).reason


def device(precision: str) -> Any:
    """How a GPU is asked, given tensors of the host."""
    return CudaLibraries(pytest.importorskip("torch"), precision)


@pytest.mark.parametrize("tried", [True, False])
@pytest.mark.parametrize("precision, wanted", [("tf32", "tf32"), ("ieee", "ieee"), ("fp16", "ieee")])
def test_settings_of_torch_are_restored(monkeypatch, precision, wanted, tried):
    """cuDNN tries no kernels, even where the user's program lets it."""
    asked = device(precision)
    matmul, cudnn = asked.torch.backends.cuda.matmul, asked.torch.backends.cudnn
    monkeypatch.setattr(cudnn, "benchmark", tried)

    def found() -> tuple[Any, ...]:
        return matmul.fp32_precision, cudnn.conv.fp32_precision, cudnn.benchmark, cudnn.deterministic

    before = found()
    with asked.settings():
        assert found() == (wanted, wanted, False, True)
    assert before == found()
    assert isinstance(matmul.allow_tf32, bool)  # raises where both ways to set it were mixed


def test_threads_do_not_give_each_other_their_precisions():
    """Another thread sets its own when this one is done."""
    one, other = device("tf32"), device("ieee")
    matmul, waiting, seen = one.torch.backends.cuda.matmul, Event(), list[str]()

    def work() -> None:
        waiting.set()
        with other.settings():
            seen.append(matmul.fp32_precision)

    thread = Thread(target=work)
    with one.settings():
        thread.start()
        assert waiting.wait(60)
        thread.join(0.05)
        assert not seen and matmul.fp32_precision == "tf32"
    thread.join(60)
    assert seen == ["ieee"]


class Asked:
    """torch.ops.aten and the functions of torch that convolve: what each was given last."""

    def __init__(self) -> None:
        self.given: tuple[Any, ...] = ()

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *args: Any, **_: Any) -> Any:
        self.given = args
        return self


def test_cudnn_is_asked_for_the_kernel_that_its_rules_choose():
    """No trial, which would choose anew whenever a program is loaded; the same bits each time."""
    torch, window = Asked(), {"strides": (1, 1), "pads": (0, 0), "dilations": (1, 1), "extra": (0, 0), "group": 1}
    CudaLibraries(torch, "tf32").convolve(Asked(), Asked(), Asked(), None, window)
    assert torch.given[-3:] == (False, True, True)


def test_launches_inside_of_a_call_are_counted():
    """A factor that is rounded, the library's own function, and what follows it, each with its temporary memory."""
    cone = cone_of(lambda b: CONVOLUTIONS["relu"](b, 1))
    by_precision = {k.variant.precision: k.call for k in ALL.build(cone, 132) if k.call}
    ieee, half = by_precision["ieee"], by_precision["fp16"]
    (image_,) = (t for t in cone.leaves if not t.const)
    assert (ieee.count, ieee.temporary) == (2, cone.root.nbytes), "torch copies what ends in Relu"
    assert half.count == 4 and half.temporary == cone.root.nbytes // 2 + image_.nbytes // 2


@pytest.mark.parametrize("name", [n for n in PRODUCTS if "gelu" not in n])
def test_products_are_asked_of_a_device_in_the_same_words(monkeypatch, name):
    """What torch has on both sides gives the right result here, too; Gelu is another function on the host."""
    monkeypatch.setattr(calls, "Plain", CudaLibraries)
    device("ieee")
    cone = cone_of(PRODUCTS[name])
    for kernel in Vendor(("ieee", "tf32")).build(cone, 132):
        assert_right(kernel, leaf_arrays(cone))


WINDOW = {"strides": (1, 1), "pads": (1, 1), "dilations": (1, 1), "extra": (0, 0), "group": 1}
ON_DEVICE = {
    "cudnn_convolution": ("tf32", lambda d, t: d.convolve(t, t, t, None, WINDOW)),
    "cudnn_convolution of halves": ("fp16", lambda d, t: d.convolve(t, t, t, None, WINDOW)),
    "cudnn_convolution_relu": ("tf32", lambda d, t: d.convolve_relu(t, t, t, t[0, :, 0, 0], None, WINDOW)),
    "cudnn_convolution_add_relu": ("bf16", lambda d, t: d.convolve_relu(t, t, t, t[0, :, 0, 0], t, WINDOW)),
    "cudnn_convolution_transpose": ("ieee", lambda d, t: d.convolve_transposed(t, t, t, None, WINDOW)),
    "_conv_depthwise2d": ("ieee", lambda d, t: d.depthwise(t, t, t, None, WINDOW)),
    "mm": ("fp16", lambda d, t: d.multiply(t[0, 0], t[0, 0], t[0, 0], None, 1.0)),
    "bmm": ("bf16", lambda d, t: d.multiply(t[0], t[0], t[0], None, 1.0)),
}


@pytest.mark.parametrize("name", ON_DEVICE)
def test_what_only_a_device_has_is_called_with_the_arguments_that_torch_knows(monkeypatch, name):
    """Torch reads all arguments before it finds that there is no such kernel on the host."""
    precision, call = ON_DEVICE[name]
    asked = device(precision)
    with pytest.raises(NotImplementedError, match=rf"'aten::{name.split()[0]}[.'].* 'CPU' backend"):
        call(asked, asked.torch.ones(3, 3, 3, 3))


def test_transposed_convolutions_are_asked_for_the_same_bits_each_time(monkeypatch):
    """Kernels that add in any order are no choice, nor is a trial: the last arguments say so, then TF32."""
    asked, given = device("ieee"), []
    x = asked.torch.ones(3, 3, 3, 3)
    monkeypatch.setattr(asked.torch, "cudnn_convolution_transpose", lambda *args: given.append(args[-3:]) or x)
    asked.convolve_transposed(x, x, x, None, WINDOW)
    assert given == [(False, True, False)]


@pytest.mark.parametrize("precision", ["tf32x3", "fp16"])
def test_attention_is_asked_of_one_implementation(monkeypatch, precision):
    """The host has flash attention only, which is as good to try the words."""
    asked = device(precision)
    q = asked.torch.randn(2, 3, 8, 16)
    out, mask = asked.torch.full_like(q, np.nan), asked.torch.full((2, 3, 8, 8), -np.inf).triu(1)
    asked.attend(q, q, q, out, mask, 0.25, "flash")
    wanted = (q @ q.mT * 0.25 + mask).softmax(-1) @ q
    assert (out - wanted).abs().max() < (4e-3 if precision == "fp16" else 1e-5)
    with pytest.raises(RuntimeError, match="No viable backend"):
        asked.attend(q, q, q, out, None, 0.25, "efficient")


# Without torch ----------------------------------------------------------------------------------------------------


def test_the_backend_is_found_for_its_target():
    assert entry_of("vendor").target == "cuda" and "vendor" in [b.name for b in backends("cuda", "strict")]
    assert "vendor" not in [b.name for b in backends()]


def test_numerics_decide_the_precisions():
    cone = cone_of(PRODUCTS["rows of batches"])
    names = {n: {str(k.variant) for k in BACKEND.under(n).build(cone, 132)} for n in ("strict", "default", "fast")}
    assert names["strict"] == {"ieee product"}
    assert names["default"] == {"ieee product", "tf32 product", "tf32 turned product"}
    assert names["fast"] == {"tf32 product", "tf32 turned product", "fp16 product"}


def test_constants_are_prepared():
    half = next(k for k in ALL.build(cone_of(PRODUCTS["plain"]), 132) if k.variant == Variant("product", "fp16"))
    assert [(p.dtype, p.leaf) for p in half.prepared] == [("float16", 1)]
    image_last = BACKEND.build(cone_of(lambda b: convolved(b, 1, pads=1)), 132)[0]
    assert [(p.shape, p.perm) for p in image_last.prepared] == [((7, 3, 3, 5), (0, 2, 3, 1))]
    assert not BACKEND.build(cone_of(lambda b: convolved(b, 0, pads=1)), 132)[0].prepared


def test_the_implementations_of_attention_depend_on_sizes_and_mask():
    def names(make) -> set[str]:
        return {k.variant.form.removeprefix("attention ") for k in Vendor(("fp16",)).build(cone_of(make), 132)}

    assert names(ATTENTION["plain"]) == {"efficient", "flash", "cudnn"}
    assert names(ATTENTION["projected"]) == {"efficient", "cudnn"}
    assert names(ATTENTION["wider values"]) == {"efficient"}


@pytest.mark.parametrize("name", ATTENTION)
def test_what_attention_is_made_of(name):
    found = find_attention(cone_of(ATTENTION[name]))
    assert not isinstance(found, Refusal)
    assert (found.mask is not None) == (name in ("projected", "flat", "by definition, masked"))
    assert found.q.shape[:2] == found.k.shape[:2] == found.v.shape[:2] == found.out.shape[:2]
    scales = {name: 8**-0.5 for name in ATTENTION if "definition" in name or name == "projected"}
    scales |= {"unshifted": 0.3, "flat": 0.35, "turned scores": 0.3}
    assert found.scale == pytest.approx(scales.get(name, 1.0))


@pytest.mark.parametrize("name", ["plain", "unshifted", "projected", "by definition"])
def test_the_search_offers_attentions(name):
    """Among its chains are some that compute the output from views of the inputs."""
    b = Builder("test")
    graph = b.graph([("y", ATTENTION[name](b))])
    taken = [c for c in enumerate_cones(graph, Limits(chain=0)) if len(c.linear) == 2 and not BACKEND.refuses(c)]
    whole = [c for c in taken if c.root == graph.outputs[0]]
    assert whole and max(len(c.primitives) for c in whole) >= len(graph.primitives) - 6


def test_bounds_are_below_what_the_peaks_allow():
    machine = device_named("H200").machine
    cone = cone_of(lambda b: x(b, 4096, 4096) @ x(b, 4096, 4096, name="z"))
    flops = 2 * 4096**3
    assert BACKEND.bound(cone, machine) == pytest.approx(flops / machine.peak("tf32"))
    assert BACKEND.under("strict").bound(cone, machine) == pytest.approx(flops / machine.peak_flops)
    assert BACKEND.under("fast").bound(cone, machine) == pytest.approx(flops / machine.peak("fp16"))
    small = cone_of(PRODUCTS["plain"])
    assert BACKEND.bound(small, machine) == machine.moving(4 * (17 * 23 + 23 * 31 + 17 * 31))


def attended(b: Builder, change=lambda s: s, **sizes) -> Value:
    q, k, v = qkv(b, **sizes)
    return softmax(b, change(q @ turned(k, 0, 1, 3, 2))) @ v


def _wrong_sums(b: Builder) -> Value:
    q, k, v = qkv(b)
    e = b.op("Exp", q @ turned(k, 0, 1, 3, 2))
    return e / b.op("ReduceSum", e, axes=(2,), keepdims=1) @ v


REFUSED = {
    "map": (lambda b: relu(x(b, 5)), "no linear primitive"),
    "sparse": (lambda b: b.op("Interpolate", x(b, 5), axis=0, taps=1, indices=(0, 1), weights=(1.0, 2.0)), "no linear"),
    "two products": (lambda b: x(b, 4, 5) @ const(b, 5, 6) @ const(b, 6, 7, name="z"), "no softmax"),
    "several": (lambda b: conv(convolved(b, 0, pads=1), const(b, 3, 7, 1, 1, name="z")), "no attention"),
    "sigmoid": (lambda b: b.op("Sigmoid", x(b, 4, 5) @ const(b, 5, 6)), "has Sigmoid"),
    "tanh": (lambda b: b.op("Tanh", x(b, 4, 5) @ const(b, 5, 6)), "goes on with tanh after the sums"),
    "two additions": (lambda b: x(b, 4, 5) @ const(b, 5, 6) + const(b, 6, name="u") + x(b, 4, 6, name="r"), "adds 2"),
    "scale after": (lambda b: (x(b, 4, 5) @ const(b, 5, 6) + const(b, 6, name="u")) * 2.0, "after an addition"),
    "batches relu": (lambda b: relu(x(b, 2, 4, 5) @ x(b, 2, 5, 6, name="z")), "not a batch of them"),
    "strided": (
        lambda b: b.op("Slice", x(b, 8, 10), starts=(0, 0), steps=(2, 2), lengths=(4, 5)) @ const(b, 5, 6),
        "no dense axis",
    ),
    "backwards": (
        lambda b: (
            b.op("Slice", x(b, 9, 4, 5), starts=(8, 0, 0), steps=(-1, 1, 1), lengths=(9, 4, 5))
            @ x(b, 9, 5, 6, name="z")
        ),
        "backwards",
    ),
    "many batches": (
        lambda b: turned(x(b, 40, 4, 3, 5), 0, 2, 1, 3) @ turned(x(b, 40, 4, 3, 5, name="z"), 0, 2, 3, 1),
        "one stride",
    ),
    "float64": (lambda b: b.input("x", "float64", (4, 5)) @ b.input("z", "float64", (5, 6)), "float64"),
    "number": (lambda b: x(b, 4, 1) @ b.constant([[2.0]], "float32"), "is a number"),
    "pads": (lambda b: convolved(b, 0, pads=(0, 1, 1, 0)), "both ends alike"),
    "negative pads": (lambda b: convolved(b, 0, pads=(-1, -1, -1, -1)), "negative"),
    "three axes": (lambda b: convolved(b, 0, w=(7, 5, 3, 3, 3), size=(5, 6, 7)), "3 axes"),
    "residual": (lambda b: (lambda y: y + x(b, *y.shape, name="r"))(convolved(b, 0)), "without a Relu"),
    "gelu": (lambda b: gelu(convolved(b, 0)), "ends in gelu"),
    "half a residual": (lambda b: relu(convolved(b, 0) + x(b, 2, 1, 1, 1, name="r")), "neither a bias"),
    "mixed layouts": (
        lambda b: conv(turned(image(b, 1, 2, 5, 9, 9), 0, 3, 1, 2), const(b, 7, 5, 3, 3)),
        "memory format",
    ),
    "transposed relu": (lambda b: relu(deconvolved(b, 0) + channels(b, 0, 5)), "a bias only"),
    "too long": (lambda b: deconvolved(b, 0, extra=2), "output padding"),
    "sums of another axis": (_wrong_sums, "another order"),
    "masked, then scaled": (lambda b: attended(b, lambda s: (s + x(b, 9, 17, name="m")) * 0.5), "after a mask"),
    "capped": (lambda b: attended(b, lambda s: b.op("Tanh", s)), "neither a scale nor a mask"),
    "odd heads": (lambda b: attended(b, size=6), "no fused attention for heads of 6"),
}


@pytest.mark.parametrize("make, reason", REFUSED.values(), ids=REFUSED)
def test_refuses_with_a_reason(make, reason):
    refusal = BACKEND.refuses(cone_of(make))
    assert isinstance(refusal, Refusal) and reason in refusal.reason


def test_strict_numerics_have_no_fused_attention():
    refusal = BACKEND.under("strict").refuses(cone_of(ATTENTION["plain"]))
    assert isinstance(refusal, Refusal) and "in ieee" in refusal.reason


@pytest.mark.parametrize("name", ["map", "several", "sigmoid", "two products"])
def test_refusals_are_quick(name):
    cone = cone_of(REFUSED[name][0])
    BACKEND.refuses(cone)
    assert min(timeit.repeat(lambda: BACKEND.refuses(cone), number=20, repeat=5)) / 20 < 500e-6
