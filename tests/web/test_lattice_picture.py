"""The picture of the lattice: every node has a place of its own, and lines are single steps."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from mahrem.web.pages._lattice_picture import MOST, draw_lattice

HEIGHTS = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@given(HEIGHTS, st.randoms(use_true_random=False))
def test_every_node_is_drawn_once_and_lines_are_single_steps(heights: list[int], chance: object) -> None:
    random = chance.random  # type: ignore[attr-defined]
    nodes = [
        {"levels": list(levels), "holds": (holds := random() < 0.5), "loss": random() if holds else None}
        for levels in itertools.product(*map(range, heights))
    ]
    drawn = draw_lattice(nodes, nodes[-1]["levels"])
    if len(nodes) == 1 or len(nodes) > MOST:
        assert drawn is None
        return
    assert drawn is not None
    places = {(spot.x, spot.y): spot for spot in drawn.spots}
    assert len(places) == len(nodes)
    assert all(0 <= x <= drawn.width and 0 <= y <= drawn.height for x, y in places)
    for x1, y1, x2, y2 in drawn.lines:
        low, high = places[x1, y1].levels, places[x2, y2].levels
        assert sorted(b - a for a, b in zip(low, high, strict=True)) == [0] * (len(low) - 1) + [1]
        assert y2 < y1
    best = [spot for spot in drawn.spots if spot.state == "best"]
    losses = [node["loss"] for node in nodes if node["holds"]]
    assert [spot.loss for spot in best] == ([min(losses)] if losses else [])
    assert [spot.levels for spot in drawn.spots if spot.current] == [tuple(nodes[-1]["levels"])]
    assert drawn.holding == len(losses)
