"""Control flow: its course a constant, which is written out, or computed, which cuts the model into segments."""

from __future__ import annotations

import numpy as np
from onnx import GraphProto, NodeProto, helper

from fuzzing.draft import Draft, Rejected, typed
from fuzzing.operators import template

BODY = ("Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Sin")


def some_steps(d: Draft, x: str, prefix: str) -> tuple[list[NodeProto], str]:
    """A few nodes of the shape of `x`, and the last result; they also read values of the model outside."""
    nodes, last = list[NodeProto](), x
    for _ in range(d.rng.randint(1, 3)):
        made = d.name(prefix)
        others = [
            n for n in d.made if d.arrays[n].shape == d.arrays[x].shape and d.arrays[n].dtype == d.arrays[x].dtype
        ]
        if others and d.chance(0.5):
            nodes.append(helper.make_node(d.rng.choice(["Add", "Sub", "Mul"]), [last, d.rng.choice(others)], [made]))
        else:
            nodes.append(helper.make_node(d.rng.choice(BODY), [last], [made]))
        last = made
    return nodes, last


def _condition(d: Draft, x: str, computed: bool) -> str:
    """A boolean of one element: a constant, or one of the mean of `x`."""
    if not computed:
        return d.weight(np.asarray(d.chance(0.5)))
    if d.setting.opset < 13 or d.setting.special:
        raise Rejected("not written for these")
    mean = d.node("ReduceSum", [x], keepdims=0)
    if abs(float(d.arrays[mean])) < 1e-2:
        raise Rejected("roundings may decide")
    return d.node("Less", [mean, d.weight(0.0, d.arrays[x].dtype.name)])


def _branch(d: Draft, x: str) -> GraphProto:
    nodes, last = some_steps(d, x, "b")
    return helper.make_graph(nodes, d.name("branch"), [], [typed(last, d.arrays[x])])


@template("If", "segments:If", since=11)
def branch(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 3), fits=lambda y: y.size > 0)
    condition = _condition(d, x, op != "If")
    node = helper.make_node("If", [condition], [d.name()], then_branch=_branch(d, x), else_branch=_branch(d, x))
    d.add(node)


@template("Loop", "segments:Loop", since=11)
def loop(d: Draft, op: str) -> None:
    """A state, and what each iteration collects."""
    x = d.some(rank=(1, 3), fits=lambda y: y.size > 0)
    trips = np.asarray(d.rng.randint(1, 4), np.int64)
    limit = d.weight(trips) if op == "Loop" else d.input(trips)
    count, going, state, stays = (d.name(p) for p in "icsg")
    nodes, last = some_steps(d, x, "l")
    for node in nodes:
        node.input[:] = [state if n == x else n for n in node.input]
    nodes.append(helper.make_node("Identity", [going], [stays]))
    collected = d.name("k")
    nodes.append(helper.make_node("Neg", [last], [collected]))
    array = d.arrays[x]
    body = helper.make_graph(
        nodes,
        d.name("body"),
        [typed(count, np.asarray(0, np.int64)), typed(going, np.asarray(True)), typed(state, array)],
        [typed(stays, np.asarray(True)), typed(last, array), typed(collected, array)],
    )
    d.add(helper.make_node("Loop", [limit, d.weight(np.asarray(True)), x], [d.name(), d.name()], body=body))


@template("Scan", since=11)
def scan(d: Draft, op: str) -> None:
    """A state of the shape of a slice, and a slice for each iteration."""
    x = d.some(rank=(2, 3), fits=lambda y: y.size > 0 and y.shape[0] < 9)
    array = d.arrays[x]
    first = d.fresh(array.dtype.name, array.shape[1:])
    state, part, total, made = (d.name(p) for p in "spty")
    nodes = [helper.make_node("Add", [state, part], [total]), helper.make_node(d.rng.choice(BODY), [total], [made])]
    inside = [typed(state, array[0]), typed(part, array[0])]
    results = [typed(total, array[0]), typed(made, array[0])]
    body = helper.make_graph(nodes, d.name("body"), inside, results)
    back = d.rng.choice([0, 1])
    outputs = [d.name(), d.name()]
    d.add(helper.make_node("Scan", [first, x], outputs, body=body, num_scan_inputs=1, scan_input_directions=[back]))


@template("segments:NonZero", "segments:Unique", since=13)
def of_data(d: Draft, op: str) -> None:
    """A result whose shape depends on data; nothing else reads it, as it fits nothing for other inputs."""
    x = d.some(rank=(1, 2), fits=lambda y: y.size > 0)
    if d.setting.special:
        raise Rejected("nothing says where NaN is")
    known = list(d.made)
    if op.endswith("NonZero"):
        places = d.node("NonZero", [d.node("Relu", [x])])
        floats = d.node("Cast", [places], to=helper.np_dtype_to_tensor_dtype(np.dtype("float32")))
    else:
        floats = d.node("Unique", [d.node("Round", [x])], sorted=1)
    for other in d.rng.sample(BODY, 2):
        floats = d.node(other, [floats])
    d.made = known
