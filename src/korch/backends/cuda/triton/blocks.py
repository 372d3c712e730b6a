"""Traces of blocks of elements: windows and depthwise convolutions are written out, reductions held in registers."""

from __future__ import annotations

from collections.abc import Mapping

from korch.backends.cuda.triton import windows
from korch.backends.cuda.triton.language import TritonLanguage
from korch.backends.cuda.triton.names import names_in
from korch.backends.maps.index import Div, Index, Mod
from korch.backends.maps.trace import Indices, ReadStage, Requests, Trace
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


class BlockTrace(Trace):
    """The statements on one tile. `held` names what reductions gave; `dims` are the dimensions that a name has."""

    language: TritonLanguage

    def __init__(
        self,
        makers: Mapping[Tensor, Primitive],
        arrays: Mapping[Tensor, str],
        stored: Mapping[Tensor, ReadStage],
        language: TritonLanguage,
        dims: Mapping[str, frozenset[int]],
        held: dict[Tensor, str],
        stem: str = "v",
    ) -> None:
        super().__init__(makers, arrays, stored, Requests(), language, stem)
        self.dims = dict(dims)
        self.held = held

    def name(self, expression: str, dtype: str, *operands: str | Index) -> str:
        variable = super().name(expression, dtype, *operands)
        self.dims[variable] = self.dims_of(expression)
        return variable

    def dims_of(self, expression: str) -> frozenset[int]:
        """The tile's dimensions that the value of an expression has."""
        return frozenset(d for name in names_in(expression) for d in self.dims.get(name, ()))

    def _compute(self, t: Tensor, idx: Indices) -> str:
        if t not in self.held or t in self.stored:
            return super()._compute(t, idx)
        self.reads.append((t, idx))
        for e in idx:
            self.want_splits(e)
        return self.held[t]

    def want_splits(self, e: Index) -> None:
        """Asks for variables whose divisions in `e` vanish."""
        for atom in e.atoms():
            if isinstance(atom, Div | Mod):
                self.requests.split(atom.of, atom.by)

    def through(self, p: Primitive, idx: Indices) -> str:
        if windows.is_window(p):
            return windows.written_out(self, p, idx)
        if p.category is Category.REDUCE:
            return self._of_one(p, idx)
        return super().through(p, idx)

    def _of_one(self, p: Primitive, idx: Indices) -> str:
        """A reduction along axes of length 1."""
        if p.spec.ranks:
            return self.language.literal(0, p.output.dtype)
        kept = iter(idx)
        source = [
            next(kept) if p.attr("keepdims") or a not in p.attr("axes") else Index() for a in range(p.inputs[0].rank)
        ]
        return self.value(p.inputs[0], tuple(source))
