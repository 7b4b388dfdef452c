"""The picture of all candidates: risk against loss, the frontier, and which of them is looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mahrem.web.projects import Candidate

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 18, 56
_RISKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A candidate in the picture."""

    x: float
    y: float
    candidate: Candidate
    current: bool
    adopted: bool  # what the project does now
    unbeaten: bool


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """Everything the template draws."""

    dots: tuple[Dot, ...]
    frontier: str  # "x,y x,y"
    risks: tuple[tuple[float, float], ...]  # share and where it stands
    losses: tuple[tuple[float, float], ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM


def scatter(candidates: Sequence[Candidate], current: str | None, adopted: str) -> Scatter | None:
    """Lay out candidates that keep their promise.

    Args:
        candidates: All that were tried.
        current: Id of the one that is looked at.
        adopted: Hash of what the project has decided now.
    """
    shown = [one for one in candidates if one.trial["holds"] and one.trial["highest"] > 0]
    if not shown:
        return None
    risks, losses = [one.trial["highest"] for one in shown], [one.trial["loss"] for one in shown]
    low, high = math.log(min(risks) / 1.4), math.log(min(1.0, max(risks) * 1.4))
    top = max(max(losses) * 1.1, 0.02)

    def across(risk: float) -> float:
        return _tenth(LEFT + (math.log(risk) - low) / (high - low or 1.0) * (WIDTH - RIGHT - LEFT))

    def up(loss: float) -> float:
        return _tenth(HEIGHT - BOTTOM - loss / top * (HEIGHT - BOTTOM - TOP))

    unbeaten = _unbeaten(shown, current)
    dots = [
        Dot(
            x=across(one.trial["highest"]),
            y=up(one.trial["loss"]),
            candidate=one,
            current=one.id == current,
            adopted=one.decided == adopted,
            unbeaten=one.id in unbeaten,
        )
        for one in shown
    ]
    line = sorted((dot.x, dot.y) for dot in dots if dot.unbeaten)
    step = next(s for s in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if top / s <= 6)
    return Scatter(
        dots=tuple(sorted(dots, key=lambda dot: (dot.current, dot.adopted))),  # drawn last, above the others
        frontier=" ".join(f"{x},{y}" for x, y in line),
        risks=tuple((risk, across(risk)) for risk in _RISKS if low <= math.log(risk) <= high),
        losses=tuple((step * n, up(step * n)) for n in range(int(top / step) + 1)),
    )


def _tenth(place: float) -> float:
    """Round a place to what a screen can show."""
    return round(float(place), 1)


def _unbeaten(shown: Sequence[Candidate], current: str | None) -> set[str]:
    """Give what no other beats in risk and loss; only tries of the same rows compare."""
    looked_at = next((one for one in shown if one.id == current), shown[-1])
    alike = [one for one in shown if one.trial["tried"] == looked_at.trial["tried"]]

    def figures(one: Candidate) -> tuple[float, float]:
        return one.trial["highest"], one.trial["loss"]

    def beaten(one: Candidate) -> bool:
        here = figures(one)
        return any(
            other[0] <= here[0] and other[1] <= here[1] and other != here for other in map(figures, alike)
        )

    return {one.id for one in alike if not beaten(one)}
