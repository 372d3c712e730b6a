"""`python benchmarks/model_accuracy.py MODELS [--kernels kernels.jsonl]`: the model of costs beside times of an H200.

Kernels are the best that is offered, by the model, as the measured ones were the best that was tried. Programs are the
plans that the model finds cheapest. With the file of `cuda.py lease kernels`, kernel by kernel too. Exit status 1 where
the model is off by more than a factor of 2.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from cuda_lease.kernels import FORMS, kernels_of
from cuda_lease.pages import model_table
from cuda_lease.record import Record
from devices import candidates, plan_for
from korch.devices import DEVICES
from korch.profile.roofline import modelled_seconds
from page import HERE, markdown

MEASURED = HERE / "results" / "h200" / "measured.json"
DEVICE, MOST, SOLVER = "H200", 2.0, 25.0
CONES = {
    "candy 3x3 over 128 channels of 56x56": ("conv 3x3", 0),
    "candy 9x9 to 3 channels of 224x224": ("conv to few", 0),
}
"""Where the fixed kernels have them."""


def kernel_us(name: str) -> float:
    """Microseconds of the cheapest kernel by the model."""
    device, (form, number) = DEVICES[DEVICE], CONES[name]
    found = kernels_of(FORMS[form][number], device.multiprocessors, ("fast",))
    return 1e6 * min(modelled_seconds(k, device) for k in found)


def program_ms(model: Path) -> float:
    """Milliseconds of the plan that the model finds cheapest."""
    return 1e3 * plan_for(DEVICE, *candidates(model, "fast"), "fast", SOLVER).plan.predicted_seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, help="where export.py wrote the ONNX files")
    parser.add_argument("--kernels", type=Path, help="what `cuda.py lease kernels` has found")
    options = parser.parse_args()
    measured = json.loads(MEASURED.read_text())
    found = {name: (kernel_us(name), float(us)) for name, us in measured["kernels_us"].items()}
    found |= {
        f"{name} (ms)": (program_ms(options.models / f"{name}.onnx"), float(ms))
        for name, ms in measured["programs_ms"].items()
    }
    rows = [["", "modelled", "measured", "ratio"]]
    rows += [[name, f"{model:.3g}", f"{real:.3g}", f"{model / real:.2f}"] for name, (model, real) in found.items()]
    print(markdown(rows))
    if options.kernels:
        print(model_table(Record(options.kernels).known))
    sys.exit(any(not 1 / MOST <= model / real <= MOST for model, real in found.values()))


if __name__ == "__main__":
    main()
