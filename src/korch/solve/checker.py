"""Checks a certificate of `korch certify` in exact arithmetic; needs Python alone, and nothing of Korch:

    python checker.py program.mps certificate.json [candidates.json]

With the first two files it confirms that the plan keeps to every row of the binary program and costs as much as is
claimed; that the tree covers {0, 1}^n, as each fork has a side where none of some columns is 1 and one where at least
one is; and that at each leaf the multipliers y of rows and z of the sides above prove the claimed bound. With the signs
that the rows allow, c u >= y b + z d + sum_k min(0, c_k - (y A)_k - (z D)_k) for all u in [0, 1]^n.

With candidates.json, which says what each kernel makes and reads, it also confirms that the plan can run, and that each
row with a multiplier holds in every plan that can run and makes no tensor twice. (No cheapest plan needs a second
kernel for a tensor: the later one can go.) Rows that state limits are the exception: they are part of the task.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path as File
from typing import Any

number = cache(Fraction)
Path = tuple[tuple[frozenset[str], bool], ...]  # the sides above a node: columns, and whether at least one is 1


class Rejected(Exception):
    """A claim that does not hold."""


def require(holds: bool, otherwise: str) -> None:
    """Rejected, with a reason, where a condition does not hold."""
    if not holds:
        raise Rejected(otherwise)


@dataclass
class BinaryProgram:
    """Minimise costs over binary columns; each row is at least (G) or at most (L) its end."""

    costs: dict[str, Fraction] = field(default_factory=dict[str, Fraction])
    senses: dict[str, str] = field(default_factory=dict[str, str])
    rows: dict[str, dict[str, Fraction]] = field(default_factory=dict[str, dict[str, Fraction]])
    ends: dict[str, Fraction] = field(default_factory=dict[str, Fraction])


def read_mps(lines: Iterable[str]) -> BinaryProgram:
    """The program in free MPS; Rejected for all that is not a binary program with rows G and L."""
    program, section, binary, objective = BinaryProgram(), "", set[str](), ""
    for line in lines:
        words = line.split()
        if not words or line[0] == "*" or words[1:2] == ["'MARKER'"]:
            continue
        if not line[0].isspace():
            section = words[0]
        elif section == "ROWS" and words[0] == "N" and not objective:
            objective = words[1]
        elif section == "ROWS":
            require(words[0] in ("G", "L") and words[1] not in program.rows, f"unexpected row: {line.strip()}")
            program.senses[words[1]], program.rows[words[1]], program.ends[words[1]] = words[0], {}, Fraction(0)
        elif section == "COLUMNS":
            terms = program.costs if words[1] == objective else program.rows[words[1]]
            require(len(words) == 3 and words[0] not in terms, f"unexpected term: {line.strip()}")
            terms[words[0]] = number(words[2])
        elif section == "RHS":
            require(words[1] in program.rows and len(words) == 3, f"unexpected right-hand side: {line.strip()}")
            program.ends[words[1]] = number(words[2])
        else:
            require(section == "BOUNDS" and words[0] == "BV", f"unexpected line: {line.strip()}")
            binary.add(words[2])
    columns = program.costs.keys() | {c for terms in program.rows.values() for c in terms}
    require(columns == program.costs.keys() == binary, "not every column is binary and has a cost")
    return program


def check_plan(program: BinaryProgram, plan: Sequence[str], cost: Fraction) -> None:
    """Rejected where the plan breaks a row or costs something else."""
    chosen = set(plan)
    require(chosen <= program.costs.keys() and len(chosen) == len(plan), "the plan has an unknown column, or one twice")
    total = sum((program.costs[c] for c in plan), Fraction(0))
    require(total == cost, f"the plan costs {float(total)!r}, not {float(cost)!r}")
    for row, terms in program.rows.items():
        value, end = sum((a for c, a in terms.items() if c in chosen), Fraction(0)), program.ends[row]
        require(value >= end if program.senses[row] == "G" else value <= end, f"the plan breaks row {row}")


def leaves_of(program: BinaryProgram, nodes: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], Path]]:
    """Each leaf of the tree, with the sides above it; Rejected where a side is missing."""
    found, todo = list[tuple[dict[str, Any], Path]](), list[tuple[int, Path]]([(0, ())])
    while todo:
        at, path = todo.pop()
        require(at < len(nodes), f"the tree has no node {at}")
        if "fork" not in nodes[at]:
            found.append((nodes[at], path))
            continue
        columns = frozenset[str](nodes[at]["fork"])
        require(columns <= program.costs.keys(), f"node {at} forks at unknown columns")
        for name, some in (("none", False), ("some", True)):
            require(nodes[at].get(name, 0) > at, f"node {at} has no side {name!r} below it")
            todo.append((nodes[at][name], (*path, (columns, some))))
    return found


def proved_bound(program: BinaryProgram, leaf: dict[str, Any], path: Path) -> Fraction:
    """The bound that the multipliers of a leaf prove."""
    reduced, total = dict(program.costs), Fraction(0)
    require(len(leaf["sides"]) == len(path), "a leaf has not one multiplier for each side above it")
    for row, y in ((row, Fraction(y)) for row, y in leaf["rows"].items()):
        require(row in program.rows, f"a leaf has a multiplier of the unknown row {row}")
        require(y >= 0 if program.senses[row] == "G" else y <= 0, f"a multiplier of row {row} has a wrong sign")
        total += y * program.ends[row]
        for column, a in program.rows[row].items():
            reduced[column] -= y * a
    for (columns, some), z in zip(path, map(Fraction, leaf["sides"])):
        require(z >= 0 if some else z <= 0, "a multiplier of a side has a wrong sign")
        total += z if some else 0
        for column in columns:
            reduced[column] -= z
    return total + sum(d for d in reduced.values() if d < 0)


class Candidates:
    """The tensor that each kernel makes and those that it reads, and the outputs that must be made."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.outputs, self.limits = set[str](data["outputs"]), set[str](data["limits"])
        self.makes: dict[str, str] = {k["name"]: k["makes"] for k in data["candidates"]}
        self.reads: dict[str, set[str]] = {k["name"]: set(k["reads"]) for k in data["candidates"]}
        self.makers, self.readers = dict[str, set[str]](), dict[str, list[str]]()
        for k, made in self.makes.items():
            self.makers.setdefault(made, set()).add(k)
            for t in self.reads[k]:
                self.readers.setdefault(t, []).append(k)

    def made_without(self, gone: set[str]) -> set[str]:
        """All tensors that the kernels but those `gone` can make, starting from nothing."""
        missing, made = {k: len(reads) for k, reads in self.reads.items()}, set[str]()
        todo = [self.makes[k] for k, n in missing.items() if not n and k not in gone]
        while todo:
            if (t := todo.pop()) not in made:
                made.add(t)
                for k in self.readers.get(t, ()):
                    missing[k] -= 1
                    if not missing[k] and k not in gone:
                        todo.append(self.makes[k])
        return made

    def follows(self, terms: dict[str, Fraction], sense: str, end: Fraction) -> bool:
        """Whether every plan keeps to a row, here as sum(left) - sum(right) <= most: without kernels of `right`, no
        plan could have (so many) kernels of `left`, or make the outputs."""
        sign = 1 if sense == "L" else -1
        left = {c for c, a in terms.items() if a == sign}
        right, most, roots = terms.keys() - left, sign * end, {self.makes[k] for k in left}
        same, each = len(roots) == 1, len(roots) == len(left)
        if any(abs(a) != 1 for a in terms.values()) or (most == 1 and same):
            return all(abs(a) == 1 for a in terms.values())
        made = self.made_without(right.union(*(self.makers[t] - left for t in roots)))
        if not left:
            return most == -1 and not self.outputs <= made
        waiting = [not self.reads[k] <= made for k in left]
        return (most == 0 and same and all(waiting)) or (most == len(left) - 1 and each and any(waiting))

    def check(self, program: BinaryProgram, plan: Sequence[str], used: set[str]) -> None:
        """Rejected where the plan cannot run, or one of the rows `used` does not hold in every plan and is no limit."""
        require(self.makes.keys() == program.costs.keys(), "the candidates are not the columns of the program")
        made = self.made_without(self.makes.keys() - set(plan))
        require(all(self.reads[k] <= made for k in plan), "kernels of the plan wait for each other")
        require(self.outputs <= made, "the plan does not make all outputs")
        for row in sorted(used):
            terms, sense, end = program.rows[row], program.senses[row], program.ends[row]
            if row in self.limits:
                require(sense == "L" and min(terms.values()) >= 0, f"row {row} is no limit")
            else:
                require(self.follows(terms, sense, end), f"row {row} does not follow from the candidates")


