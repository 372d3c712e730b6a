"""Writes a schedule as C: one function, its loop nests in the order of the stages, made to be read."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager

from korch.backends.cpu.c import Code, run_function
from korch.backends.cpu.c.tree import comments
from korch.backends.cpu.loops import ahead, products
from korch.backends.cpu.loops.binding import Place, Schedule, Stage
from korch.backends.cpu.loops.bounds import write_checks
from korch.backends.cpu.loops.ctypes import C_TYPES
from korch.backends.cpu.loops.language import tables_of
from korch.backends.cpu.loops.maps import write_map
from korch.backends.cpu.loops.multiply import column_parts, row_parts, rows_first, write_product
from korch.backends.cpu.loops.nests import groups
from korch.backends.cpu.loops.reductions import write_reduction
from korch.backends.cpu.loops.schedule import schedule
from korch.backends.cpu.loops.turns import Loop, shared_out
from korch.backends.cpu.loops.writer import SMALL, Writer, aligned, width
from korch.backends.maps.index import Var
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds as multiplied

ON_STACK = 8192
"""Bytes of what one stage passes on to another that may lie on the stack."""

TINY, UNROLLED = 64, 16
"""Elements of a turn up to which it is unrolled with its neighbours, and turns that are."""
MANY_TURNS = 64
"""For each thread: what is left over then leaves no thread idle for long."""


def generate(cone: Cone, threads: int, place: Place | None = None, small: float = SMALL) -> Code:
    """C for `cone`, run by `threads` threads, or by one where there is no more than `small` to do."""
    product = products.product_of(cone)
    plan = products.planned(cone, threads, place) if product else schedule(cone, threads, place)
    assert plan, "refused"
    writer = Writer(plan, threads if work(cone) > small else 1)
    writer.text.add("(void)state; (void)workspace;", *_pointers(plan))
    _add_body(writer)
    run = run_function(writer.threads > 1, writer.text.body, writer.text.steals, "out_")
    functions = (*writer.functions.values(), run)
    return Code((*comments(cone), *tables_of(functions), *functions), writer.workspace)


def _pointers(plan: Schedule) -> Iterator[str]:
    cone = plan.cone
    for i, t in enumerate(cone.leaves):
        if t.value is None:
            yield f"const {C_TYPES[t.dtype]} *restrict in{i} = in[{i}];"
    yield f"{C_TYPES[cone.root.dtype]} *restrict out = out_;"


def _add_body(writer: Writer) -> None:
    plan, text = writer.plan, writer.text
    if not plan.hoisted:
        for s in plan.stages[:-1]:
            writer.buffer(s, s.stored, f"b{s.number}")
    write_checks(text, plan.cone, writer.threads)
    if plan.hoisted or plan.config.divided:
        _add_hoisted(writer, plan)
    else:
        for group in groups(writer):
            _add_stages(writer, group, parallel=writer.threads > 1)
    if writer.streamed:
        text.add("korch_streamed();")


def _add_hoisted(writer: Writer, plan: Schedule) -> None:
    """All stages inside the loops they share; what they store stays with the thread."""
    big = [s for s in plan.stages[:-1] if s.stored * width(s) > ON_STACK]
    if big:
        _own_workspace(writer, sum(aligned(s.stored * width(s)) for s in big))
    with _shared_loops(writer, plan):
        writer.text.add(*ahead.in_shared_loops(writer))
        offset = 0
        for s in plan.stages[:-1]:
            ctype = C_TYPES[s.tensor.dtype]
            if s in big:
                writer.text.add(f"{ctype} *restrict b{s.number} = ({ctype} *)(own + {offset});")
                offset += aligned(s.stored * width(s))
            else:
                writer.text.add(f"{ctype} b{s.number}[{s.stored}] __attribute__((aligned(64)));")
        for group in groups(writer):
            _add_stages(writer, group, parallel=False)


@contextmanager
def _shared_loops(writer: Writer, plan: Schedule) -> Generator[None]:
    """The loops that the stages share, shared out to the threads."""
    text, loops = writer.text, rows_first(writer)
    first = plan.pieces if ahead.lie_between(writer) else ()
    unrolled = _unrolled(writer) if loops and loops == plan.hoisted else None
    inner = [v for v in loops if v not in first]
    independent = inner[: len(plan.independent) - (plan.independent[-1:] == (unrolled,))]
    with ExitStack() as blocks:
        blocks.enter_context(writer.loops(first))
        if parts := row_parts(writer) or column_parts(writer):
            text.add("#pragma omp for schedule(static) nowait")
            blocks.enter_context(text.block(f"for (int part = 0; part < {parts}; ++part)"))
        elif writer.threads > 1 and first:  # one turn in pieces by one thread
            text.add(f"#pragma omp for schedule(static) nowait collapse({len(independent)})")
        elif writer.threads > 1:
            shared = [Loop(v.name, v.extent, low=v.lo) for v in independent]
            blocks.enter_context(shared_out(text, shared, writer.threads, work(plan.cone)))
            inner = inner[len(independent) :]
        for v in inner:
            if v == unrolled:
                text.add(f"#pragma GCC unroll {v.extent}")
            blocks.enter_context(writer.loop(v))
        yield


def _unrolled(writer: Writer) -> Var | None:
    """The innermost shared loop where its turns are so short that finding one's place takes as long (heads of 16)."""
    *outer, v = writer.plan.hoisted
    work = sum(math.prod(u.extent for u in (*s.loops, *s.reds)) for s in writer.plan.stages)
    enough = math.prod(u.extent for u in writer.plan.independent if u != v) >= MANY_TURNS * writer.threads
    return v if outer and work <= TINY and v.extent <= UNROLLED and enough else None


def _own_workspace(writer: Writer, each: int) -> None:
    """A piece of the workspace for every thread."""
    where = f"omp_get_thread_num() * INT64_C({each})" if writer.threads > 1 else "0"
    writer.text.add(f"char *const own = (char *)workspace + {where};")
    writer.workspace = each * writer.threads


def _add_stages(writer: Writer, group: tuple[Stage, ...], parallel: bool) -> None:
    """The loop nest of one stage, or of several that fold in the same loops."""
    s = group[-1]
    writer.text.add(*(c for member in group for c in comments(member.maker)))
    if s.multiplies:
        write_product(writer, s)
    elif s.reduces:
        write_reduction(writer, group, parallel)
    else:
        write_map(writer, s, parallel)
    if parallel and not s.root:
        writer.text.add("#pragma omp barrier")


def work(cone: Cone) -> float:
    """Element operations, roughly: what decides whether threads pay."""
    total = 0.0
    for p in cone.primitives:
        cost = 8.0 if p.spec.costly else 1.0
        size = max([p.output.size, *(t.size for t in p.inputs if not t.const)])
        if p.spec.is_pool:
            size = p.output.size * math.prod(p.attr("kernel_shape"))
        total += cost * size + multiplied(p)
    return total
