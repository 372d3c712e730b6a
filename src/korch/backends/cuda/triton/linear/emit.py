"""Writes the functions of a product: one multiplies a tile a block, another joins the parts of split steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from korch.backends import contract
from korch.backends.contract import Kernel, Launch
from korch.backends.cuda.triton.language import TritonLanguage
from korch.backends.cuda.triton.linear.epilogue import epilogue_of
from korch.backends.cuda.triton.linear.language import Named
from korch.backends.cuda.triton.linear.mainloop import Mainloop, masks, variables
from korch.backends.cuda.triton.linear.operands import Weights, weights_of
from korch.backends.cuda.triton.linear.product import Contraction, Size, product_of
from korch.backends.cuda.triton.linear.tiles import ProductTile
from korch.backends.cuda.triton.names import names_in
from korch.backends.maps.index import flat
from korch.errors import BackendError
from korch.ir.cone import Cone

SUPER = 8
"""Tiles along the rows that run side by side before the next columns: they share what they read of both operands."""
JOINED = ProductTile(4, 128, 1, 4, 2)
"""What a block of the second launch joins: one wide load a thread and part, which it need not wait for."""
INDENT = "    "


def kernel(cone: Cone, tile: ProductTile, precision: str) -> Kernel:
    """The kernel of the cone's product in such tiles."""
    product = product_of(cone.linear[0])
    return ProductWriter(cone, product, tile, precision, weights_of(cone, product, precision)).kernel()


@dataclass(frozen=True)
class ProductWriter:
    """The cone, how it multiplies, in which tiles, rounded to what."""

    cone: Cone
    product: Contraction
    tile: ProductTile
    precision: str
    weights: tuple[Weights, ...]
    tables: dict[tuple[float, ...], str] = field(default_factory=dict[tuple[float, ...], str])

    def kernel(self) -> Kernel:
        functions = [("product", self.tile, self._multiply())]
        if self.tile.parts > 1:
            functions.append(("join", JOINED, self._join()))
        prepared = (*(w.prepared for w in self.weights), *TritonLanguage({}, self.tables).prepared())
        launches = tuple(self._launch(*f) for f in functions)
        body = contract.Triton(self._source(functions), launches, prepared, self._workspace())
        return Kernel(self.cone, "triton", self.tile.variant(self.precision), body)

    @property
    def size(self) -> Size:
        return Size.of(self.product)

    def _source(self, functions: Sequence[tuple[str, ProductTile, list[str]]]) -> str:
        heads = [f"# {line}" for line in str(self.cone).splitlines()]
        texts = [
            [f"def {name}({', '.join(self._used(lines))}):", *(INDENT + line for line in lines)]
            for name, _, lines in functions
        ]
        return "\n\n\n".join("\n".join(part) for part in (heads, *texts)) + "\n"

    def _launch(self, name: str, tile: ProductTile, lines: list[str]) -> Launch:
        numbers = {buffer: i for i, buffer in enumerate(self._buffers())}
        used = tuple(numbers[b] for b in self._used(lines))
        sides = (tile.rows, tile.columns, tile.depth) if tile is self.tile else ()
        return Launch(name, (tile.blocks(self.size), 1, 1), used, tile.warps, tile.stages, sides)

    def _buffers(self) -> list[str]:
        leaves = [f"in{i}" for i in range(len(self.cone.leaves))]
        return [*leaves, "out", *(w.name for w in self.weights), *self.tables.values(), "workspace"]

    def _used(self, lines: list[str]) -> list[str]:
        read = names_in("\n".join(lines))
        return [name for name in self._buffers() if name in read]

    def _workspace(self) -> int:
        size = self.size
        return 4 * self.tile.parts * size.batch * size.rows * size.columns if self.tile.parts > 1 else 0

    def _multiply(self) -> list[str]:
        tile, size = self.tile, self.size
        still, turn = Mainloop(self.cone, self.product, tile, self.precision, self.weights, self.tables).written()
        per, over = divmod(tile.turns(size), tile.parts)
        if over:
            raise BackendError(f"{tile.turns(size)} turns are not {tile.parts} equal parts")
        loop = [f"for step in range({per}):"]
        if tile.parts > 1:
            loop = [f"for turn in range({per}):", f"{INDENT}step = part * {per} + turn"]
        start = [f"total = tl.zeros(({tile.rows}, {tile.columns}), tl.float32)", *loop]
        end = self._partial() if tile.parts > 1 else self._ending(tile)
        return [*_places(tile, size), *still, *start, *(INDENT + line for line in turn), *end]

    def _partial(self) -> list[str]:
        """Stores the sums of one part where the second launch finds them."""
        return [self._parts_at(), f"tl.store({self._part_at()}, total{_mask(masks(self.tile, self.size))})"]

    def _parts_at(self) -> str:
        return "partial = workspace.to(tl.pointer_type(tl.float32))"

    def _part_at(self) -> str:
        size = self.size
        place = f"part * {size.batch} + z" if size.batch > 1 else "part"
        return f"partial + ((({place}) * {size.rows} + m) * {size.columns} + n)"

    def _join(self) -> list[str]:
        """Adds the parts in their order, and computes what follows."""
        mask = _mask(masks(JOINED, self.size))
        other = ", other=0" if mask else ""
        return [
            *_places(JOINED, self.size),
            self._parts_at(),
            f"total = tl.zeros(({JOINED.rows}, {JOINED.columns}), tl.float32)",
            f"for part in tl.static_range({self.tile.parts}):",
            f"{INDENT}total += tl.load({self._part_at()}{mask}{other})",
            *self._ending(JOINED),
        ]

    def _ending(self, tile: ProductTile) -> list[str]:
        """From the product's tile `total` to the stored root."""
        own = masks(tile, self.size)
        language = TritonLanguage(own, self.tables)
        epilogue = epilogue_of(self.cone, self.cone.linear[0], self.product.result(*variables(self.size)))
        if isinstance(epilogue, str):
            raise BackendError(epilogue)
        trace = Named("y", self.cone, {}, language)
        value = epilogue.value(trace, "total")
        at = flat(epilogue.places[self.cone.root], self.cone.root.shape)
        missing = [f" + {v} * 0" for v in "mn" if v not in {u.name for u in at.vars()}]
        return [*trace.lines, f"tl.store(out + ({language.index(at)}{''.join(missing)}), {value}{_mask(own)})"]


