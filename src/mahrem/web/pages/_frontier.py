"""The picture of a sweep with points one can choose: where lines, points and marks stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mahrem.web.pages._contexts import Point

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 170, 16, 52
_LABEL = 17.0  # the least between two names


@dataclass(frozen=True)
class Spot:
    """A point of the picture."""

    number: int  # of the run, as in the table
    x: float
    y: float
    point: Point


@dataclass(frozen=True)
class MethodLine:
    """One method over k."""

    name: str
    path: str  # "x,y x,y"
    label_y: float
    end_x: float
    end_y: float
    best: bool
    spots: tuple[Spot, ...]


@dataclass(frozen=True)
class Frontier:
    """Everything the template draws; the axis of loss is logarithmic where losses differ much."""

    width: int
    height: int
    lines: tuple[MethodLine, ...]
    ks: tuple[tuple[int, float], ...]  # k and where it stands
    losses: tuple[tuple[float, float], ...]  # share and where it stands
    left: float
    right: float
    bottom: float


def frontier(points: Sequence[Point], best: str | None = None) -> Frontier | None:
    """Lay out the runs that kept their promise.

    Args:
        points: The runs of a sweep.
        best: Name of the method that stands out.
    """
    shown = [(number, point) for number, point in enumerate(points) if point.holds]
    if not shown:
        return None
    across = _scale([point.k for _, point in shown], LEFT, WIDTH - RIGHT, log=True)
    losses = [point.gcp for _, point in shown]
    log = min(losses) > 0 and max(losses) > 3 * min(losses)
    room = [min(losses) / 1.15, max(losses) * 1.15] if log else [0.0, max(losses) * 1.1 or 1.0]
    up = _scale(room, HEIGHT - BOTTOM, TOP, log=log)
    named: dict[str, list[Spot]] = {}
    for number, point in shown:
        spot = Spot(number, round(across(point.k), 1), round(up(point.gcp), 1), point)
        named.setdefault(point.name, []).append(spot)
    for spots in named.values():
        spots.sort(key=lambda spot: spot.point.k)
    places = _apart({name: spots[-1].y for name, spots in named.items()})
    lines = [
        MethodLine(
            name=name,
            path=" ".join(f"{spot.x},{spot.y}" for spot in spots),
            label_y=round(places[name], 1),
            end_x=spots[-1].x,
            end_y=spots[-1].y,
            best=name == best,
            spots=tuple(spots),
        )
        for name, spots in named.items()
    ]
    return Frontier(
        width=WIDTH,
        height=HEIGHT,
        lines=tuple(sorted(lines, key=lambda line: line.best)),  # the best is drawn last, above the others
        ks=tuple((k, round(across(k), 1)) for k in sorted({point.k for _, point in shown})),
        losses=tuple((share, round(up(share), 1)) for share in _round_shares(*room, log=log)),
        left=LEFT,
        right=WIDTH - RIGHT,
        bottom=HEIGHT - BOTTOM,
    )


class _scale:  # noqa: N801 - used as a function
    def __init__(self, amounts: Sequence[float], start: float, stop: float, *, log: bool) -> None:
        self.see = math.log if log else float
        self.low, high = self.see(min(amounts)), self.see(max(amounts))
        self.span = high - self.low
        self.start, self.stop = start, stop

    def __call__(self, amount: float) -> float:
        if self.span == 0:
            return (self.start + self.stop) / 2
        return self.start + (self.see(amount) - self.low) / self.span * (self.stop - self.start)


def _apart(wanted: dict[str, float]) -> dict[str, float]:
    """Move names down, then up again, until none covers another."""
    order = sorted(wanted, key=lambda name: wanted[name])
    step = min(_LABEL, (HEIGHT - TOP - BOTTOM) / max(len(order), 1))
    places: list[float] = []
    for name in order:
        places.append(max(wanted[name], places[-1] + step if places else TOP))
    limit = float(HEIGHT - BOTTOM)
    for number in reversed(range(len(places))):
        places[number] = min(places[number], limit)
        limit = places[number] - step
    return dict(zip(order, places, strict=True))


def _round_shares(low: float, high: float, *, log: bool) -> list[float]:
    if log:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        every = [digit * 10.0**power for power in powers for digit in (1, 2, 3, 5, 7)]
        return [share for share in every if low <= share <= high]
    step = 10.0 ** math.floor(math.log10(high)) if high > 1e-300 else 1.0  # finer ones leave normal floats
    step = step if high / step >= 3 else step / 4 if high / step < 1.5 else step / 2
    return [step * number for number in range(int(high / step) + 1)]
