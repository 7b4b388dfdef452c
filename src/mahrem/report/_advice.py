"""Which method to take: the rows of a comparison as lines, ranked, and said in sentences."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mahrem.report._scales import finite

__all__ = ["Line", "best_of", "frontier_advice", "lines_of", "percent", "ranked", "total"]

NEARLY = 1.02  # a method within 2 % of the least loss is as good
WORTH = (3.0, 1.0)  # and is taken instead when it is so many times quicker and saves so many seconds


@dataclass(frozen=True)
class Line:
    """One method over all k, means over seeds."""

    name: str
    loss: Mapping[int, float]
    seconds: Mapping[int, float]


def frontier_advice(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say in sentences which method to take.

    Example:
        >>> row = {"strategy": "strict", "k": 5, "seed": None, "holds": True}
        >>> slow = {**row, "method": "mosaic", "gcp": 0.02, "seconds": 2.0}
        >>> quick = {**row, "method": "mondrian", "gcp": 0.04, "seconds": 0.1}
        >>> frontier_advice([slow, quick])[0]
        'Take mosaic: it loses least.'
    """
    lines = ranked(lines_of(rows))
    if not lines:
        return ["Nothing was found: no run kept its promise."]
    best = best_of(lines)
    ks = sorted(best.loss)
    if best is lines[0]:
        said = [f"Take {best.name}: it loses least."]
    else:
        less = 1 - level(lines[0]) / level(best)
        slower = total(lines[0]) / max(total(best), 1e-9)
        said = [
            f"Take {best.name}: {lines[0].name} loses {less:.1%} less but takes {slower:,.0f} times as long."
        ]
    middle = ks[len(ks) // 2]
    quick = min(lines, key=total)
    if quick is not best and middle in quick.loss and best.loss[middle] > 0:
        factor = quick.loss[middle] / best.loss[middle]
        said.append(
            f"At k={middle} it gives up {percent(best.loss[middle])} of the detail in "
            f"{seconds_text(best.seconds[middle])}; the quickest, {quick.name}, gives up "
            f"{percent(quick.loss[middle])} ({factor:.2f} times as much) in "
            f"{seconds_text(quick.seconds[middle])}."
        )
    others = {k: min((line for line in lines if k in line.loss), key=lambda line: line.loss[k]) for k in ks}
    elsewhere = {k: line.name for k, line in others.items() if line is not best and line is not lines[0]}
    if elsewhere:
        said.append(
            "Least loss elsewhere: " + ", ".join(f"{name} at k={k}" for k, name in elsewhere.items()) + "."
        )
    return said


def lines_of(rows: Sequence[Mapping[str, Any]]) -> list[Line]:
    good = [row for row in rows if row["holds"] and finite([row.get("gcp")])]
    cuts: dict[str, set[Any]] = defaultdict(set)
    for row in good:
        cuts[row["method"]].add(row["strategy"])
    losses: dict[str, dict[int, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for row in good:
        several = len(cuts[row["method"]]) > 1
        name = f"{row['method']} {row['strategy']}" if several else str(row["method"])
        losses[name][row["k"]].append((row["gcp"], row["seconds"]))
    return [
        Line(
            name,
            {k: sum(loss for loss, _ in found) / len(found) for k, found in sorted(by_k.items())},
            {k: sum(seconds for _, seconds in found) / len(found) for k, found in sorted(by_k.items())},
        )
        for name, by_k in losses.items()
    ]


def level(line: Line) -> float:
    """Geometric mean of the losses: every k counts the same."""
    return math.exp(sum(math.log(max(loss, 1e-12)) for loss in line.loss.values()) / len(line.loss))


def ranked(lines: Sequence[Line]) -> list[Line]:
    """Sort lines by loss; one that was not run at every k comes after those that were."""
    return sorted(lines, key=lambda line: (-len(line.loss), level(line)))


def best_of(lines: Sequence[Line]) -> Line:
    order = ranked(lines)
    near = [
        line
        for line in order
        if len(line.loss) == len(order[0].loss) and level(line) <= NEARLY * level(order[0])
    ]
    first, quick = order[0], min(near, key=total)
    times, seconds = WORTH
    worth = total(first) >= times * total(quick) and total(first) - total(quick) >= seconds
    return quick if worth else first


def total(line: Line) -> float:
    return sum(line.seconds.values())


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.3g} %"


def seconds_text(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds:,.0f} s"
