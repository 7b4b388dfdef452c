"""The lattice as a picture: nodes in rows by height, the coarsest above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST = 1500  # nodes; more are not told apart
_APART, _UP, _EDGE = 46.0, 64.0, 30.0
_LINES = 3000  # steps from node to node that are drawn


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A node in the picture."""

    levels: tuple[int, ...]
    x: float
    y: float
    state: str  # best, holds or fails
    loss: float | None
    depth: float  # 0 for what loses most of those that hold, 1 for the best
    current: bool

    @property
    def address(self) -> str:
        """The node as a part of an address."""
        return ",".join(map(str, self.levels))


@dataclass(frozen=True, kw_only=True)
class LatticePicture:
    """All that is drawn."""

    width: float
    height: float
    spots: tuple[Spot, ...]
    lines: tuple[tuple[float, float, float, float], ...]
    holding: int


def draw_lattice(
    nodes: Sequence[Mapping[str, Any]], current: Sequence[int], best: list[int] | None
) -> LatticePicture | None:
    """Lay out judged nodes; nothing where there are none, or more than can be told apart.

    Args:
        nodes: ``levels``, ``holds`` and ``loss`` of every node.
        current: The levels of the node that is looked at.
        best: Those of the node a release would take, as the lattice says, for losses are rounded here.

    Guarantees:
        - No two nodes share a place; higher nodes stand above lower ones.
        - Every line joins two nodes that differ by one step of one column.
    """
    if not 1 < len(nodes) <= MOST:
        return None
    rows: dict[int, list[tuple[int, ...]]] = {}
    for node in nodes:
        levels = tuple(node["levels"])
        rows.setdefault(sum(levels), []).append(levels)
    widest, highest = max(map(len, rows.values())), max(rows)
    width, height = widest * _APART + 2 * _EDGE, highest * _UP + 2 * _EDGE
    places = {
        levels: (
            round(width / 2 + (place - (len(row) - 1) / 2) * _APART, 1),
            round(_EDGE + (highest - high) * _UP, 1),
        )
        for high, row in rows.items()
        for place, levels in enumerate(sorted(row))
    }
    losses = [node["loss"] for node in nodes if node["holds"] and node["loss"] is not None]
    low, span = min(losses, default=0.0), (max(losses, default=0.0) - min(losses, default=0.0)) or 1.0
    spots = tuple(
        Spot(
            levels=tuple(node["levels"]),
            x=places[tuple(node["levels"])][0],
            y=places[tuple(node["levels"])][1],
            state="best" if node["levels"] == best else "holds" if node["holds"] else "fails",
            loss=node["loss"],
            depth=0.0 if node["loss"] is None else round(1 - (node["loss"] - low) / span, 3),
            current=tuple(node["levels"]) == tuple(current),
        )
        for node in nodes
    )
    return LatticePicture(
        width=width,
        height=height,
        spots=spots,
        lines=_steps(places),
        holding=sum(bool(node["holds"]) for node in nodes),
    )


def _steps(
    places: Mapping[tuple[int, ...], tuple[float, float]],
) -> tuple[tuple[float, float, float, float], ...]:
    lines = []
    for levels, here in places.items():
        for column, level in enumerate(levels):
            above = places.get((*levels[:column], level + 1, *levels[column + 1 :]))
            if above is not None:
                lines.append((*here, *above))
    return tuple(lines) if len(lines) <= _LINES else ()
