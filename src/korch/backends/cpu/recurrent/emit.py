"""The C of a recurrence.

A vector holds as many hidden units as it has lanes. All gates of these units are summed in registers, for several
batches side by side, beginning with what the inputs give them; weights lie packed in that order, so that a step reads
them from the second-level cache line after line. The states that a step reads are the output's rows of the step before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from korch.backends.cpu.c import Block, Code, Function, Linkage, Statements, Struct, Table, own, run_function
from korch.backends.cpu.c.tree import Declaration, comments, free_function, init_function
from korch.backends.cpu.loops.backend import HEADERS as LOOPS
from korch.backends.cpu.loops.caches import L2
from korch.backends.cpu.loops.tile import registers
from korch.ir.cone import Cone
from korch.ir.ops.recurrent import GATES, REVERSED
from korch.ir.primitive import Primitive

HEADERS = (*LOOPS, "korch_team.h")
CHAINS = 8
"""Sums side by side that keep the multipliers busy."""
SPARE = 4
"""Registers beside sums: weights, and one state's number."""


def emit(cone: Cone, threads: int, together: bool, parts: int) -> Code:
    """C of the kernel (see `contract.py`): threads share the units of every step, or take directions and `parts` of the
    batch for themselves."""
    form = _Form(cone, cone.primitives[0], threads, parts)
    tiles = (_tile(form, rows) for rows in form.heights)
    functions = (*_packing(form), *tiles, _step(form), _shared(form) if together else _alone(form))
    cells = form.kind == "LSTM" and not form.p.attr("cells")
    workspace = 4 * len(form.reversed) * form.batch * form.hidden * cells
    return Code((*comments(cone), *functions), workspace, HEADERS)


