"""The Triton kernels whose text is golden: every form that the generators of device code have, on small cones."""

from __future__ import annotations

from collections.abc import Mapping

from korch.backends.contract import Kernel
from korch.backends.cuda.triton.backend import BACKEND
from korch.backends.cuda.triton.linear.emit import kernel
from korch.backends.cuda.triton.linear.tiles import ProductTile
from korch.ir import Cone

from . import test_triton, test_triton_reductions
from .cones import CONES, DEPTHWISE, cone_of, one_pass, softmax
from .test_triton_linear import CONES as LINEAR
from .test_triton_linear import split

FEW, MANY = 4, 132
"""Multiprocessors: with few, small tensors have blocks as large as large tensors have."""
TILE = ProductTile(16, 32, 16, 4, 3)
MAPS = ("gelu", "where", "concat last", "nearest", "linear", "pad reflect", "take in batches", "embedding")
ROWS = ("prime rows", "group norm", "doubled rows", "mean of softmax", "mirrored", "long rows")
PICKS = ("ArgMax 1 0 int32", "ArgMin 0 1 float32")
WINDOWS = ("large", "large mean", "with pads", "dilated")
PRODUCTS = {
    "odd": "ieee",
    "several": "tf32",
    "batch_const": "tf32x3",
    "broadcast_mixed": "fp16",
    "behind": "tf32",
    "heads": "bf16",
    "scores": "tf32",
    "back": "ieee",
    "before": "ieee",
    "upsampled": "tf32",
    "conv": "tf32",
    "conv_first": "fp16",
    "conv_pointwise": "tf32",
    "conv_stem": "bf16x3",
    "conv_groups": "tf32",
    "conv_line": "tf32",
    "conv_volume": "ieee",
    "conv_flattened": "tf32",
    "conv_patches": "tf32",
}
"""Precisions of the cones of `test_triton_linear.py`."""


def _first(cones: Mapping[str, Cone], multiprocessors: int = FEW) -> dict[str, Kernel]:
    return {name: BACKEND.build(cone, multiprocessors)[0] for name, cone in cones.items()}


def _some(cones: Mapping[str, Cone], names: tuple[str, ...]) -> dict[str, Cone]:
    return {name: cones[name] for name in names}


def kernels() -> dict[str, Kernel]:
    """The kernels by the names of their files."""
    large = {
        "rows in registers": cone_of(softmax(1), (4096, 1000)),
        "one pass of images": cone_of(one_pass((2, 3)), (2, 132, 200, 200)),
        "shared out rows": cone_of(softmax(1), (1, 1 << 20)),
    }
    folders = {
        "maps": _first(_some(CONES, MAPS))
        | _first(_some(test_triton.MAPS, ("turned", "turned and padded", "unlike reshapes", "remainders")), MANY),
        "reductions": _first(_some(test_triton_reductions.ROWS, ROWS))
        | _first(_some(test_triton_reductions.PICKS, PICKS))
        | _first(large, MANY),
        "windows": _first(_some(test_triton_reductions.WINDOWS, WINDOWS))
        | _first({"depthwise": DEPTHWISE[1], "depthwise of a signal": DEPTHWISE[12]}),
        "products": {name: kernel(LINEAR[name], TILE, precision) for name, precision in PRODUCTS.items()}
        | {"split": split("odd")[0], "split conv": split("conv")[0]},
    }
    return {_file(folder, name): found for folder, some in folders.items() for name, found in some.items()}


def _file(folder: str, name: str) -> str:
    return f"triton/{folder}/{name.replace(' ', '_')}.py"
