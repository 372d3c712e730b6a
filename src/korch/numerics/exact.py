"""What a model's outputs are: evaluated in float64, and by onnxruntime.

The float64 values are those of the model as it is written: its weights are widened before fission, so that nothing
that Korch folds into them is rounded, and the evaluation shares no code with any backend.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import EncodeError

from korch.errors import ModelError, line_of
from korch.fission import fission
from korch.fission.importer.widen import double
from korch.ir.evaluate import evaluate_graph
from korch.ir.graph import Graph
from korch.ir.ops.table import Category
from korch.system.processes import work_folder
from korch.system.sessions import plain_session

Arrays = Mapping[str, np.ndarray]


def float64_outputs(model: onnx.ModelProto, feeds: Arrays) -> dict[str, np.ndarray]:
    """The model's outputs, evaluated in float64; weights stay float32 where the model cannot be widened, or would have
    other shapes then: floor(10 * 0.7) is 7 in single precision and 6 in double."""
    plain = fission(model)
    with np.errstate(all="ignore"):
        try:
            wide = fission(double(model))
            if _lengths(wide) == _lengths(plain):
                return evaluate_graph(wide, feeds)
        except (ModelError, ValueError, TypeError):  # an operator that has no float64 form, so onnxruntime refuses it
            pass
        return evaluate_graph(plain, feeds)


def _lengths(graph: Graph) -> list[tuple[int, ...]]:
    """Of the outputs, and of what linear primitives make: folding leaves the same ones whatever it rounds."""
    made = [p.output for p in graph.primitives if p.category is Category.LINEAR]
    return [t.shape for t in (*graph.outputs, *made)]


@contextmanager
def _readable(model: onnx.ModelProto) -> Generator[bytes | str]:
    """The model as bytes; where it has more of them than a message can, 2 GB, as a file with its weights beside it."""
    if (data := _serialized(model)) is not None:
        yield data
        return
    with work_folder("korch-model-") as folder:
        copy = onnx.ModelProto()
        copy.CopyFrom(model)  # saving takes the weights out
        path = f"{folder}/model.onnx"
        files: Any = onnx  # its types leave open what a path is
        files.save(copy, path, save_as_external_data=True, location="weights", size_threshold=0)
        yield path


def _serialized(model: onnx.ModelProto) -> bytes | None:
    try:
        return model.SerializeToString()
    except (EncodeError, ValueError):
        return None


def onnxruntime_outputs(model: onnx.ModelProto, feeds: Arrays) -> dict[str, np.ndarray]:
    """The model's outputs by onnxruntime without optimisations."""
    names = [o.name for o in model.graph.output]
    try:
        with _readable(model) as given:
            session = plain_session(given)
        return dict(zip(names, map(np.asarray, session.run(names, dict(feeds))), strict=True))
    except Exception as e:  # onnxruntime's own exceptions share no base
        raise ModelError(f"onnxruntime cannot run the model: {line_of(e)}") from e
