"""Synthetic orchestration problems: primitive graphs shaped like transformers and CNNs, their cones, and costs for
them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product

from korch.solve.problem import Candidate, PrimitiveRef, Problem


@dataclass
class Net:
    """A primitive graph under construction. Sizes are in bytes, work in seconds of arithmetic."""

    primitives: list[PrimitiveRef] = field(default_factory=list)
    linear: dict[int, float] = field(default_factory=dict)  # primitive: arithmetic, s
    size: dict[str, float] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    twins: bool = False

    def add(
        self, inputs: Iterable[str], size: float, *, output: str = "", work: float = 0.0, twin: bool = False
    ) -> str:
        number = len(self.primitives)
        output = output or f"t{number}"
        self.primitives.append(PrimitiveRef(number, output, tuple(t for t in inputs if t), twin))
        self.size[output] = size
        if work:
            self.linear[number] = work
        return output

    def layer(self, inputs: Iterable[str], size: float, *, work: float = 0.0) -> str:
        """One primitive; with twins also its NHWC form, and the transposes between the two."""
        inputs = tuple(inputs)
        t = self.add(inputs, size, work=work)
        if self.twins:
            n = f"{t}n"
            self.add([f"{x}n" for x in inputs if x], size, output=n, work=work * 0.6)
            self.add([t], size, output=n, twin=True)
            self.add([n], size, output=t, twin=True)
            self.classes |= {t: t, n: t}
        return t


def transformer(blocks: int, *, twins: bool = False, size: float = 1e6) -> tuple[Net, str]:
    net = Net(twins=twins)

    def norm(x: str) -> str:
        mean = net.layer([x], size / 256)
        c = net.layer([x, mean], size)
        var = net.layer([net.layer([c], size)], size / 256)
        std = net.layer([net.layer([var], size / 256)], size / 256)
        return net.layer([net.layer([net.layer([c, std], size)], size)], size)

    def linear(x: str, size: float, work: float) -> str:
        return net.layer([net.layer([x], size, work=work)], size)

    def softmax(x: str) -> str:
        e = net.layer([net.layer([x, net.layer([x], size / 64)], size)], size)
        return net.layer([e, net.layer([e], size / 64)], size)

    x = net.layer([""], size, work=1e-4)
    for _ in range(blocks):
        h = norm(x)
        q, k, v = (net.layer([net.layer([linear(h, size, 1e-4)], size)], size) for _ in range(3))
        scores = softmax(net.layer([net.layer([q, k], size, work=1e-4)], size))
        mixed = net.layer([net.layer([net.layer([scores, v], size, work=1e-4)], size)], size)
        x = net.layer([x, linear(mixed, size, 1e-4)], size)
        f = linear(norm(x), 4 * size, 4e-4)
        gate = net.layer([net.layer([net.layer([f], 4 * size)], 4 * size)], 4 * size)
        g = net.layer([net.layer([f, gate], 4 * size)], 4 * size)
        x = net.layer([x, linear(g, size, 4e-4)], size)
    return net, x


def cnn(blocks: int, *, twins: bool = False, size: float = 4e6) -> tuple[Net, str]:
    net = Net(twins=twins)

    def conv(x: str) -> str:
        y = net.layer([net.layer([net.layer([x], size, work=1e-3)], size)], size)
        return net.layer([y, net.layer([net.layer([y], size)], size)], size)  # Mish

    x = conv("")
    for _ in range(blocks):
        x = net.layer([x, conv(conv(x))], size)
    return net, x


def cones(
    net: Net, *, linear: int = 1, width: int = 4, depth: int = 8, keep: int = 40
) -> dict[str, list[tuple[frozenset[str], frozenset[int]]]]:
    """(leaves, primitives) of the cones of every tensor: at most `linear` linear primitives, `width` leaves,
    `depth` primitives."""
    found: dict[str, dict[tuple[frozenset[str], frozenset[int]], None]] = {}
    for q in net.primitives:
        options = []
        for t in q.inputs:
            below = list(found.get(t, ()))[:keep]
            options.append([(frozenset([t]), frozenset[int]())] + below)
        here = found.setdefault(q.output, {})
        for combo in product(*options):
            leaves = frozenset[str]().union(*(c[0] for c in combo))
            holds = frozenset([q.id]).union(*(c[1] for c in combo))
            made = [net.primitives[i].output for i in holds]
            fits = len(leaves) <= width and len(holds) <= depth and len(set(made)) == len(made)
            fits = fits and sum(i in net.linear for i in holds) <= linear and not leaves.intersection(made)
            if fits and sum(net.primitives[i].twin for i in holds) <= 2:
                here[leaves, holds] = None
        found[q.output] = dict(sorted(here.items(), key=lambda c: (len(c[0][1]), sorted(c[0][1])))[: 4 * keep])
    return {t: list(c) for t, c in found.items()}


def problem(net: Net, output: str, seed: int = 0, *, noise: float = 0.15, **limits: int) -> Problem:
    """Cones with costs: a launch, the bytes of leaves and root, arithmetic, and noise."""
    rng = random.Random(seed)
    kernels: list[Candidate] = []
    for t, options in cones(net, **limits).items():
        for leaves, holds in options:
            traffic = net.size[t] + sum(net.size[x] for x in leaves)
            work = sum(net.linear.get(i, 0.0) for i in holds) + 1e-12 * sum(
                net.size[net.primitives[i].output] for i in holds
            )
            cost = (2e-6 + traffic / 4e10 + work) * (1 + noise * rng.random())
            kernels.append(Candidate(len(kernels), t, tuple(sorted(leaves)), holds, cost))
    return Problem((output,), tuple(net.primitives), tuple(kernels), dict(net.classes))
