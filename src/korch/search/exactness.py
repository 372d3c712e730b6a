"""The kernels of a plan that must not round: how much of its error each of them causes only a run tells."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, sqrt

from korch.executable import Executable
from korch.executable.plan import Plan
from korch.numerics.verdict import Verdict
from korch.search.exchange import Exchange, exchanges
from korch.search.steering import AIMED_ERROR, CLOSE_ENOUGH_ERROR, MIN_TELLING_ERROR, REFINEMENTS, WEIGHED_GROUPS
from korch.system.deadline import Deadline

log = logging.getLogger(__name__)


Try = Callable[[Plan], tuple[Executable, Verdict]]
"""Links a plan, and says what it errs."""


@dataclass
class Refinement:
    """Exchanges kernels of one plan until it fits; until `until` it looks for how little it takes."""

    attempt: Try
    until: Deadline

    def fitting(self, exchange: Exchange, verdict: Verdict) -> Plan | None:
        """The cheapest plan that was found to fit; None where none was. `verdict` is that on the plan as it is."""
        log.info("the error is %.2f of what is allowed: some kernels must be more exact", verdict.excess)
        if not isfinite(verdict.excess):
            wide = exchange.widened()
            if wide is None:
                return None
            exchange, verdict = Exchange(wide, exchange.ledger, exchange.tuned), self._verdict(wide)
            if verdict.passed or not isfinite(verdict.excess):
                return wide if verdict.passed else None
        return self._narrowed(self._weighed(exchange), verdict)

    def _narrowed(self, exchange: Exchange, verdict: Verdict) -> Plan | None:
        """Between a sum of squared errors that fits and one that does not."""
        most, low, high, best = exchange.total, 0.0, exchange.total, None
        last = exchange.plan
        for _ in range(REFINEMENTS):
            wanted = most * (AIMED_ERROR / max(verdict.excess, MIN_TELLING_ERROR)) ** 2
            most = wanted if low < wanted < high else sqrt(low * high)
            plan = exchange.within(most)
            if plan is None or not exchanges(last, plan) or (best and self.until.passed):
                break
            last, verdict = plan, self._verdict(plan)
            log.info(
                "%d kernels are more exact: the error is %.2f of what is allowed",
                len(exchanges(exchange.plan, plan)),
                verdict.excess,
            )
            if verdict.passed:
                low, best = most, plan
                if verdict.excess >= CLOSE_ENOUGH_ERROR:
                    break
            else:
                high = most
        return best

    def _weighed(self, exchange: Exchange) -> Exchange:
        """With what the errors of its kernels do to the outputs, as far as there is time to find out."""
        places = exchange.rounding
        size = -(-len(places) // WEIGHED_GROUPS)
        weights = [0.0] * len(exchange.plan.steps)
        for group in (places[i : i + size] for i in range(0, len(places), max(size, 1))):
            if self.until.passed:
                return exchange
            weight = self._verdict(exchange.exact_but(group)).excess ** 2 / exchange.squares(group)
            if not isfinite(weight):
                return exchange
            for k in group:
                weights[k] = weight
        return Exchange(exchange.plan, exchange.ledger, exchange.tuned, weights)

    def _verdict(self, plan: Plan) -> Verdict:
        executable, verdict = self.attempt(plan)
        executable.close()
        return verdict
