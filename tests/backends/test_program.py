"""Composed programs, the toolchain that compiles them, and the table of backends."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from korch.backends.contract import Declined, Kernel
from korch.backends.program import (
    Numbered,
    callers,
    code_of,
    compose,
    compose_units,
    named_for,
    share_out,
    share_out_functions,
    shared_by,
)
from korch.backends.shared import APART, divided
from korch.backends.table import backends, entry_of
from korch.backends.toolchain import find_toolchain, probe, ziglang
from korch.errors import BackendError
from korch.ir import Builder, Cone
from korch.profile.runners import entry

SOURCE = """\
static int KERNEL_init(void **state, const void *const *in) { return 0; }
static void KERNEL_run(void *state, const void *const *in, void *out, void *workspace) { *(int *)out = VALUE; }
"""


def kernel(value: int) -> Kernel:
    b = Builder()
    b.op("Relu", b.input("x", "float32", (4,)))
    return Kernel(Cone.of(b.primitives), "by-hand", SOURCE.replace("VALUE", str(value)), workspace=64)


def alias() -> Kernel:
    return Kernel(kernel(0).cone, "by-hand", alias=True)


SHARED = (
    APART
    + """
static void KERNEL_put(int *to) {
  *to = VALUE;
}
static void KERNEL_run(void *state, const void *const *in, void *out, void *workspace) { KERNEL_put(out); }
"""
)


def chain(first: str, second: str) -> Cone:
    b = Builder()
    x, w = b.input(first, "float32", (1, 8, 64, 32)), b.input(second, "float32", (32, 48))
    y = b.op("Relu", x @ w)
    return Cone.of(b.graph([("y", y @ b.input(first + second, "float32", (48, 32)))]).primitives)


@pytest.mark.parametrize("primitives", [2, 3], ids=["product", "chain"])
def test_a_kernel_for_another_place_is_the_one_that_is_built_there(primitives: int):
    """Names that begin or end alike, or are swapped, are not mixed up. (What comments of a chain's stages name is as it
    was when the first such stage was built.)"""
    here, there = (Cone.of(chain(*names).primitives[:primitives]) for names in (("x", "x1"), ("x1", "x")))
    built = [
        (k, other)
        for b in backends()
        if b.declines(here) is None
        for k, other in zip(b.build(here, 2), b.build(there, 2), strict=True)
    ]
    assert built and here.signature == there.signature
    for kernel, other in built:
        found = named_for(kernel, there)
        assert code_of(found) == code_of(other) and found.cone is there
        assert primitives == 3 or (found == other and found.source != kernel.source)


def test_units_are_shared_out_by_what_compilers_have_to_do() -> None:
    """Not by tables of numbers, nor by functions, which have units of their own."""
    table = "static const int KERNEL_at[][3] = {\n" + "  {1, 2, -3},\n" * 5000 + "};\n"
    body = "".join(f"{APART}\nstatic void KERNEL_f{i}(int *to) {{\n{f'  *to += {i};' * 99}\n}}\n" for i in range(20))
    long = kernel(1).source.replace("{ *(int *)out", "{" + " *(int *)out += 1;" * 20 + " *(int *)out")
    sources = [table + kernel(0).source, body + long, long, *(long.replace("= 1;", f"= {i};") for i in range(3))]
    numbered = [Numbered(i, replace(kernel(0), source=source)) for i, source in enumerate(sources)]
    first, second = share_out(numbered, 12, 2)
    assert [n.number for n in first] == [0, 1, 2, 3] and [n.number for n in second] == [4, 5]
    halves = share_out_functions(shared_by(numbered), 2)
    assert [len(half) for half in halves] == [11, 9] and {**halves[0], **halves[1]} == shared_by(numbered)


def test_equal_functions_are_compiled_once(tmp_path: Path) -> None:
    made = [Kernel(kernel(0).cone, "by-hand", SHARED.replace("VALUE", v)) for v in ("7", "8", "7")]
    text = compose(made)
    assert text.count("*to = 7") == text.count("*to = 8") == 1
    find_toolchain().compile_library({"program.c": text}, tmp_path / "program.so")
    assert run_all(tmp_path / "program.so", 3) == [7, 8, 7]


NESTED = (
    APART
    + """
static void KERNEL_NAME(int *to) {
  *to = VALUE;
}
static const int KERNEL_own = 5;
"""
    + APART
    + """
