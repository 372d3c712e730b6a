"""Images by their positions modulo a step: how they are filled up to whole steps, and padded by whole ones."""

from __future__ import annotations

from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.transformed import Transformed

Pads = tuple[int, ...]
"""Before, axis by axis, then after: top, left, bottom, right of an image."""


def in_whole_steps(p: Primitive, step: int, taps: int) -> tuple[Pads, Pads]:
    """Zeros that fill the input of the convolution `p` up to whole steps, the first where its pads begin one; and the
    steps that go around it, so that `taps` of them meet each of the output."""
    lengths, outputs = p.inputs[0].shape[1:-1], p.output.shape[1:-1]
    before = p.attr("pads")[: len(lengths)]
    begins = [pad % step for pad in before]
    counts = [-(-(n + begin) // step) for n, begin in zip(lengths, begins, strict=True)]
    ends = (step * count - n - begin for n, begin, count in zip(lengths, begins, counts, strict=True))
    after = (
        -(-n // step) + taps - 1 - pad // step - count for n, pad, count in zip(outputs, before, counts, strict=True)
    )
    return (*begins, *ends), (*(pad // step for pad in before), *after)


def parted(build: Transformed, p: Primitive, filled: Pads, step: int, perm: tuple[int, ...]) -> Tensor:
    """The input of `p` with zeros `filled` in around it, as [N, H, step, W, step, C], or [N, length, step, C], in the
    order `perm`."""
    x, stem = p.inputs[0], f"{p.inputs[0].name}_{build.rule}{step}_{'_'.join(map(str, filled))}"
    if any(filled):
        axes = len(filled) // 2
        around = (0, *filled[:axes], 0, 0, *filled[axes:], 0)
        x = build.operand(p, "Pad", x, f"{stem}_filled", pads=around, mode="constant", value=0.0)
    n, *lengths, c = x.shape
    split = (n, *(part for length in lengths for part in (length // step, step)), c)
    parts = build.operand(p, "Reshape", x, f"{stem}_split", shape=split)
    return build.operand(p, "Transpose", parts, f"{stem}_parts", perm=perm)
