"""Does a program keep to the numerics that were asked for? Its outputs beside float64's, on given inputs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cached_property

import numpy as np
import onnx

from korch.errors import ModelError
from korch.numerics.error import BOUNDS, bound_of, error_of
from korch.numerics.exact import Arrays, float64_outputs, onnxruntime_outputs
from korch.numerics.reference_process import evaluated_meanwhile
from korch.numerics.verdict import Verdict

log = logging.getLogger(__name__)


class Judge:
    """Judges programs for `model` by their outputs on `feeds`. The references are computed once, when first needed.

    onnxruntime is asked only where its error matters: under `strict`, and beyond the bound of the other numerics,
    which it can only raise.
    """

    def __init__(self, model: onnx.ModelProto, feeds: Arrays, numerics: str) -> None:
        self.model = model
        self.feeds = feeds
        self.numerics = numerics
        self._elsewhere: Callable[[], Arrays | None] = lambda: None

    @cached_property
    def exact(self) -> Arrays:
        """The model's outputs in float64."""
        return self._elsewhere() or float64_outputs(self.model, self.feeds)

    @contextmanager
    def meanwhile(self) -> Generator[None]:
        """Within the block, another process evaluates the model."""
        with evaluated_meanwhile(self.model, self.feeds) as self._elsewhere:
            yield

    @cached_property
    def single(self) -> Arrays | None:
        """onnxruntime's outputs; None where it cannot run the model."""
        try:
            return onnxruntime_outputs(self.model, self.feeds)
        except ModelError as e:
            log.warning("errors are not compared with onnxruntime's: %s", e)
            return None

    def verdict(self, found: Arrays) -> Verdict:
        """On `found`, the outputs of a program for `feeds`."""
        each = [self._output(name, y) for name, y in found.items()]
        return max(each, key=lambda v: v.excess, default=Verdict("", 0.0, None))

    def _output(self, name: str, y: np.ndarray) -> Verdict:
        exact, bound = self.exact[name], BOUNDS.get(self.numerics)
        error = error_of(y, exact, exact)
        if bound is not None and error <= bound:
            return Verdict(name, error, bound)
        if self.single is None:
            return Verdict(name, error, bound)
        theirs = self.single[name]
        allowed = bound_of(self.numerics, error_of(theirs, exact, theirs), y.dtype)
        return Verdict(name, error_of(y, exact, theirs), allowed)
