"""The loop nests of ArgMax and ArgMin: the place of an extreme, along memory or across it."""

from __future__ import annotations

from korch.backends.cpu.loops.binding import Stage
from korch.backends.cpu.loops.ctypes import C_TYPES
from korch.backends.cpu.loops.fold_nests import AccumulatorStrip, outer_loops, vectorised_along
from korch.backends.cpu.loops.writer import Writer
from korch.ir.primitive import Primitive


def write_extreme_places(writer: Writer, s: Stage, parallel: bool) -> None:
    """The index of the extreme, the first or the last of equals; NaN is more extreme than any number."""
    trace, (value,) = writer.trace(s, writer.plan)
    if s.reds and s.loops and vectorised_along(s, trace) is None:
        _write_columns(writer, s, trace.lines, value, parallel)
    else:
        _write_rows(writer, s, trace.lines, value, parallel)


def _write_rows(writer: Writer, s: Stage, lines: list[str], value: str, parallel: bool) -> None:
    """One output at a time."""
    text, p = writer.text, s.maker
    with outer_loops(writer, s.loops, parallel):
        text.add(f"{C_TYPES[p.inputs[0].dtype]} best = 0;", "int64_t at = 0, seen = 0;")
        with writer.loops(s.reds):
            text.add(*lines)
            better = _better(p, value, "best")
            text.add(f"if (!seen || ({better})) {{ best = {value}; at = seen; }}", "++seen;")
        text.add(writer.store(s, "at"))


def _write_columns(writer: Writer, s: Stage, lines: list[str], value: str, parallel: bool) -> None:
    """A strip of outputs at a time. (150 classes of 256x256 places on Zen 3 with two threads: 64 -> 10 ms; 21 of
    512x512: 36 -> 6.)"""
    text, strip = writer.text, AccumulatorStrip.along(s.loops[-1])
    best, place = f"best{strip.at}", f"places{strip.at}"
    with outer_loops(writer, s.loops[:-1], parallel, strip):
        strip.declare(text, C_TYPES[s.maker.inputs[0].dtype], "best")
        strip.declare(text, "int32_t", "places")
        text.add("int32_t seen = 0;")
        with writer.loops(s.reds):
            with text.block("if (!seen)"):
                strip.sweep(writer, [*lines, f"{best} = {value};", f"{place} = 0;"])
            with text.block("else"):
                compared = [
                    f"const int better = {_better(s.maker, value, best)};",
                    f"{best} = better ? {value} : {best};",
                    f"{place} = better ? seen : {place};",
                ]
                strip.sweep(writer, [*lines, *compared])
            text.add("++seen;")
        strip.sweep(writer, [writer.store(s, place)])


def _better(p: Primitive, value: str, best: str) -> str:
    """Whether a value takes the place of the best one so far, in C."""
    sign, last = ">" if p.spec.picks > 0 else "<", bool(p.attr("select_last_index"))
    if not p.inputs[0].is_float:
        return f"{value} {sign}{'=' * last} {best}"
    if last:
        return f"({value} {sign}= {best}) | ({value} != {value})"
    other = "<" if sign == ">" else ">"
    return f"!({value} {other}= {best}) & ({best} == {best})"
