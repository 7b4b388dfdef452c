"""Which method to take: the rows of a comparison as lines, ranked, and said in sentences."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mahrem.report._scales import finite
from mahrem.words import Note

NEARLY = 1.02  # a method within 2 % of the least loss is as good
WORTH = (3.0, 1.0)  # and is taken instead when it is so many times quicker and saves so many seconds


@dataclass(frozen=True)
class Line:
    """One method over all k, means over seeds."""

    name: str
    loss: Mapping[int, float]
    seconds: Mapping[int, float]


def comparison_advice(comparison: Mapping[str, Any]) -> list[Note]:
    """Say which methods ran and on which k, which did not, and which to take for the k that was asked for.

    Args:
        comparison: As :meth:`mahrem.pipeline.Comparison.as_dict` gives it.
    """
    rows, asked = comparison["results"], comparison.get("asked")
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    ks = sorted({row["k"] for row in rows})
    if not methods:
        return [Note("advice.none_ran")]
    advice = [Note("advice.ran", {"methods": ", ".join(methods), "ks": ", ".join(map(str, ks))})]
    if comparison.get("left_out"):
        advice.append(Note("advice.not_run", {"methods": ", ".join(comparison["left_out"])}))
    if asked is None or ks == [asked]:
        return [*advice, *frontier_advice(rows)]
    if asked not in ks:
        return [*advice, Note("advice.not_asked", {"k": asked})]
    advice.append(Note("advice.asked", {"k": asked}))
    return [*advice, *frontier_advice([row for row in rows if row["k"] == asked])]


def frontier_advice(rows: Sequence[Mapping[str, Any]]) -> list[Note]:
    """Say which method to take.

    Example:
        >>> row = {"strategy": "strict", "k": 5, "seed": None, "holds": True}
        >>> slow = {**row, "method": "mosaic", "gcp": 0.02, "seconds": 2.0}
        >>> quick = {**row, "method": "mondrian", "gcp": 0.04, "seconds": 0.1}
        >>> print(frontier_advice([slow, quick])[0])
        Take mosaic: it loses least.
    """
    lines = ranked(lines_of(rows))
    if not lines:
        return [Note("advice.nothing")]
    best, first = best_of(lines), lines[0]
    ks = sorted(best.loss)
    if best is first:
        advice = [Note("advice.least", {"best": best.name})]
    else:
        less, times = 1 - level(first) / level(best), total(first) / max(total(best), 1e-9)
        both = {"best": best.name, "least": first.name, "less": less, "times": times}
        advice = [Note("advice.quick", both)]
    middle = ks[len(ks) // 2]
    quick = min(lines, key=total)
    if quick is not best and middle in quick.loss and best.loss[middle] > 0:
        figures = {
            "k": middle,
            "loss": _figure(100 * best.loss[middle]),
            "seconds": _figure(best.seconds[middle]),
            "quick": quick.name,
            "more": _figure(100 * quick.loss[middle]),
            "times": quick.loss[middle] / best.loss[middle],
            "less": _figure(quick.seconds[middle]),
        }
        advice.append(Note("advice.middle", figures))
    winners = {k: min((line for line in lines if k in line.loss), key=lambda line: line.loss[k]) for k in ks}
    elsewhere = {k: line.name for k, line in winners.items() if line is not best and line is not first}
    if elsewhere:
        runs = [Note("advice.run", {"method": name, "k": k}) for k, name in elsewhere.items()]
        advice.append(Note("advice.elsewhere", {"runs": runs}))
    return advice


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
            {k: sum(loss for loss, _ in runs) / len(runs) for k, runs in sorted(by_k.items())},
            {k: sum(seconds for _, seconds in runs) / len(runs) for k, runs in sorted(by_k.items())},
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


def _figure(amount: float) -> float:
    """Keep three figures of an amount, as many as anybody reads."""
    return float(f"{amount:.3g}")
