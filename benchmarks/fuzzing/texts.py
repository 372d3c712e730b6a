"""Cases as text: how the program is made, the model as ONNX text, and its inputs as another."""

from __future__ import annotations

import json
from collections.abc import Mapping

import onnx
from onnx import helper, numpy_helper, parser, printer

from fuzzing.draft import Array
from fuzzing.models import Case
from fuzzing.runs import Manner

SPLIT = "# inputs\n"


def text_of(case: Case, manner: Manner, why: str = "") -> str:
    """The text of a case."""
    facts = {"seed": case.seed, "numerics": case.numerics, "eager": case.eager, "special": case.special}
    facts |= {"plans": manner.plans, "threads": manner.threads, "stepwise": manner.stepwise}
    about = "".join(f"# {line}\n" for line in why.splitlines())
    return f"{about}# {json.dumps(facts)}\n{printer.to_text(case.model)}\n{SPLIT}{_inputs(case.feeds)}\n"


def _inputs(feeds: Mapping[str, Array]) -> str:
    weights = [numpy_helper.from_array(x, n) for n, x in feeds.items()]
    graph = helper.make_graph([], "inputs", [], [], weights)
    return printer.to_text(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]))


def case_of(text: str) -> tuple[Case, Manner]:
    """The case of a text, and how its program is made."""
    facts = json.loads(next(line for line in text.splitlines() if line.startswith("# {"))[2:])
    model, inputs = (_without_comments(part) for part in text.split(SPLIT))
    feeds = {t.name: numpy_helper.to_array(t) for t in parser.parse_model(inputs).graph.initializer}
    case = Case(facts["seed"], _parsed(model), feeds, facts["numerics"], facts["eager"], facts["special"])
    return case, Manner(facts["plans"], facts["threads"], facts["stepwise"])


def _parsed(text: str) -> onnx.ModelProto:
    return parser.parse_model(text)


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))
