"""`python benchmarks/export.py [NAMES] -o DIR [--free]`: the workloads as raw ONNX files.

As torch's exporters leave them: no constant folding, no fusing of BatchNormalization, no simplifier. Each
file is run once by onnxruntime and compared with torch. Weights are inside: none comes near the 2 GB that
protobuf allows. With `--free`, those whose inputs may have other lengths are written so, as `NAME-free.onnx`.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from pathlib import Path

import onnx
import onnxruntime
import torch

from models import Workload, workloads

OPSET_TORCHSCRIPT, OPSET_DYNAMO = 17, 18


def export(workload: Workload, folder: Path, free: bool = False) -> Path:
    """The file written for `workload`: `folder/NAME.onnx`, or `folder/NAME-free.onnx`."""
    path = folder / f"{workload.name}{'-free' if free else ''}.onnx"
    model, inputs = workload.build(), (workload.inputs(),)
    names = {"input_names": ["input"], "output_names": list(workload.outputs)}
    if free:
        names["dynamic_axes"] = {"input": dict(workload.free)}
        torch.onnx.export(model, inputs, path, dynamo=False, opset_version=OPSET_TORCHSCRIPT, **names)
    elif workload.exporter == "torchscript":
        # PRESERVE on a model in eval mode: EVAL would fold every BatchNormalization into its convolution
        raw = {"do_constant_folding": False, "training": torch.onnx.TrainingMode.PRESERVE}
        torch.onnx.export(model, inputs, path, dynamo=False, opset_version=OPSET_TORCHSCRIPT, **raw, **names)
    else:
        raw = {"optimize": False, "external_data": False, "verbose": False}
        torch.onnx.export(model, inputs, path, dynamo=True, opset_version=OPSET_DYNAMO, **raw, **names)
    return path


def check(workload: Workload, path: Path) -> str:
    """One line on the file: nodes, size, error against torch."""
    onnx.checker.check_model(str(path), full_check=True)
    graph = onnx.load(path).graph
    common = ", ".join(f"{op} {count}" for op, count in Counter(n.op_type for n in graph.node).most_common(4))
    size = path.stat().st_size / 1e6
    error = f"max error {max_error(workload, path):.1e} of the largest output"
    return f"{path}: {len(graph.node)} nodes ({common} ...), {size:.1f} MB, {error}"


def max_error(workload: Workload, path: Path) -> float:
    """The largest |onnxruntime - torch|, each output's in units of its largest magnitude."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    found = session.run(None, {"input": workload.inputs().numpy()})
    with torch.inference_mode():
        expected = workload.build()(workload.inputs())
    expected = expected if isinstance(expected, tuple) else (expected,)
    pairs = zip(map(torch.from_numpy, found), expected, strict=True)
    return max(float((a - b).abs().max() / b.abs().max()) for a, b in pairs)


def main() -> None:
    """Exports and checks the named workloads, or all."""
    known = workloads()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; all by default")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--free", action="store_true", help="with open lengths, where a workload has such")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(known))
    if unknown:
        parser.error(f"no workload named {', '.join(unknown)}; there are {', '.join(known)}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    for name in arguments.names or known:
        if known[name].free or not arguments.free:
            print(check(known[name], export(known[name], arguments.output, arguments.free)), flush=True)


if __name__ == "__main__":
    main()
