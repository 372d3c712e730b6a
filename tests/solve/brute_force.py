"""Small random problems, and their optimum by shortest path over the sets of tensors made: slow, and obviously
right."""

from __future__ import annotations

import heapq
import random
from math import inf

from korch.solve.problem import Candidate, Problem

from .synthetic import Net, cones


def optimum(problem: Problem) -> float:
    """The cost of the cheapest plan; inf if there is none."""
    bit = {t: 1 << i for i, t in enumerate({t: None for k in problem.candidates for t in (k.root, *k.reads)})}
    kernels = [(sum(bit[t] for t in set(k.reads)), bit[k.root], k.cost) for k in problem.candidates]
    goal = sum(bit.get(t, 1 << len(bit)) for t in problem.outputs)
    best, queue = {0: 0.0}, [(0.0, 0)]
    while queue:
        cost, made = heapq.heappop(queue)
        if made & goal == goal:
            return cost
        if cost > best[made]:
            continue
        for reads, root, price in kernels:
            after = made | root
            if reads & made == reads and cost + price < best.get(after, inf):
                best[after] = cost + price
                heapq.heappush(queue, (cost + price, after))
    return inf


def random_problem(seed: int, *, tensors: int = 7, twins: bool = False, loops: bool = False) -> Problem:
    """Random cones over a random DAG with choices (tensors with several producers) and recomputation.

    `twins` adds layouts; `loops` primitives that compute earlier tensors from later ones.
    """
    rng = random.Random(seed)
    net = Net(twins=twins)
    names: list[str] = []
    for i in range(tensors):
        inputs = rng.sample(names, min(len(names), rng.choice((1, 1, 2)))) if names and rng.random() < 0.9 else [""]
        names.append(net.layer(inputs, rng.uniform(1e4, 1e6), work=rng.choice((0.0, 0.0, 1e-5))))
        if i > 1 and rng.random() < 0.4:
            others = rng.sample(names[:-1], rng.choice((1, 2)))
            net.add(others, net.size[names[-1]], output=names[-1])
    if loops:
        for _ in range(2):
            early, late = sorted(rng.sample(range(tensors), 2))
            net.add([names[late]], 1e4, output=names[early])
    kernels = []
    for t, options in cones(net, linear=2, width=3, depth=4, keep=6).items():
        for leaves, holds in rng.sample(options, min(len(options), 6)):
            bytes_moved = net.size[t] + sum(net.size[x] for x in leaves)
            cost = (2e-6 + bytes_moved / 4e10 + sum(net.linear.get(i, 0.0) for i in holds)) * rng.uniform(0.7, 1.5)
            kernels.append(Candidate(len(kernels), t, tuple(sorted(leaves)), holds, cost))
    return Problem((names[-1], names[-2]), tuple(net.primitives), tuple(kernels), dict(net.classes))