@dataclass(frozen=True)
class _Form:
    """The numbers of a kernel. `parts` of the batch are taken by different threads."""

    cone: Cone
    p: Primitive
    threads: int
    parts: int

    @property
    def kind(self) -> str:
        return self.p.attr("kind")

    @property
    def gates(self) -> int:
        return GATES[self.kind]

    @property
    def reversed(self) -> tuple[bool, ...]:
        return REVERSED[self.p.attr("direction")]

    @property
    def steps(self) -> int:
        return self.p.inputs[0].shape[0]

    @property
    def batch(self) -> int:
        return self.p.inputs[0].shape[1]

    @property
    def hidden(self) -> int:
        return self.p.inputs[1].shape[-1]

    @property
    def lanes(self) -> int:
        return registers().lanes

    @property
    def blocks(self) -> int:
        """Vectors of units."""
        return math.ceil(self.hidden / self.lanes)

    @property
    def packed(self) -> int:
        """Floats of a direction's packed weights."""
        return self.blocks * self.hidden * self.gates * self.lanes

    @property
    def ends(self) -> tuple[int, ...]:
        """Where the parts of the batch end, from 0 on."""
        return tuple(i * self.batch // self.parts for i in range(self.parts + 1))

    @property
    def heights(self) -> tuple[int, ...]:
        """How many batches a tile takes, the most first: registers' worth, and what parts leave over."""
        lengths = {b - a for a, b in pairwise(self.ends)}
        longest = max(lengths)
        usual = math.ceil(longest / math.ceil(longest / self.most))
        return tuple(sorted({usual, *(n % usual for n in lengths)} - {0}, reverse=True))

    @property
    def most(self) -> int:
        """How many batches a tile may take."""
        return max((registers().count - SPARE) // self.gates, 1)

    @property
    def chains(self) -> int:
        """In how many sums side by side a state is added up: the same for every tile, whichever threads share out the
        batch, and as few as the highest tile has registers for."""
        return max(1, min(CHAINS // (min(self.batch, self.most) * self.gates), self.hidden))

    def given(self, i: int) -> str:
        """The C array of the primitive's input number `i`."""
        return f"((const float *)in[{self.cone.leaves.index(self.p.inputs[i])}])"

    def load(self, at: str) -> str:
        if self.hidden % self.lanes:
            return f"korch_load_first{self.lanes}({at}, wanted)"
        return f"*(const korch_at{self.lanes} *)({at})"

    def store(self, at: str, value: str) -> str:
        if self.hidden % self.lanes:
            return f"korch_store_first{self.lanes}({at}, {value}, wanted);"
        return f"*(korch_at{self.lanes} *)({at}) = {value};"


def _packing(form: _Form) -> tuple[Declaration, ...]:
    """State: where threads meet, and of each direction the weights as [blocks of units, units, gates, lanes]."""
    hidden, gates, lanes, weights = form.hidden, form.gates, form.lanes, own("weights")
    size = 4 * len(form.reversed) * form.packed
    text = Statements()
    text.add(
        f"{weights} *w = *state = korch_aligned(sizeof *w);",
        "if (!w) return 1;",
        "memset(w, 0, sizeof *w);",
        f"float *to = w->of = korch_aligned({size});",
        "if (!to) return free(w), *state = NULL, 1;",
    )
    loops = (
        f"for (int d = 0; d < {len(form.reversed)}; ++d)",
        f"for (int u = 0; u < {form.blocks * lanes}; u += {lanes})",
        f"for (int k = 0; k < {hidden}; ++k)",
        f"for (int g = 0; g < {gates}; ++g)",
    )
    with text.nest(loops):
        at = f"((size_t)d * {gates * hidden} + g * {hidden} + u + i) * {hidden} + k"
        text.add(f"for (int i = 0; i < {lanes}; ++i) *to++ = u + i < {hidden} ? {form.given(1)}[{at}] : 0;")
    text.add(f"return korch_pack((void **)&w->of, {size});")
    free = free_function((f"korch_unpack((({weights} *)state)->of);", "free(state);"))
    return Struct("weights", "korch_meeting meeting; float *of;"), free, init_function(text.body)


# Tiles: a vector of units, and some batches -----------------------------------------------------------------------

_MORE = {"LSTM": "const float *cells_before, float *cells, ", "GRU": "const float *bias, "}
"""What a tile takes besides: by kind of network."""


def _tile(form: _Form, rows: int) -> Function:
    """`x`, `before`, `out` and cells point to the first of the batches; the first of the units is in `unit`."""
    gates, hidden, lanes, chains = form.gates, form.hidden, form.lanes, form.chains
    text = Statements()
    if hidden % lanes:
        text.add(f"const int wanted = KORCH_MIN({hidden} - unit, {lanes});")
    for r in range(rows):
        for g in range(gates):
            at = f"x + {r * _row(form) + g * hidden} + unit"
            start = form.load("bias + unit") if form.kind == "GRU" and g == 2 else form.load(at)
            text.add(f"korch_f{lanes} s{r}_{g}_0 = {start};")
            text.add(*(f"korch_f{lanes} s{r}_{g}_{c} = {{0}};" for c in range(1, chains)))
    text.add("int k = 0;")
    with text.block(f"for (; k + {chains} <= {hidden}; k += {chains})"):
        text.add(*(_multiplied(form, rows, c) for c in range(chains)))
    if hidden % chains:
        with text.block(f"for (; k < {hidden}; ++k)"):
            text.add(_multiplied(form, rows, 0))
    for r in range(rows):
        for g in range(gates):
            text.add(*(f"s{r}_{g}_0 += s{r}_{g}_{c};" for c in range(1, chains)))
        text.add(Block("", tuple(_ended(form, r))))
    parameters = (
        "const float *restrict w, const float *restrict x, const float *restrict before, "
        f"{_MORE.get(form.kind, '')}float *restrict out, int unit"
    )
    return Function(f"units{rows}", parameters, text.body, linkage=Linkage.SEPARATE)


def _row(form: _Form) -> int:
    """Floats of the inputs' product from one batch to the next."""
    return len(form.reversed) * form.gates * form.hidden


def _multiplied(form: _Form, rows: int, chain: int) -> Block:
    """One unit of the step before, times its weights for all gates."""
    lanes, k = form.lanes, f"(k + {chain})" if chain else "k"
    text = Statements()
    for g in range(form.gates):
        at = f"w + {k} * {form.gates * lanes} + {g * lanes}"
        text.add(f"const korch_f{lanes} w{g} = *(const korch_f{lanes} *)({at});")
    for r in range(rows):
        sums = " ".join(f"s{r}_{g}_{chain} += h * w{g};" for g in range(form.gates))
        text.add(f"{{ const float h = before[{r * form.hidden} + {k}]; {sums} }}")
    return Block("", text.body)


def _ended(form: _Form, r: int) -> Iterator[str]:
    """What the gates of batch `r` make of the state before."""
    lanes, hidden = form.lanes, form.hidden
    sums, at = [f"s{r}_{g}_0" for g in range(form.gates)], f"{r * hidden} + unit"
    sigmoid, tanh, vector = f"korch_sigmoid{lanes}", f"korch_tanh{lanes}", f"const korch_f{lanes}"
    match form.kind:
        case "LSTM":
            i, o, f, c = sums
            yield f"{vector} kept = {sigmoid}({f}) * {form.load(f'cells_before + {at}')};"
            yield f"{vector} cell = {sigmoid}({i}) * {tanh}({c}) + kept;"
            yield form.store(f"cells + {at}", "cell")
            yield form.store(f"out + {at}", f"{sigmoid}({o}) * {tanh}(cell)")
        case "GRU":
            z, s, n = sums
            given = form.load(f"x + {r * _row(form) + 2 * hidden} + unit")
            yield f"{vector} fresh = {tanh}({sigmoid}({s}) * {n} + {given}), z = {sigmoid}({z});"
            yield form.store(f"out + {at}", f"z * ({form.load(f'before + {at}')} - fresh) + fresh")
        case _ if form.p.attr("relu"):
            yield form.store(f"out + {at}", f"korch_larger{lanes}((korch_f{lanes}){{0}}, {sums[0]})")
        case _:
            yield form.store(f"out + {at}", f"{tanh}({sums[0]})")


# Steps ------------------------------------------------------------------------------------------------------------


def _step(form: _Form) -> Function:
    """One step of one direction, for some vectors of units and some batches."""
    hidden, batch, steps, directions = form.hidden, form.batch, form.steps, len(form.reversed)
    plane = directions * batch * hidden
    text = Statements()
    back = "d" if directions == 2 else int(form.reversed[0])
    text.add(f"const int back = {back}, at = back ? {steps - 1} - t : t, previous = back ? at + 1 : at - 1;")
    text.add(f"const size_t own = (size_t)d * {batch * hidden};")
    text.add(f"const float *before = (t ? all + (ptrdiff_t)previous * {plane} : {form.given(2)}) + own;")
    if form.kind == "LSTM":
        kept = f"all + (size_t){steps * plane}" if form.p.attr("cells") else "workspace"
        text.add(f"float *cells = {kept} + own;", f"const float *cells_before = t ? cells : {form.given(3)} + own;")
    text.add("(void)workspace;")
    with text.block(f"for (; unit < end; unit += {form.lanes})"):
        text.add(f"const float *w = weights->of + (size_t)d * {form.packed} + (size_t)unit * {hidden * form.gates};")
        text.add("int b = from;")
        usual, *rest = form.heights
        with text.block(f"for (; b + {usual} <= to; b += {usual})"):
            text.add(_called(form, usual))
        text.add(*(f"if (to - b == {rows}) {_called(form, rows)}" for rows in rest))
    parameters = (
        f"const {own('weights')} *weights, const void *const *in, float *all, "
        "float *workspace, int d, int t, int unit, int end, int from, int to"
    )
    return Function("step", parameters, text.body)


def _called(form: _Form, rows: int) -> str:
    plane, offset = len(form.reversed) * form.batch * form.hidden, f"(size_t)b * {form.hidden}"
    given = f"{form.given(0)} + ((size_t)at * {form.batch} + b) * {_row(form)} + d * {form.gates * form.hidden}"
    more = f"cells_before + {offset}, cells + {offset}, " if form.kind == "LSTM" else ""
    more += f"{form.given(3)} + d * {form.hidden}, " if form.kind == "GRU" else ""
    out = f"all + (size_t)at * {plane} + own + {offset}"
    return f"{own(f'units{rows}')}(w, {given}, before + {offset}, {more}{out}, unit);"


def _shared(form: _Form) -> Function:
    """Every thread has some vectors of units, and meets the others behind each step: of all directions together, where
    a thread's weights of all of them stay in its cache."""
    directions = len(form.reversed)
    stays = 4 * directions * form.packed / form.threads <= L2 / 2
    text = _begun()
    text.add(
        "const int threads = korch_team_threads();",
        f"const int share = ({form.blocks} + threads - 1) / threads * {form.lanes};",
        "const int unit = korch_thread_number() * share;",
        f"const int end = KORCH_MIN(unit + share, {form.hidden});",
    )
    loops = [f"for (int t = 0; t < {form.steps}; ++t)", f"for (int d = 0; d < {directions}; ++d)"]
    step = f"{own('step')}(weights, in, out, workspace, d, t, unit, end, 0, {form.batch});"
    meet = "korch_meet(&weights->meeting);"
    outer, inner = loops if stays else reversed(loops)
    with text.block(outer):
        with text.block(inner):
            text.add(step, *([] if stays else [meet]))
        text.add(*([meet] if stays else []))
    return run_function(True, text.body)


def _alone(form: _Form) -> Function:
    """Every thread has a direction, or a part of the batch, from the first step to the last."""
    items = len(form.reversed) * form.parts
    team = form.threads > 1 and items > 1
    text = _begun()
    if form.parts > 1:
        text.add(Table.of("int", "ends", form.ends))
    if team:
        text.add("#pragma omp for schedule(static) nowait")
    d, batch = (
        ("i", f"0, {form.batch}")
        if form.parts == 1
        else (f"i / {form.parts}", f"ends[i % {form.parts}], ends[i % {form.parts} + 1]")
    )
    with text.nest((f"for (int i = 0; i < {items}; ++i)", f"for (int t = 0; t < {form.steps}; ++t)")):
        text.add(f"{own('step')}(weights, in, out, workspace, {d}, t, 0, {form.hidden}, {batch});")
    return run_function(team, text.body)


def _begun() -> Statements:
    text = Statements()
    text.add(f"{own('weights')} *weights = state;")
    return text
