"""The C around the stages' kernels: a loop over strips, shared out to the threads, and what each kernel is given."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from korch.backends.contract import Kernel
from korch.backends.cpu.c import Block, Code, Function, Linkage, Statements, Table, own, run_function
from korch.backends.cpu.c.rename import prefixed
from korch.backends.cpu.c.tree import FREE, INIT, RUN, Declaration, comments, free_function, init_function
from korch.backends.cpu.loops.backend import BACKEND as GENERATED
from korch.backends.cpu.loops.ctypes import C_TYPES
from korch.backends.cpu.loops.writer import aligned
from korch.backends.cpu.tiles.piece import Piece, Strip, Turn
from korch.backends.cpu.tiles.strips import Chunk, scratch
from korch.ir.cone import Cone
from korch.ir.ops.spans import SUMMED, Read
from korch.ir.tensor import Tensor


@dataclass(frozen=True)
class Slide:
    """With which byte of its memory a buffer begins, and from which byte on what is kept moves there, or 0."""

    begin: int
    moved: int = 0


@dataclass(frozen=True)
class Parts:
    """What the strips are made of: every distinct kernel once, by what the pieces call it that it makes. A buffer that
    keeps a halo `slides` through memory for so many strips before the halo moves back to where it began."""

    cone: Cone
    chunks: tuple[Chunk, ...]
    kernels: Mapping[str, Kernel]
    threads: int
    slides: int = 0

    @cached_property
    def turns(self) -> list[tuple[Turn, Turn]]:
        """Each turn, and the same begun anew: with one thread, nobody does."""
        anew = [turn if self.threads > 1 else () for chunk in self.chunks for turn in chunk.anew]
        every = [turn for chunk in self.chunks for turn in chunk.turns]
        return list(itertools.zip_longest(every, anew, fillvalue=()))

    @cached_property
    def strips(self) -> list[Strip]:
        return [strip for turn, anew in self.turns for strip in (*turn, *anew)]

    @cached_property
    def sums(self) -> dict[int, int]:
        """Where the root is a sum, the place of each strip's share of it, by the first position that it adds up."""
        spans = {strip[-1].made for strip in self.strips}
        return {begin: i for i, begin in enumerate(sorted(s.begin for s in spans if s.axis == SUMMED))}

    @cached_property
    def begins(self) -> list[int]:
        """With which turn each thread begins, and the number of turns: chunks are shared out in their order."""
        ends = [0, *itertools.accumulate(len(chunk.turns) for chunk in self.chunks)]
        count = min(self.threads, len(self.chunks))
        return [ends[min(i, count) * len(self.chunks) // count] for i in range(self.threads + 1)]

    @cached_property
    def number(self) -> dict[str, int]:
        return {key: i for i, key in enumerate(self.kernels)}

    @cached_property
    def leaf(self) -> dict[str, int]:
        """The numbers of the cone's leaves, of which bands have parts of the same name."""
        return {t.name: i for i, t in enumerate(self.cone.leaves)}

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the stages' roots lie in a thread's scratch, by name."""
        at, places = 0, dict[str, int]()
        for name, size in self.sizes.items():
            places[name] = at
            at += aligned(size)
        return places

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Bytes of the stages' roots in a thread's scratch, by name."""
        return scratch(self.chunks, self.slides)

    @cached_property
    def begins_at(self) -> list[dict[str, Slide]]:
        """By strip, where the buffers of stages that keep a halo begin, by name: in one turn and the same begun anew
        alike, so that the next can follow either."""
        found: list[dict[str, Slide]] = []
        for chunk in self.chunks:
            at = dict[str, Slide]()
            for turn, anew in itertools.zip_longest(chunk.turns, chunk.anew if self.threads > 1 else (), fillvalue=()):
                kept = [p for strip in turn for p in strip if p.kept]
                at = dict.fromkeys(at, Slide(0)) | {p.stage.root.name: self._slide(p, at) for p in kept}
                found += [at] * (len(turn) + len(anew))
        return found

    def _slide(self, piece: Piece, before: Mapping[str, Slide]) -> Slide:
        """Where the piece's buffer begins: with what is kept, or where its memory does if it would not fit there."""
        name, each = piece.stage.root.name, _each(piece.stage.root, piece.made.axis)
        begin = piece.shift * each + (before[name].begin if name in before else 0)
        return Slide(begin) if begin + piece.holds.length * each <= self.sizes[name] else Slide(0, begin)

    @cached_property
    def codes(self) -> dict[str, Code]:
        """The code of the kernels by key."""
        return {key: k.code for key, k in self.kernels.items() if k.code}

    @cached_property
    def states(self) -> dict[str, int]:
        """By key, the number of the first kernel with the same state: a stage's kernels for strips at the edges and in
        the middle pack the same constants alike."""
        known: dict[tuple[object, ...], int] = {}
        made = {key: self.codes[key].functions.get(INIT) if _is_shared(k) else key for key, k in self.kernels.items()}
        return {key: known.setdefault((init, *self.constants(key)), self.number[key]) for key, init in made.items()}

    def constants(self, key: str) -> list[str]:
        """In C, the constants of a kernel's leaves."""
        piece = next(p for strip in self.strips for p in strip if p.kernel == key)
        return [f"in[{self.leaf[t.name]}]" if t.const else "NULL" for t in piece.leaves]

    @cached_property
    def own(self) -> int:
        """Bytes of a thread's scratch: the stages' roots, then the kernels' workspace."""
        return self.buffers + aligned(max(k.workspace for k in self.kernels.values()))

    @cached_property
    def buffers(self) -> int:
        """Bytes of the stages' roots; the kernels' workspace is after them."""
        return sum(map(aligned, self.sizes.values()))


def emit(parts: Parts) -> Code:
    """C of the whole kernel (see `contract.py`)."""
    forms = list(dict.fromkeys(map(_form, parts.strips)))
    first = {form: next(s for s in parts.strips if _form(s) == form) for form in forms}
    declarations = (
        *comments(parts.cone),
        *_kernels(parts),
        _free(parts),
        _init(parts),
        *(_strip(parts, i, strip) for i, strip in enumerate(first.values())),
        *_tables(parts, forms),
        _run(parts, len(forms)),
    )
    workspace = parts.own * parts.threads + len(parts.sums) * aligned(parts.cone.root.nbytes)
    used = parts.codes.values()
    headers, libraries = (h for code in used for h in code.headers), (n for code in used for n in code.libraries)
    return Code(declarations, workspace, tuple(dict.fromkeys(headers)), tuple(dict.fromkeys(libraries)))


def _kernels(parts: Parts) -> Iterator[Declaration]:
    """What runs a generated stage is a function that other chains may have, too; what calls a library is each unit's
    own."""
    for i, (key, kernel) in enumerate(parts.kernels.items()):
        for d in prefixed(parts.codes[key], f"stage{i}_"):
            runs = isinstance(d, Function) and d.name == f"stage{i}_{RUN}"
            yield replace(d, linkage=Linkage.SEPARATE) if runs and _is_shared(kernel) else d


# State, made for one thread: of oneDNN's kernels one for each thread; generated ones read theirs, and share it ----


def _init(parts: Parts) -> Function:
    count = len(parts.kernels)
    text = Statements()
    text.add(
        "int status = 0;",
        "#ifdef _OPENMP",
        "const int threads = omp_get_max_threads();",
        "omp_set_num_threads(1);",
        "#endif",
        f"void **const all = calloc({parts.threads * count}, sizeof *all);",
        "if (!all) status = 1;",
    )
    with text.block(f"for (int t = 0; !status && t < {parts.threads}; ++t)"):
        text.add(
            f"void **const own = all + t * {count};", *(line for key in parts.kernels for line in _init_one(parts, key))
        )
    text.add(
        "#ifdef _OPENMP",
        "omp_set_num_threads(threads);",
        "#endif",
        f"if (status && all) {own(FREE)}(all);",
        "*state = status ? NULL : all;",
        "return status;",
    )
    return init_function(text.body)


def _init_one(parts: Parts, key: str) -> list[str]:
    i, first = parts.number[key], parts.states[key]
    if not parts.codes[key].has(INIT):
        return []
    if first != i:
        return [f"own[{i}] = own[{first}];"]
    only = f"if (t) own[{i}] = all[{i}]; else " if _is_shared(parts.kernels[key]) else ""
    return [
        f"const void *const in{i}[] = {{{', '.join(parts.constants(key))}}};",
        f"{only}if (!status) status = {own(f'stage{i}_{INIT}')}(&own[{i}], in{i});",
    ]


def _free(parts: Parts) -> Function:
    count = len(parts.kernels)
    text = Statements()
    with text.block(f"for (int t = 0; t < {parts.threads}; ++t)"):
        text.add(f"void **const own = (void **)state + t * {count};", "(void)own;")
        for i, (key, kernel) in enumerate(parts.kernels.items()):
            if parts.states[key] == i and parts.codes[key].has(FREE):
                only = " && !t" if _is_shared(kernel) else ""
                text.add(f"if (own[{i}]{only}) {own(f'stage{i}_{FREE}')}(own[{i}]);")
    text.add("free(state);")
    return free_function(text.body)


def _is_shared(kernel: Kernel) -> bool:
    """Whether threads may have one state, and kernels one function: what generated code packs, it only reads."""
    return kernel.backend == GENERATED.name


# Running ----------------------------------------------------------------------------------------------------------


def _strip(parts: Parts, form: int, strip: Strip) -> Function:
    """A function that runs the stages of one strip; `at` says where in their buffers it lies."""
    text = Statements()
    n = 0
    for piece in strip:
        i = parts.number[piece.kernel]
        buffer = "out" if piece is strip[-1] else f"scratch + {parts.places[piece.stage.root.name]}"
        if piece.kept:
            text.add(f"memmove({buffer}, {buffer} + at[{n}], at[{n + 1}]);")
        n += 2 if piece.kept else 0
        given: list[str] = []
        for t in piece.leaves:
            given.append(_buffer(parts, t) if t.const else f"{_buffer(parts, t)} + at[{n}]")
            n += not t.const
        with text.block():
            text.add(
                f"char *const made = {buffer} + at[{n}];",
                f"const void *const given[] = {{{', '.join((*given, 'made'))}}};",
                f"{own(f'stage{i}_{RUN}')}(own[{i}], given, made, scratch + {parts.buffers});",
            )
        n += 1
    parameters = "void **own, const void *const *in, char *out, char *scratch, const int64_t *at"
    return Function(f"strip{form}", parameters, text.body)


def _buffer(parts: Parts, t: Tensor) -> str:
    if t.name in parts.places:
        return f"scratch + {parts.places[t.name]}"
    return f"(const char *)in[{parts.leaf[t.name]}]"


def _offsets(parts: Parts, strip: Strip, slides: Mapping[str, Slide]) -> list[int]:
    """Bytes in the order in which `_strip` asks for them."""
    found: list[int] = []
    begins = {name: slide.begin for name, slide in slides.items()}
    for piece in strip:
        each = _each(piece.stage.root, piece.made.axis)
        moved = slides[piece.stage.root.name].moved if piece.kept else 0
        found += [moved, piece.kept * each if moved else 0] if piece.kept else []
        last = piece is strip[-1]
        touched = (*piece.leaves, parts.cone.root if last else piece.stage.root)
        spans = zip((*piece.reads, piece.made), (*piece.begins, 0 if last else piece.holds.begin), strict=True)
        across = piece.across or (None,) * len(touched)
        found += [
            _start(t, read, begin) + _start(t, beside, 0) + begins.get(t.name, 0)
            for t, (read, begin), beside in zip(touched, spans, across, strict=True)
            if not t.const
        ]
    if parts.sums:
        found[-1] = parts.sums[strip[-1].made.begin] * aligned(parts.cone.root.nbytes)
    return found


def _start(t: Tensor, read: Read, first: int) -> int:
    """Where a span begins in a buffer that begins with position `first`."""
    return 0 if read is None else (read.begin - first) * _each(t, read.axis)


def _each(t: Tensor, axis: int) -> int:
    """Bytes of one position."""
    return math.prod(t.shape[axis + 1 :]) * np.dtype(t.dtype).itemsize


def _form(strip: Strip) -> tuple[str, ...]:
    """Strips of one form run one function."""
    return tuple(f"{piece.kernel} {bool(piece.kept)}" for piece in strip)


def _tables(parts: Parts, forms: Sequence[tuple[str, ...]]) -> Iterator[Table]:
    rows = [_offsets(parts, strip, slides) for strip, slides in zip(parts.strips, parts.begins_at, strict=True)]
    yield Table("int64_t", "at", tuple(map(_row, rows)), f"[][{max(map(len, rows))}]")
    yield Table.of("short", "form", (forms.index(_form(s)) for s in parts.strips))
    if parts.threads > 1:
        yield from _turns(parts)


def _turns(parts: Parts) -> Iterator[Table]:
    """Rows of the table `at`: of each turn, of the same begun anew, and where those end."""
    ends = [0, *itertools.accumulate(len(strips) for pair in parts.turns for strips in pair)]
    yield Table("int", "rows", tuple(_row(ends[2 * i : 2 * i + 3]) for i in range(len(parts.turns))), "[][3]")
    yield Table.of("unsigned char", "anew", (int(bool(anew)) for _, anew in parts.turns))
    yield Table.of("int", "begins", parts.begins)


def _row(numbers: Iterable[int]) -> str:
    return f"{{{', '.join(map(str, numbers))}}}"


def _run(parts: Parts, forms: int) -> Function:
    """Threads help each other: a turn that follows none of this thread's is begun anew."""
    text, team = Statements(steals=parts.threads > 1), parts.threads > 1
    if team:
        text.add("const int thread = omp_get_thread_num();")
    own_state, own_scratch = (
        (f" + thread * {len(parts.kernels)}", f" + thread * INT64_C({parts.own})") if team else ("", "")
    )
    text.add(f"void **const own = (void **)state{own_state};", f"char *const scratch = (char *)workspace{own_scratch};")
    if parts.sums:  # the strips' shares of a sum lie after the threads' scratch
        text.add(f"char *const shares = (char *)workspace + INT64_C({parts.threads * parts.own});")
    if team:
        begins, anew = own("begins"), own("anew")
        text.add(f"korch_turns turns = korch_share_out(thread, {parts.threads}, {begins}, {anew});")
        with text.block("for (int turn, next = -1; (turn = korch_take(&turns)) >= 0; next = turn + 1)"):
            text.add(f"const int *const rows = {own('rows')}[turn] + (turn != next);")
            text.add("for (int i = rows[0]; i < rows[1]; ++i)", _switch(parts, forms))
    else:
        text.add(f"for (int i = 0; i < {len(parts.strips)}; ++i)", _switch(parts, forms))
    if parts.sums:
        _add_total(parts, text)
    return run_function(team, text.body, text.steals)


def _switch(parts: Parts, forms: int) -> Block:
    """Runs strip i."""
    made, at = "shares" if parts.sums else "out", f"{own('at')}[i]"
    calls = (f"case {f}: {own(f'strip{f}')}(own, in, {made}, scratch, {at}); break;" for f in range(forms))
    return Block(f"switch ({own('form')}[i])", tuple(calls))


def _add_total(parts: Parts, text: Statements) -> None:
    """The sum of the strips' shares in the order of the strips, whoever made them; each thread adds up a part."""
    root = parts.cone.root
    ctype, each = C_TYPES[root.dtype], aligned(root.nbytes) // np.dtype(root.dtype).itemsize
    text.add(
        f"const {ctype} *const share = (const {ctype} *)shares;",
        f"{ctype} *const total = ({ctype} *)out;",
        *(["#pragma omp barrier", "#pragma omp for schedule(static) nowait"] if parts.threads > 1 else []),
    )
    with text.block(f"for (int64_t i = 0; i < {root.size}; ++i)"):
        text.add(
            f"{ctype} sum = share[i];",
            f"for (int s = 1; s < {len(parts.sums)}; ++s) sum += share[s * INT64_C({each}) + i];",
            "total[i] = sum;",
        )
