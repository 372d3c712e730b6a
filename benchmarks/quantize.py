"""Quantizes models as users of onnxruntime do, by its own tool: float models in, NAME-KIND.onnx out.

    python benchmarks/export.py mobilenet resnet encoder -o models
    python benchmarks/quantize.py models/mobilenet.onnx models/resnet.onnx -o models [--kinds qdq,qoperator,dynamic]

`qdq`: static, weights by channel, QuantizeLinear and DequantizeLinear around float operators; `qoperator`: static, as
QLinear operators; `dynamic`: activations are quantized in each run. Calibration: four seeded random inputs, N(0, 1).
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from korch.report.bench import inputs_of

KINDS = ("qdq", "qoperator", "dynamic")
CALIBRATIONS = 4


class Seeded(CalibrationDataReader):
    """Random inputs for calibration."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._left = iter([inputs_of(model, seed=seed) for seed in range(CALIBRATIONS)])

    def get_next(self) -> Mapping[str, np.ndarray] | None:
        """The next feeds; None behind the last."""
        return next(self._left, None)


def quantized(model: Path, kind: str, folder: Path) -> Path:
    """The model, quantized, in `folder`."""
    made = folder / f"{model.stem}-{kind}.onnx"
    with TemporaryDirectory() as temporary:
        prepared = Path(temporary) / model.name
        quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
        if kind == "dynamic":
            quantize_dynamic(prepared, made, weight_type=QuantType.QInt8)
        else:
            quantize_static(
                prepared,
                made,
                Seeded(onnx.load(prepared)),
                quant_format=QuantFormat.QDQ if kind == "qdq" else QuantFormat.QOperator,
                per_channel=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
            )
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("-o", "--output-dir", type=Path, required=True)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # the tool advises to do what is done here
    options.output_dir.mkdir(parents=True, exist_ok=True)
    for model in options.models:
        for kind in options.kinds.split(","):
            print(quantized(model, kind, options.output_dir))


if __name__ == "__main__":
    main()
