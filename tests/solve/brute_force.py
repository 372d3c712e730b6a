"""Small random problems, and their optimum by shortest path over the sets of tensors made: slow, and obviously
right."""

from __future__ import annotations

import heapq
import random
from dataclasses import replace
from math import inf

from korch.solve.problem import Candidate, ErrorBudget, Problem

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


def budgeted_optimum(problem: Problem) -> float:
    """`optimum` among the plans that keep to the error budgets: a state also has the shares used, none dominated."""
    bit = {t: 1 << i for i, t in enumerate({t: None for k in problem.candidates for t in (k.root, *k.reads)})}
    shares = [tuple(sum(b.shares.get(q, 0.0) for q in k.holds) for b in problem.budgets) for k in problem.candidates]
    goal = sum(bit.get(t, 1 << len(bit)) for t in problem.outputs)
    none = (0.0,) * len(problem.budgets)
    seen: dict[int, list[tuple[float, ...]]] = {}
    queue = [(0.0, 0, none)]
    while queue:
        cost, made, used = heapq.heappop(queue)
        if made & goal == goal:
            return cost
        if any(all(a <= b + 1e-12 for a, b in zip(other, used)) for other in seen.get(made, ())):
            continue
        seen.setdefault(made, []).append(used)
        for k, own in zip(problem.candidates, shares):
            after = tuple(a + b for a, b in zip(used, own))
            if made & bit[k.root] == 0 and all(made & bit[t] for t in k.reads) and all(x <= 1 for x in after):
                heapq.heappush(queue, (cost + k.cost, made | bit[k.root], after))
    return inf


def budgeted_problem(seed: int, *, budgets: int = 1, **kind: bool | int) -> Problem:
    """A random problem whose primitives err, some much, for the tensors that other primitives make as well."""
    rng, p = random.Random(seed), random_problem(seed, **kind)
    made: dict[str, int] = {}
    for q in p.primitives:
        made[q.output] = made.get(q.output, 0) + 1
    loose = [q.id for q in p.primitives if made[q.output] > 1 and not q.twin]
    shares = [{q: rng.choice((0.0, 0.05, 0.2, 0.6, 3.0)) for q in loose} for _ in range(budgets)]
    return replace(p, budgets=tuple(ErrorBudget(f"y{i}", own) for i, own in enumerate(shares)))
