"""Does a program keep to the numerics that were asked for? Its outputs beside float64's, on given inputs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import cached_property

import numpy as np
import onnx

from korch.errors import ModelError
from korch.numerics.bounds import own_bound
from korch.numerics.error import bound_of, error_of, too_ill
from korch.numerics.exact import Arrays, float64_outputs, onnxruntime_outputs
from korch.numerics.reference_process import evaluated_meanwhile
from korch.numerics.verdict import Verdict

log = logging.getLogger(__name__)


class ReferenceOutputs:
    """The outputs of a model for `feeds`, in float64 and by onnxruntime. Both are computed once, when first needed."""

    def __init__(self, model: onnx.ModelProto, feeds: Arrays) -> None:
        self.model = model
        self.feeds = feeds
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

    def verdict(self, found: Arrays, numerics: str) -> Verdict:
        """On `found`, the outputs of a program for `feeds`.

        onnxruntime is asked only where its error matters: under `strict`, and beyond the bound of the other numerics,
        which it can only raise.
        """
        each = [self._output(name, y, numerics) for name, y in found.items()]
        return max(each, key=lambda v: v.excess, default=Verdict("", 0.0, 0.0))

    def _output(self, name: str, y: np.ndarray, numerics: str) -> Verdict:
        exact, bound = self.exact[name], own_bound(numerics)
        error = error_of(y, exact, exact)
        if bound is not None and error <= bound:
            return Verdict(name, error, bound)
        if self.single is None:
            return Verdict(name, error, bound, "onnxruntime, whose error would be the measure, cannot run the model")
        theirs = self.single[name]
        their_error = error_of(theirs, exact, theirs)
        allowed = bound_of(numerics, their_error, y.dtype)
        return Verdict(name, error_of(y, exact, theirs), allowed, "" if allowed is not None else too_ill(their_error))


class Judge:
    """Judges programs for `model` by their outputs on seeded inputs: on `feeds`, and where these tell nothing, as
    onnxruntime itself errs too much on them, on the first of `others` that do."""

    def __init__(self, model: onnx.ModelProto, feeds: Arrays, numerics: str, others: Iterable[Arrays] = ()) -> None:
        self.numerics = numerics
        self.reference = ReferenceOutputs(model, feeds)
        self._others = iter(others)

    @property
    def feeds(self) -> Arrays:
        """The inputs on which programs are judged now."""
        return self.reference.feeds

    def verdict(self, run: Callable[[Arrays], Arrays]) -> Verdict:
        """On a program, of which `run` makes the outputs."""
        while True:
            verdict = self.reference.verdict(run(self.feeds), self.numerics)
            other = None if verdict.judged else next(self._others, None)
            if other is None:
                return verdict
            log.info("%s: other inputs are tried", verdict.text(self.numerics))
            self.reference = ReferenceOutputs(self.reference.model, other)
