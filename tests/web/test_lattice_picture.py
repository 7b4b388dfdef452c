"""The picture of the lattice: every node has a place of its own, and lines are single steps."""

from __future__ import annotations

import itertools

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from mahrem.pipeline import Explorer
from mahrem.web.bodies import Project
from mahrem.web.jobs._warm_child import _every
from mahrem.web.pages._lattice_picture import MOST, draw_lattice
from mahrem.web.pages._masked_views import _answers

HEIGHTS = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@given(HEIGHTS, st.randoms(use_true_random=False))
def test_every_node_is_drawn_once_and_lines_are_single_steps(heights: list[int], chance: object) -> None:
    random = chance.random  # type: ignore[attr-defined]
    nodes = [
        {"levels": list(levels), "holds": (holds := random() < 0.5), "loss": random() if holds else None}
        for levels in itertools.product(*map(range, heights))
    ]
    holding = [node for node in nodes if node["holds"]]
    taken = holding[int(random() * len(holding))]["levels"] if holding else None
    drawn = draw_lattice(nodes, nodes[-1]["levels"], taken)  # type: ignore[arg-type]
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
    assert [list(spot.levels) for spot in best] == ([taken] if holding else [])
    assert [spot.levels for spot in drawn.spots if spot.current] == [tuple(nodes[-1]["levels"])]
    assert drawn.holding == len(holding)


def test_a_picture_is_drawn_of_what_was_judged_for_the_same_question_alone() -> None:
    project = Project(id="0" * 32, name="p", created="", touched=0)
    result = {"objective": "ncp", "listed": True}
    assert _answers(project, result, {"objective": "ncp"})
    assert not _answers(project, result, {"objective": "height"})
    assert not _answers(project, {**result, "listed": False}, {"objective": "ncp"})
    old = project.model_copy(update={"decided": {"lattice": "another"}})
    assert not _answers(old, result, {"objective": "ncp"})


def test_the_ring_is_around_the_node_that_a_release_takes() -> None:
    people = pl.DataFrame(
        {"age": [20 + n % 40 for n in range(400)], "sex": ["fm"[n % 2] for n in range(400)]}
    )
    found = Explorer(people).lattice(
        quasi=["age", "sex"], k=5, rest="drop", method="flash", options={"loss": "aecs"}
    )
    best = _every(found, people.height)["best"]
    assert best == [*found.best().levels.values()]
    none = Explorer(people).lattice(
        quasi=["age", "sex"], k=400, rest="drop", method="flash", suppression_limit=0.0
    )
    assert _every(none, people.height).get("best") in (None, [*none.best().levels.values()])
