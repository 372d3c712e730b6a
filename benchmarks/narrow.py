"""Products with block-quantized weights: the kernel that widens them, folded weights, and onnxruntime's MatMulNBits.

    python benchmarks/narrow.py [ROWSxSTEPSxCOLUMNS ...] [--bits 4] [--block 32] [--threads 2]

Prints the least time of some runs in ms, the bytes of codes and scales read in a second, what this machine reads at
that size, and onnxruntime's times at its accuracy levels 0 (float32) and 4 (activations of eight bits).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

from korch.backends.contract import Kernel
from korch.backends.cpu.loops.backend import BACKEND
from korch.candidates import enumerate_cones
from korch.executable import Executable, Plan, Step
from korch.fission import fission
from korch.ir import Graph
from korch.profile import Database, machine
from korch.rewrite import add_choices

Size = tuple[int, int, int]
RUNS = 30


def model(size: Size, bits: int, block: int, level: int) -> onnx.ModelProto:
    """One MatMulNBits, whose zero points are the middle."""
    rows, steps, columns = size
    r, blocks = np.random.default_rng(0), -(-steps // block)
    weights = {
        "w": r.integers(0, 256, (columns, blocks, block * bits // 8)).astype(np.uint8),
        "s": (r.uniform(0.5, 1.5, (columns, blocks)) / (1 << bits) / steps**0.5).astype(np.float32),
    }
    attrs = {"K": steps, "N": columns, "bits": bits, "block_size": block, "accuracy_level": level}
    node = helper.make_node("MatMulNBits", ["x", *weights], ["y"], domain="com.microsoft", **attrs)
    ends = [helper.make_tensor_value_info(n, 1, s) for n, s in (("x", (rows, steps)), ("y", (rows, columns)))]
    initial = [numpy_helper.from_array(v, n) for n, v in weights.items()]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], initial)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def least(run: Callable[[], object]) -> float:
    """Milliseconds of the fastest run."""
    seconds: list[float] = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return 1e3 * min(seconds)


def kernels(graph: Graph, threads: int) -> list[Kernel]:
    """The one that widens the weights, if there is one, and the one with folded weights."""
    whole = [c for c in enumerate_cones(graph) if c.root == graph.outputs[0] and c.linear]
    cones = sorted(
        (c for c in whole if all(t.const or t in graph.inputs for t in c.leaves)), key=lambda c: -len(c.leaves)
    )
    return [BACKEND.build(c, threads)[0] for c in cones]


def korch_ms(graph: Graph, kernel: Kernel, threads: int, x: np.ndarray) -> float:
    with Executable.link(Plan(graph, (Step.of(kernel, 1e-6),), threads)) as program:
        return least(lambda: program.run({"x": x}))


def onnxruntime_ms(source: onnx.ModelProto, threads: int, x: np.ndarray) -> float:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(source.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return least(lambda: session.run(None, {"x": x}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", default=["1x4096x4096", "1x4096x16384"])
    parser.add_argument("--bits", type=int, default=4, choices=(4, 8))
    parser.add_argument("--block", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    rates = machine(given.threads, Database())
    print("rows x steps x columns: narrow, folded | onnxruntime 0, 4 (ms) | GB/s of", end=" ")
    print(", ".join(f"{rate / 1e9:.0f} at {size >> 20} MB" for size, rate in rates.bandwidths if size >> 20))
    for text in given.sizes:
        rows, steps, columns = size = tuple(map(int, text.split("x")))
        x = np.random.default_rng(1).standard_normal((rows, steps)).astype(np.float32)
        graph = add_choices(fission(model(size, given.bits, given.block, 0)))
        own = [korch_ms(graph, k, given.threads, x) for k in kernels(graph, given.threads)]
        other = [onnxruntime_ms(model(size, given.bits, given.block, level), given.threads, x) for level in (0, 4)]
        read = columns * steps * given.bits / 8 + columns * -(-steps // given.block) * 4
        own_text, other_text = (", ".join(f"{ms:.2f}" for ms in some) for some in (own, other))
        print(f"{text}: {own_text} | {other_text} | {read / own[0] / 1e6:.1f}", flush=True)


if __name__ == "__main__":
    main()