def _mask(conditions: dict[str, str]) -> str:
    return f", mask={' & '.join(conditions.values())}" if conditions else ""


def _places(tile: ProductTile, size: Size) -> list[str]:
    """Which part, product of the batch, rows and columns a block has: m and n as blocks of a column and a row."""
    across, along = tile.grid(size)
    blocks = across * along
    lines = ["block = tl.program_id(0)"]
    if tile.parts > 1:
        lines.append(f"part = block // {blocks * size.batch}")
    if size.batch > 1:
        lines.append(f"z = block // {blocks}" + (f" % {size.batch}" if tile.parts > 1 else ""))
    if size.batch * tile.parts > 1:
        lines.append(f"block = block % {blocks}")
    row, column, more = _grouped(across, along)
    lines += more
    lines.append(f"m = {_start(row, tile.rows, across)}tl.arange(0, {tile.rows})[:, None]")
    lines.append(f"n = {_start(column, tile.columns, along)}tl.arange(0, {tile.columns})[None, :]")
    own = masks(tile, size)
    return lines + [
        f"{name} = {v} < {n}" for v, name, n in (("m", "rows", size.rows), ("n", "columns", size.columns)) if v in own
    ]


def _start(number: str, by: int, count: int) -> str:
    return f"{number} * {by} + " if count > 1 else ""


def _grouped(across: int, along: int) -> tuple[str, str, list[str]]:
    """(tile along the rows, tile along the columns, statements before): super-rows of tiles."""
    if across == 1 or along == 1:
        return "block", "block", []
    if across <= SUPER:
        return f"(block % {across})", f"(block // {across})", []
    height = str(SUPER) if across % SUPER == 0 else "height"
    lines = [f"upper = block // {SUPER * along} * {SUPER}", f"block = block % {SUPER * along}"]
    if height == "height":
        lines.append(f"height = tl.minimum({across} - upper, {SUPER})")
    return f"(upper + block % {height})", f"(block // {height})", lines
