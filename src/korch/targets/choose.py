"""Which target the options ask for, and whether it can be had."""

from __future__ import annotations

from korch.options import Options
from korch.targets.processor import Processor
from korch.targets.target import Target


def target_of(options: Options) -> Target:
    """The target of `options`; Error says in one line why it cannot be had and what can be done instead."""
    if options.target == "cpu":
        return Processor.of(options)
    from korch.targets.gpu import gpu_of  # here: programs for processors need nothing of it

    return gpu_of(options)
