"""The steps of a plan that onnxruntime runs, on the program's own buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from korch.errors import BackendError, line_of
from korch.executable.plan import Plan, Step
from korch.ir.tensor import Tensor
from korch.system.sessions import ERRORS, inference_session, session_options


class HostSteps:
    """Sessions for all host steps of `plan`. `failure` is what the last failed call raised."""

    def __init__(self, plan: Plan, threads: int) -> None:
        self.failure: BaseException | None = None
        self._steps = {i: _Hosted.of(s, threads) for i, s in enumerate(plan.steps) if s.kernel.host and not s.idle}

    def __len__(self) -> int:
        return len(self._steps)

    def __call__(self, step: int, inputs: Sequence[int], output: int) -> None:
        """Computes step `step` of the plan from buffers at these addresses."""
        try:
            self._steps[step].run(inputs, output)
        except BaseException as e:
            self.failure = e
            raise


@dataclass(frozen=True)
class _Hosted:
    session: Any
    names: tuple[str, ...]
    reads: tuple[Tensor, ...]
    output: str
    writes: Tensor

    @staticmethod
    def of(step: Step, threads: int) -> _Hosted:
        options = session_options(threads, ERRORS)
        # Idle threads of onnxruntime must not take the cores that the native steps run on.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = inference_session()(step.kernel.host or b"", options, providers=["CPUExecutionProvider"])
        except Exception as e:  # onnxruntime's own exceptions share no base
            raise BackendError(f"onnxruntime does not take the step {step.writes.title}: {line_of(e)}") from None
        names = tuple(i.name for i in session.get_inputs())
        return _Hosted(session, names, step.reads, session.get_outputs()[0].name, step.writes)

    def run(self, inputs: Sequence[int], output: int) -> None:
        binding = self.session.io_binding()
        for name, t, at in zip(self.names, self.reads, inputs, strict=True):
            binding.bind_input(name, "cpu", 0, np.dtype(t.dtype).type, t.shape, at)
        binding.bind_output(self.output, "cpu", 0, np.dtype(self.writes.dtype).type, self.writes.shape, output)
        self.session.run_with_iobinding(binding)
