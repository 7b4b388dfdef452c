"""What every benchmark prints and how it measures: interleaved repeats, the shortest counts."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

__all__ = ["Figure", "Row", "grown", "in_fresh_process", "interleaved", "memory", "print_json", "timed"]

Clock = Callable[[], float]


class Figure(TypedDict):
    """One figure beside its baseline."""

    case: str
    n: int
    seconds: float
    baseline: str
    baseline_seconds: float
    ratio: float


class Row(Figure):
    """One figure with the memory it took, where that was measured."""

    peak_mb: float | None


def timed(work: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """Give the seconds some work takes."""
    start = clock()
    work()
    return clock() - start


def interleaved(
    works: Mapping[str, Callable[[], object]], repeats: int, clock: Clock = time.perf_counter
) -> dict[str, float]:
    """Run all works in turn, several times; gives the shortest time of each."""
    best = dict.fromkeys(works, math.inf)
    names = list(works)
    for _ in range(repeats):
        for name in names:
            best[name] = min(best[name], timed(works[name], clock))
        names.reverse()  # who comes after whom (and pays for fresh memory) must not decide
    return best


def memory(what: str, process: int | str = "self") -> float:
    """Give the megabytes a process has now (VmRSS) or had at most (VmHWM)."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(what))) / 1024


def grown(work: Callable[[], object], process: int | str = "self") -> float:
    """Give the megabytes by which a process grows during some work."""
    Path(f"/proc/{process}/clear_refs").write_text("5", encoding="ascii")  # forget the highest so far
    before = memory("VmRSS", process)
    work()
    return memory("VmHWM", process) - before


def in_fresh_process(script: str, *arguments: str) -> str:
    """Run a benchmark once more in a process of its own; gives what it prints."""
    command = [sys.executable, script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def print_json(rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows as one JSON document."""
    print(json.dumps(rows, indent=1))
