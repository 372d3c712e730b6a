"""A moment until which work may take, for code that should not read a clock itself."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from korch.system.throttle import now


@dataclass(frozen=True, slots=True, order=True)
class Deadline:
    """`at` is a value of `throttle.now()` in seconds, inf for no deadline. Changes of the wall clock do not move it."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """In so many seconds from now."""
        return cls(now() + seconds)

    @classmethod
    def never(cls) -> Deadline:
        """No deadline."""
        return cls(inf)

    @property
    def left(self) -> float:
        """Seconds until then: 0 once it has passed, inf where there is no deadline."""
        return max(self.at - now(), 0.0)

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return now() >= self.at

    def within(self, seconds: float) -> Deadline:
        """The earlier of this one and in so many seconds from now."""
        return self.earlier(Deadline.after(seconds))

    def share(self, part: float) -> Deadline:
        """After that part (0 to 1) of what is left; a part of no deadline is no deadline."""
        return self if self.at == inf else Deadline.after(part * self.left)

    def earlier(self, other: Deadline) -> Deadline:
        """The earlier of both."""
        return min(self, other)


NEVER = Deadline.never()