static void KERNEL_more(int *to) {
  // NAME
  KERNEL_NAME(to);
  *to += PLUS;
}
static void KERNEL_run(void *state, const void *const *in, void *out, void *workspace) { KERNEL_more(out); }
"""
)


def nested(value: int, name: str, plus: str = "1") -> Kernel:
    """Writes the sum of `value` and `plus`, by a function that calls another with this `name`."""
    return replace(kernel(0), source=NESTED.replace("VALUE", str(value)).replace("NAME", name).replace("PLUS", plus))


def test_functions_are_shared_that_need_nothing_else_of_their_kernel(tmp_path: Path) -> None:
    """Whatever they are called, and whatever comments say; also those that call such ones."""
    made = [nested(7, "a"), nested(7, "b"), nested(8, "a"), nested(7, "a", "KERNEL_own")]
    first, same, other, owned = (divided(k.source) for k in made)
    assert list(first.functions) == list(same.functions) and len(first.functions) == 2
    assert not set(first.functions) & set(other.functions) and len(other.functions) == 2
    assert list(owned.functions) == list(first.functions)[:1] and "KERNEL_more" in owned.text
    for size, texts in (10, {"program.c"}), (1, {"functions0.c", "unit0.c", "table.c"}):
        units = compose_units([*made, kernel(3)], size)
        assert texts <= set(units) and sum(text.count("*to = 7") for text in units.values()) == 1
        find_toolchain().compile_library(units, tmp_path / "program.so")
        assert run_all(tmp_path / "program.so", 5) == [8, 8, 9, 12, 3]


def test_composed_text_ends_with_the_table() -> None:
    text = compose([kernel(1), alias(), kernel(2)])
    assert text.count("#ifndef KORCH_RT_H") == 1 and "KERNEL_" not in text
    assert text.endswith("""\
const korch_entry korch_kernels[] = {
  {k0_init, k0_run, NULL, 64, KORCH_SINGLE},
  {NULL, NULL, NULL, 0, KORCH_OPENS},
  {k2_init, k2_run, NULL, 64, KORCH_SINGLE},
};
const int korch_kernel_count = 3;
""")


def test_who_calls_a_kernel() -> None:
    """A library may open parallel regions."""
    team = kernel(1).source.replace("KERNEL_run", "KERNEL_team")
    opens = [replace(kernel(1), libraries=("dnnl",)), replace(kernel(1), source="#pragma omp parallel\n" + SOURCE)]
    alone = replace(kernel(1), headers=("h",), source="#pragma omp simd\n" + SOURCE)
    assert callers(kernel(1)) == callers(alone) == "KORCH_SINGLE"
    assert callers(replace(kernel(1), source=team)) == "KORCH_TEAM"
    assert {callers(k) for k in opens} == {"KORCH_OPENS"}


def test_unknown_header_is_named() -> None:
    with pytest.raises(BackendError, match=r"absent\.h"):
        compose([Kernel(kernel(0).cone, "by-hand", SOURCE, headers=("absent.h",))])


def run_all(path: Path, count: int) -> list[int]:
    library = ctypes.CDLL(str(path))
    assert ctypes.c_int.in_dll(library, "korch_kernel_count").value == count
    found = []
    for row in (entry(library, i) for i in range(count)):
        out = ctypes.c_int(-1)
        if row.run:
            run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(row.run)
            run(None, None, ctypes.addressof(out), None)
        found.append(out.value)
    return found


@pytest.mark.parametrize("size, jobs, texts", [(2, 1, 3), (2, 2, 3), (10, 2, 3), (10, 1, 1)])
def test_one_unit_and_several_are_the_same_program(size: int, jobs: int, texts: int, tmp_path: Path) -> None:
    kernels = [kernel(10), kernel(11), alias(), kernel(13), kernel(14)]
    units = compose_units(kernels, size, jobs)
    assert len(units) == texts
    find_toolchain().compile_library(units, tmp_path / "program.so", jobs=2)
    assert run_all(tmp_path / "program.so", 5) == [10, 11, -1, 13, 14]


def test_units_hold_neighbours_and_are_about_as_long() -> None:
    long = [replace(kernel(i), source=kernel(i).source + "// " + "x" * 8000) for i in range(2)]
    first, second, table = compose_units([*long, *map(kernel, range(2, 20))], 12, jobs=2).values()
    assert all(f"korch_k{i}_run" in table for i in range(20))
    assert "k1_run" in first and "k2_run" not in first and "k2_run" in second
    assert len(first) < 2 * len(second)


def test_first_error_line(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"a\.c:1:.*error") as caught:
        find_toolchain().compile_library({"a.c": "int f( {\n"}, tmp_path / "a.so")
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())


def test_compiler_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/no/such/cc")
    with pytest.raises(BackendError, match=r"\$CC.*/no/such/cc"):
        find_toolchain.__wrapped__()


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("ziglang"), reason="the ziglang wheel is not installed")
def test_ziglang_compiles_without_openmp(tmp_path: Path) -> None:
    toolchain = probe(ziglang())
    toolchain.compile_library(compose_units([kernel(1), kernel(2)], 1), tmp_path / "program.so")
    assert not toolchain.openmp and run_all(tmp_path / "program.so", 2) == [1, 2]


def test_a_backend_is_found_by_its_name() -> None:
    assert entry_of("onnxruntime").backend in backends()
    with pytest.raises(BackendError, match="onnxruntime"):
        entry_of("absent")


def test_onnxruntime_takes_one_primitive() -> None:
    backend = entry_of("onnxruntime").backend
    assert backend
    b = Builder()
    b.op("Exp", b.op("Relu", b.input("x", "float32", (4,))))
    assert isinstance(backend.declines(Cone.of(b.primitives)), Declined)
    assert backend.declines(Cone.of(b.primitives[:1])) is None
    assert backend.build(Cone.of(b.primitives[:1]), 1)[0].host
