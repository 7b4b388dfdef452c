"""The lattice in the open: nodes by themselves, among all, and why one fails."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.pipeline import GeneralisationLattice

ROLES = {"quasi": ["age", "sex", "zip"], "sensitive": "diagnosis", "rest": "drop"}


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return mh.demo_patients(500)


@pytest.fixture(scope="module")
def opened(patients: pl.DataFrame) -> GeneralisationLattice:
    return mh.lattice(patients, k=5, suppression_limit=0.03, **ROLES)


def test_all_nodes_are_judged_once_each(opened: GeneralisationLattice) -> None:
    nodes = list(opened)
    assert len(nodes) == len(opened) == len({tuple(node.levels.values()) for node in nodes})
    heights = [node.height for node in nodes]
    assert heights == sorted(heights)
    for node in nodes[:: max(1, len(nodes) // 40)]:
        assert opened.node(node.levels) == opened.node(list(node.levels.values())) == node


def test_the_best_is_the_first_of_those_that_hold_and_what_flash_publishes(
    opened: GeneralisationLattice, patients: pl.DataFrame
) -> None:
    best = opened.best()
    assert best.loss == min(node.loss for node in opened if node.loss is not None)
    assert opened.holding()[0].loss == best.loss
    release = mh.anonymize(patients, k=5, suppression_limit=0.03, method="flash", **ROLES)
    assert release.report["utility"]["suppressed"] == best.suppressed
    assert release.report["utility"]["classes"] == best.classes


@pytest.mark.parametrize("promise", [{}, {"l": 2}, {"t": 0.3}], ids=str)
def test_a_node_that_holds_breaks_promises_in_suppressed_rows_alone(
    promise: dict[str, float], patients: pl.DataFrame
) -> None:
    found = mh.lattice(patients, k=4, **promise, **ROLES)
    for node in found:
        assert node.holds == (not found.why(node.levels)), "without suppression both are the same"


def test_neighbours_are_one_step_away(opened: GeneralisationLattice) -> None:
    node = opened.best()
    near = opened.neighbours(node.levels)
    assert all(
        sum(abs(node.levels[name] - other.levels[name]) for name in opened.columns) == 1 for other in near
    )
    inside = [
        0 < level < height - 1 for level, height in zip(node.levels.values(), opened.heights, strict=True)
    ]
    assert len(near) == sum(2 if both else 1 for both in inside)


def test_figures_of_nodes_that_fail_are_rounded_up_to_multiples_of_k(opened: GeneralisationLattice) -> None:
    for node in opened:
        if not node.holds:
            assert node.suppressed % 5 == 0
            assert node.loss is node.classes is node.smallest is None
        for reason in opened.why(node.levels):
            assert reason.classes % 5 == reason.rows % 5 == 0
            assert reason.rows > 0


def test_nodes_are_written_as_json_and_csv(opened: GeneralisationLattice, tmp_path: Path) -> None:
    opened.write(tmp_path / "nodes.json")
    opened.write(tmp_path / "nodes.csv")
    document = json.loads((tmp_path / "nodes.json").read_text())
    with (tmp_path / "nodes.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(document["nodes"]) == len(lines) == len(opened)
    for node, line in zip(document["nodes"], lines, strict=True):
        assert node["holds"] == (line["holds"] == "true")
        assert [str(node["levels"][name]) for name in opened.columns] == [
            line[name] for name in opened.columns
        ]
    with pytest.raises(InvalidParameter, match="json"):
        opened.write(tmp_path / "nodes.txt")


@pytest.mark.parametrize(
    ("levels", "match"),
    [
        ({"age": 99}, "levels.age"),
        ({"age": -1}, "levels.age"),
        ({"agee": 1}, "agee"),
        ([0, 0], "one for each of the 3"),
        ({"age": 0.5}, "levels.age"),
    ],
)
def test_nodes_that_are_not_there_are_refused(
    opened: GeneralisationLattice, levels: object, match: str
) -> None:
    with pytest.raises(InvalidParameter, match=match):
        opened.node(levels)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"k": None}, "no promise"),
        ({"method": "canon"}, "lifts no columns"),
        ({"minimality_safe": True, "l": 2}, "minimality_safe"),
        ({"jitter": 0.1}, "jitter"),
        ({"weights": {"age": 0.0}}, "weights.age"),
        ({"weights": {"age": -1.0}}, "weights.age"),
        ({"options": {"loss": "classification"}}, "target"),
        ({"options": {"loss": "classification", "target": "age"}}, "quasi-identifier"),
        ({"options": {"loss": "classification", "target": "nobody"}}, "target"),
        ({"options": {"weights": "1,2,3"}}, "weights"),
    ],
)
def test_what_levels_cannot_keep_is_refused(
    said: dict[str, object], match: str, patients: pl.DataFrame
) -> None:
    with pytest.raises(InvalidParameter, match=match):
        mh.lattice(patients, **{"k": 5, **ROLES, **said})


def test_a_promise_that_no_node_keeps_is_infeasible(patients: pl.DataFrame) -> None:
    found = mh.lattice(patients.head(40), k=3, t=0.0, **ROLES)
    if not found.holding():
        with pytest.raises(Infeasible, match="no node"):
            found.best()
    with pytest.raises(Infeasible):
        mh.lattice(patients, k=501, **ROLES)


def test_weights_and_targets_reach_the_search(patients: pl.DataFrame) -> None:
    plain = mh.lattice(patients, k=5, **ROLES).best()
    heavy = mh.lattice(patients, k=5, weights={"age": 50.0}, **ROLES).best()
    assert heavy.levels["age"] <= plain.levels["age"]
    assert heavy.loss != plain.loss
    for target in ("diagnosis", "insurance"):
        learnt = mh.lattice(patients, k=5, options={"loss": "classification", "target": target}, **ROLES)
        assert 0 <= (learnt.best().loss or 0) <= 1


@pytest.mark.filterwarnings("ignore:.*composition")
def test_a_release_for_a_target_says_that_values_chose_its_levels(patients: pl.DataFrame) -> None:
    said = {"method": "flash", "k": 5, "options": {"loss": "classification", "target": "diagnosis"}}
    release = mh.anonymize(patients, **said, **ROLES)
    assert release.holds
    assert "classes_by_values" in str(release.report["warnings"]) or "had a say" in str(
        release.report["warnings"]
    )
    with pytest.raises(InvalidParameter, match="minimality_safe"):
        mh.anonymize(patients, minimality_safe=True, **said, **ROLES)
