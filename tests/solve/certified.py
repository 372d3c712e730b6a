"""Certificates of small problems as their three texts, and the checker's word on them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from korch.solve.certificate import Certificate, candidates_text, certify, program_text, proof_text
from korch.solve.checker import checked
from korch.solve.highs import Highs
from korch.solve.problem import Candidate, PrimitiveRef, Problem
from korch.solve.solve import solve
from korch.system.deadline import Deadline


@dataclass
class Texts:
    """The files of `korch certify`; forged where a test says so."""

    program: str
    certificate: str
    candidates: str

    @classmethod
    def of(cls, c: Certificate) -> Texts:
        return cls(program_text(c), proof_text(c), candidates_text(c, {}))

    def forged(self, **claims: object) -> Texts:
        """With other claims in the certificate."""
        return Texts(self.program, json.dumps({**json.loads(self.certificate), **claims}), self.candidates)

    @property
    def nodes(self) -> list[dict]:
        """The nodes of the tree, to be changed."""
        return json.loads(self.certificate)["nodes"]

    def verdict(self, folder: Path, *, rows: bool = True) -> str:
        """The last line of the checker; `rows`: whether it is given the candidates, too."""
        names = ("program.mps", "certificate.json", "candidates.json")[: 3 if rows else 2]
        for name, text in zip(names, (self.program, self.certificate, self.candidates)):
            (folder / name).write_text(text)
        return checked(*(str(folder / name) for name in names))[-1]


def certificate_of(problem: Problem, highs: Highs, seconds: float = 60.0) -> Certificate:
    """Of the cheapest plan."""
    chosen = solve(problem, deadline=Deadline.after(60), highs=highs).chosen
    return certify(problem, chosen, deadline=Deadline.after(seconds), highs=highs)


def odd_cycle() -> Problem:
    """The least vertex cover of a triangle: three outputs, each copied from either of two of three tensors. The
    relaxation takes half of each, and proves 3 of 4 microseconds."""
    names = ("a", "b", "c")
    primitives = [PrimitiveRef(i, t, ()) for i, t in enumerate(names)]
    kernels = [Candidate(i, t, (), frozenset({i}), 2e-6) for i, t in enumerate(names)]
    pairs = ((0, 1), (1, 2), (2, 0))
    for i, j in pairs:
        kernels.append(Candidate(len(kernels), f"y{i}", (names[i],), frozenset({3 + i}), 0.0))
        kernels.append(Candidate(len(kernels), f"y{i}", (names[j],), frozenset({6 + i}), 0.0))
        primitives.append(PrimitiveRef(3 + i, f"y{i}", (names[i],)))
    primitives += [PrimitiveRef(6 + i, f"y{i}", (names[j],)) for i, j in pairs]
    return Problem(("y0", "y1", "y2"), tuple(primitives), tuple(kernels))
