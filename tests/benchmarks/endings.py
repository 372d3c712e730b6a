"""Files whose use ends in every way."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from korch.errors import ModelError


class Endings:
    """The one byte of a file says how."""

    def __init__(self, folder: Path) -> None:
        pass

    def make(self, rng: random.Random) -> bytes:
        return bytes([rng.randrange(5)])

    def use(self, data: bytes) -> None:
        if data[0] == 1:
            raise ModelError("it is damaged")
        if data[0] == 2:
            raise ValueError("wrong")
        if data[0] == 3:
            os._exit(7)
        if data[0] == 4:
            time.sleep(60)