def check(program: BinaryProgram, certificate: dict[str, Any], candidates: Candidates | None) -> list[str]:
    """The facts that are confirmed, a line each; Rejected where one is not."""
    plan, cost, bound = certificate["plan"], Fraction(certificate["cost"]), Fraction(certificate["bound"])
    require(min(program.costs.values()) >= 0, "a cost is negative")
    check_plan(program, plan, cost)
    leaves, used = leaves_of(program, certificate["nodes"]), set[str]()
    for number, (leaf, path) in enumerate(leaves):
        proved = proved_bound(program, leaf, path)
        require(proved >= bound, f"leaf {number} proves {float(proved)!r}, less than the bound {float(bound)!r}")
        used.update(leaf["rows"])
    lines = [f"program: {len(program.costs)} columns, {len(program.rows)} rows"]
    lines += [
        f"plan: {len(plan)} kernels, {float(cost):.6f} us",
        f"bound: {float(bound):.6f} us by {len(leaves)} leaves",
    ]
    if candidates:
        candidates.check(program, plan, used)
        lines.append(
            f"rows: {len(used)} are used and follow, but for {len(used & candidates.limits)} limits; the plan runs"
        )
    name = "plan of these candidates" if candidates else "point of the program"
    gap = (cost - bound) / cost if cost else Fraction(0)
    return [*lines, f"PROVED: no {name} saves more than {float(100 * gap):.7f}% of the cost"]


def checked(program: str, certificate: str, candidates: str = "") -> list[str]:
    """The facts that the files of these names prove, or why not, a line each."""
    try:
        files = [File(name).read_text("utf-8") for name in (program, certificate, candidates) if name]
        claims, *given = (json.loads(text, parse_float=number) for text in files[1:])
        return check(read_mps(files[0].splitlines()), claims, Candidates(*given) if given else None)
    except (Rejected, OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as e:
        return [f"REJECTED: {e if isinstance(e, Rejected) else f'a file cannot be read: {e!r}'}"]


if __name__ == "__main__":
    print("\n".join(lines := checked(*sys.argv[1:])))
    sys.exit(lines[-1].startswith("REJECTED"))
