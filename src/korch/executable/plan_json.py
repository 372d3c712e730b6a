"""A plan as JSON text and back. Tensors, primitives and bodies of kernels are written once and referred to by index."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Generic, TypeVar, cast

from korch.backends.contract import Alias, Body, Host, Kernel, Launch, LibraryCall, Prepared, Triton, Variant
from korch.backends.cpu.c import Code
from korch.backends.cpu.c import json as c_json
from korch.executable.conform import check_fields
from korch.executable.plan import Accuracy, Choice, Plan, RunnerUp, Step
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

Item = TypeVar("Item", bound=Hashable)


class _Table(Generic[Item]):
    """Distinct items in the order in which they were first asked for."""

    def __init__(self) -> None:
        self.items: dict[Item, int] = {}

    def index(self, item: Item) -> int:
        return self.items.setdefault(item, len(self.items))


def plan_to_json(plan: Plan) -> str:
    """The plan without the values of its constants; its graph is the choice-free selection."""
    tensors, primitives, bodies = _Table[Tensor](), _Table[Primitive](), _Table[Body]()

    def cone(c: Cone) -> dict[str, Any]:
        return {
            "root": tensors.index(c.root),
            "leaves": [tensors.index(t) for t in c.leaves],
            "primitives": [primitives.index(p) for p in c.primitives],
        }

    def kernel(k: Kernel) -> dict[str, Any]:
        return {
            "cone": cone(k.cone),
            "backend": k.backend,
            "variant": k.variant.to_json(),
            "body": bodies.index(k.body),
        }

    def step(s: Step) -> dict[str, Any]:
        up = s.runner_up
        return {
            "kernel": kernel(s.kernel),
            "reads": [tensors.index(t) for t in s.reads],
            "writes": tensors.index(s.writes),
            "cost": pack(s.cost),
            "lower": pack(s.lower),
            "error": pack(s.error),
            "runner_up": up and {"backend": up.backend, "variant": up.variant, "cost": pack(up.cost)},
        }

    g = plan.selection()
    document: dict[str, Any] = {
        "threads": plan.threads,
        "numerics": plan.numerics,
        "predicted_seconds": pack(plan.predicted_seconds),
        "gap": pack(plan.gap),
        "gap_physical": pack(plan.gap_physical),
        "options": plan.options,
        "as_written": plan.as_written,
        "choices": [_fields(c) for c in plan.choices],
        "accuracy": plan.accuracy and _fields(plan.accuracy),
        "graph": {
            "name": g.name,
            "inputs": [tensors.index(t) for t in g.inputs],
            "outputs": [tensors.index(t) for t in g.outputs],
            "output_names": g.output_names,
            "primitives": [primitives.index(p) for p in g.primitives],
        },
        "steps": [step(s) for s in plan.steps],
    }
    document["primitives"] = [_primitive_to_json(p, tensors) for p in primitives.items]
    document["tensors"] = [[t.name, t.dtype, t.shape, t.const, pack(t.value)] for t in tensors.items]
    document["bodies"] = [_body_to_json(b) for b in bodies.items]
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


MOST_STEPS = 20_000
"""Of a plan in an archive: laying out its memory takes the square of their number. Large models have a thousand."""


def plan_from_json(text: str, constants: Mapping[str, Array]) -> Plan:
    """The plan back, with the values of its constants. KeyError, TypeError or ValueError where the text is damaged."""
    d = json.loads(text)
    tensor = _at([Tensor(n, t, tuple(s), c, unpack(v)) for n, t, s, c, v in d["tensors"]])
    primitive = _at([_primitive_from_json(p, tensor) for p in d["primitives"]])
    body = _at([_body_from_json(b) for b in d["bodies"]])

    def cone(c: dict[str, Any]) -> Cone:
        return Cone(tensor(c["root"]), tuple(map(tensor, c["leaves"])), tuple(map(primitive, c["primitives"])))

    def kernel(k: dict[str, Any]) -> Kernel:
        return Kernel(cone(k["cone"]), k["backend"], Variant.from_json(k["variant"]), body(k["body"]))

    def step(s: dict[str, Any]) -> Step:
        up = s["runner_up"] and RunnerUp(**{k: unpack(v) for k, v in s["runner_up"].items()})
        reads, writes = tuple(map(tensor, s["reads"])), tensor(s["writes"])
        cost, lower, error = unpack(s["cost"]), unpack(s["lower"]), unpack(s.get("error", 0.0))
        return Step(kernel(s["kernel"]), reads, writes, cost, up, lower, error)

    if len(d["steps"]) > MOST_STEPS:
        raise ValueError(f"it has {len(d['steps'])} steps, at most {MOST_STEPS} are read")
    g = d["graph"]
    graph = Graph(
        g["name"],
        tuple(map(tensor, g["inputs"])),
        tuple(map(tensor, g["outputs"])),
        tuple(g["output_names"]),
        tuple(map(primitive, g["primitives"])),
        dict(constants),
    )
    plan = Plan(
        graph,
        tuple(step(s) for s in d["steps"]),
        d["threads"],
        d["numerics"],
        unpack(d["predicted_seconds"]),
        unpack(d["gap"]),
        unpack(d["options"]),
        d["as_written"],
        tuple(Choice(**_values(c)) for c in d["choices"]),
        d["accuracy"] and Accuracy(**_values(d["accuracy"])),
        unpack(d["gap_physical"]),
    )
    check_fields(plan)
    return plan


def _body_to_json(body: Body) -> dict[str, Any]:
    match body:
        case Code():
            return {"c": c_json.to_json(body)}
        case Triton(source, launches, prepared, workspace):
            fields = {"launches": [_fields(x) for x in launches], "workspace": workspace}
            return {"triton": source, "prepared": [_fields(x) for x in prepared], **fields}
        case LibraryCall(function, attrs, count, temporary, prepared, workspace):
            numbers = {"count": count, "temporary": temporary, "workspace": workspace}
            fields = {"attrs": {k: pack(v) for k, v in attrs}, **numbers}
            return {"call": function, "prepared": [_fields(x) for x in prepared], **fields}
        case Host(model):
            return {"host": pack(model)}
        case Alias():
            return {}


def _body_from_json(b: dict[str, Any]) -> Body:
    prepared = tuple(Prepared(**_values(x)) for x in b.get("prepared", ()))
    if "c" in b:
        return c_json.from_json(b["c"])
    if "triton" in b:
        return Triton(b["triton"], tuple(Launch(**_values(x)) for x in b["launches"]), prepared, b["workspace"])
    if "call" in b:
        attrs = tuple((k, unpack(v)) for k, v in b["attrs"].items())
        return LibraryCall(b["call"], attrs, b["count"], b["temporary"], prepared, b["workspace"])
    return Host(unpack(b["host"])) if "host" in b else Alias()


def _fields(record: Choice | Accuracy | Launch | Prepared) -> dict[str, Any]:
    return {k: pack(v) for k, v in asdict(record).items()}


def _values(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {k: unpack(v) for k, v in fields.items()}


def _primitive_to_json(p: Primitive, tensors: _Table[Tensor]) -> dict[str, Any]:
    return {
        "op": p.op,
        "inputs": [tensors.index(t) for t in p.inputs],
        "output": tensors.index(p.output),
        "attrs": {k: pack(v) for k, v in p.attrs},
        "error": p.error,
        "origin": p.origin,
        "rule": p.rule,
    }


def _at(items: Sequence[Item]) -> Callable[[int], Item]:
    """Looks an item up by its index."""
    return items.__getitem__


def _primitive_from_json(p: dict[str, Any], tensor: Callable[[int], Tensor]) -> Primitive:
    inputs, attrs = tuple(map(tensor, p["inputs"])), tuple((k, unpack(v)) for k, v in p["attrs"].items())
    return Primitive(p["op"], inputs, tensor(p["output"]), attrs, p["error"], p["origin"], p["rule"])


def pack(value: Any) -> Any:
    """A value as JSON can hold it: bytes as base64, floats that are not finite as text."""
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, tuple | list):
        return [pack(v) for v in cast("Sequence[Any]", value)]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    return value


def unpack(value: Any) -> Any:
    """The value that `pack` was given; lists become tuples."""
    if isinstance(value, list):
        return tuple(map(unpack, cast("list[Any]", value)))
    if isinstance(value, dict):
        packed = cast("dict[str, str]", value)
        return base64.b64decode(packed["bytes"]) if "bytes" in packed else float(packed["float"])
    return value
