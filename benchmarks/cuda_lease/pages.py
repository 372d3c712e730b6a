"""The findings of the three commands as Markdown tables."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from cuda_lease.record import Record
from cuda_lease.stages import RACES
from page import WORKLOADS, markdown


def page(out: Path) -> str:
    """All tables for which there are figures."""
    tables = {
        "Programs beside their peers": _races(Record(out / "racing.jsonl").known),
        "Tuning": _tuning(Record(out / "tuning.jsonl").known),
        "The model of costs, by form of kernel": model_table(Record(out / "kernels.jsonl").known),
    }
    return "\n\n".join(f"## {title}\n\n{table}" for title, table in tables.items() if table) + "\n"


def _races(known: dict[str, Any]) -> str:
    rows = [["workload", "numerics", "korch ms", "best peer", "its ms", "speedup", "error", "its error", "left out"]]
    for name in WORKLOADS:
        for numerics in RACES:
            found = known.get(f"{name} {numerics}: race")
            if found and "korch" in found["runtimes"] and (best := found["best_peer"]):
                ours, theirs = (found["runtimes"][n]["median_ms"] for n in ("korch", best))
                errors = [f"{found['errors'][n]:.1e}" for n in ("korch", best)]
                speedup = f"**{found['speedup_vs_best_peer']:.2f}**"
                rows.append(
                    [
                        name,
                        numerics,
                        f"{ours:.3f}",
                        best,
                        f"{theirs:.3f}",
                        speedup,
                        *errors,
                        ", ".join(found["skipped"]) or "–",
                    ]
                )
    return markdown(rows) if len(rows) > 1 else ""


def _tuning(known: dict[str, Any]) -> str:
    rows = [["program", "predicted ms", "ms", "gap", "kernels", "tuning s", "error", "replays"]]
    for key, found in known.items():
        if "failed" in found:
            rows.append([key, "–", "–", "–", "–", "–", "–", str(found["failed"])])
            continue
        figures = [f"{found[k]:.3g}" for k in ("predicted_ms", "actual_ms", "gap", "kernels", "tuning_s", "error")]
        rows.append([key, *figures, found.get("replays") or "same bits"])
    return markdown(rows) if len(rows) > 1 else ""


def model_table(known: dict[str, Any]) -> str:
    ratios: dict[tuple[str, str], list[float]] = {}
    for found in known.values():
        if isinstance(found, dict) and found.get("us"):
            ratios.setdefault((found["form"], found["backend"]), []).append(found["modelled_us"] / found["us"])
    rows = [["form", "backend", "kernels", "modelled / measured", "least", "most"]]
    rows += [
        [form, backend, str(len(found)), f"{median(found):.2f}", f"{min(found):.2f}", f"{max(found):.2f}"]
        for (form, backend), found in ratios.items()
    ]
    return markdown(rows) if ratios else ""
