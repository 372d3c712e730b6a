"""Composed programs, the toolchain that compiles them, and the table of backends."""

from __future__ import annotations

import ctypes
import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests import by_hand

from korch.backends.contract import Kernel, Refusal
from korch.backends.cpu.c import Code, Comment, Function, Linkage, Statement, Table, own
from korch.backends.cpu.c.json import from_json, to_json
from korch.backends.cpu.c.printing import code_digest, split
from korch.backends.cpu.c.tree import comments
from korch.backends.program import (
    Numbered,
    callers,
    compose,
    compose_units,
    share_out,
    share_out_functions,
    shared_by,
)
from korch.backends.table import backends, entry_of
from korch.backends.toolchain import find_toolchain, probe, ziglang
from korch.errors import BackendError
from korch.ir import Builder, Cone
from korch.profile.runners import entry


def code(value: int, text: str = "*(int *)out = {};") -> Code:
    return by_hand.code(text.format(value), init="return 0;", workspace=64)


def kernel(value: int) -> Kernel:
    b = Builder()
    b.op("Relu", b.input("x", "float32", (4,)))
    return by_hand.by_hand(Cone.of(b.primitives), code(value))


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
        if b.refuses(here) is None
        for k, other in zip(b.build(here, 2), b.build(there, 2), strict=True)
    ]
    assert built and here.signature == there.signature
    for kernel, other in built:
        found = kernel.placed(there)
        assert kernel.code and found.code and other.code and found.cone is there
        assert code_digest(found.code) == code_digest(other.code)
        assert primitives == 3 or (found.source == other.source and found.source != kernel.source)


def separate(name: str, *body: Statement) -> Function:
    return Function(name, "int *to", body, linkage=Linkage.SEPARATE)


def shared(value: int) -> Code:
    return by_hand.code(f"{own('put')}(out);", before=[separate("put", f"*to = {value};")])


def test_units_are_shared_out_by_what_compilers_have_to_do() -> None:
    """Not by tables of numbers, nor by functions, which have units of their own."""
    table = Table("int", "at", ("{1, 2, -3}",) * 5000, "[][3]")
    functions = [separate(f"f{i}", *[f"*to += {i};"] * 99) for i in range(20)]
    long = "*(int *)out += 1;" * 20 + "*(int *)out = {};"
    codes = [
        by_hand.code("*(int *)out = 0;", before=[table]),
        by_hand.code(long, before=functions),
        *(by_hand.code(long.replace("= 1;", f"= {i};")) for i in range(4)),
    ]
    numbered = [Numbered(i, code) for i, code in enumerate(codes)]
    first, second = share_out(numbered, 12, 2)
    assert [n.number for n in first] == [0, 1, 2, 3] and [n.number for n in second] == [4, 5]
    halves = share_out_functions(shared_by(numbered), 2)
    assert [len(half) for half in halves] == [11, 9] and {**halves[0], **halves[1]} == shared_by(numbered)


def test_equal_functions_are_compiled_once(tmp_path: Path) -> None:
    text = compose([shared(7), shared(8), shared(7)])
    find_toolchain().compile_library({"program.c": text}, tmp_path / "program.so")
    assert run_all(tmp_path / "program.so", 3) == [7, 8, 7]
    assert len(shared_by([Numbered(i, shared(v)) for i, v in enumerate((7, 8, 7))])) == 2


def nested(value: int, name: str, plus: str = "1") -> Code:
    """Writes the sum of `value` and `plus`, by a function that calls another with this `name`."""
    called = separate(name, f"*to = {value};")
    more = separate("more", Comment.of(name), f"{own(name)}(to);", f"*to += {plus};")
    before = (called, Table.of("int", "five", [5]), more)
    return by_hand.code(f"{own('more')}(out);", before=before, init="return 0;")


def test_functions_are_shared_that_need_nothing_else_of_their_kernel(tmp_path: Path) -> None:
    """Whatever they are called, and whatever comments say; also those that call such ones."""
    made = [nested(7, "a"), nested(7, "b"), nested(8, "a"), nested(7, "a", f"*{own('five')}")]
    first, same, other, owned = (split(code, "k_") for code in made)
    assert list(first.functions) == list(same.functions) and len(first.functions) == 2
    assert not set(first.functions) & set(other.functions) and len(other.functions) == 2
    assert list(owned.functions) == list(first.functions)[:1] and owned.calls == tuple(owned.functions)
    for size, texts in (10, {"program.c"}), (1, {"functions0.c", "unit0.c", "table.c"}):
        units = compose_units([*made, code(3)], size)
        assert texts <= set(units)
        find_toolchain().compile_library(units, tmp_path / "program.so")
        assert run_all(tmp_path / "program.so", 5) == [8, 8, 9, 12, 3]


@pytest.mark.parametrize("name", ["KERNEL_init(", "${init}", "korch_share_out(", "x\n} #error code", "x\\", "$"])
def test_names_in_comments_change_no_fact_of_a_kernel(name: str, tmp_path: Path) -> None:
    """A model chooses the names of its tensors."""
    plain = by_hand.code("*(int *)out = 7;")
    b = Builder()
    cone = Cone.of(b.graph([("y", b.op("Relu", b.input(name, "float32", (4,))))]).primitives)
    inside = replace(plain.declarations[0], body=(*comments(cone), *plain.declarations[0].body))
    code = replace(plain, declarations=(*comments(cone), inside))
    assert code_digest(code) == code_digest(plain) and callers(code) == callers(plain) == "KORCH_SINGLE"
    assert Numbered(0, code).entries == ["run"] and not code.steals
    assert from_json(json.loads(json.dumps(to_json(code)))) == code
    find_toolchain().compile_library({"program.c": compose([code])}, tmp_path / "program.so")
    assert run_all(tmp_path / "program.so", 1) == [7]


def test_composed_text_ends_with_the_table() -> None:
    text = compose([code(1), None, code(2)])
    assert text.count("#ifndef KORCH_RT_H") == 1 and "$" not in text.split("korch_entry;")[1]
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
    assert callers(code(1)) == "KORCH_SINGLE"
    assert callers(by_hand.code("", team=True)) == "KORCH_TEAM"
    assert {callers(replace(code(1), libraries=("dnnl",))), callers(replace(code(1), opens=True))} == {"KORCH_OPENS"}


def test_unknown_header_is_named() -> None:
    with pytest.raises(BackendError, match=r"absent\.h"):
        compose([replace(code(1), headers=("absent.h",))])


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
    codes = [code(10), code(11), None, code(13), code(14)]
    units = compose_units(codes, size, jobs)
    assert len(units) == texts
    find_toolchain().compile_library(units, tmp_path / "program.so", jobs=2)
    assert run_all(tmp_path / "program.so", 5) == [10, 11, -1, 13, 14]


def test_units_hold_neighbours_and_are_about_as_long() -> None:
    long = [code(i, "*(int *)out = {};" + "*(int *)out += 1;" * 500) for i in range(2)]
    first, second, table = compose_units([*long, *map(code, range(2, 20))], 12, jobs=2).values()
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
    toolchain.compile_library(compose_units([code(1), code(2)], 1), tmp_path / "program.so")
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
    assert isinstance(backend.refuses(Cone.of(b.primitives)), Refusal)
    assert backend.refuses(Cone.of(b.primitives[:1])) is None
    assert backend.build(Cone.of(b.primitives[:1]), 1)[0].host
