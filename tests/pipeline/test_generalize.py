"""Real rows with differential privacy: levels chosen privately, a sample, and a ledger that pays first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.cli._app import _run
from mahrem.dp import assert_dp
from mahrem.errors import BudgetExceeded, InvalidParameter, MahremError
from mahrem.pipeline.masking._generalize import _leaves
from mahrem.pipeline.masking._private_levels import UNIT, LevelPlan, level_nodes, level_scores
from mahrem.table import Hierarchy

TOWNS = Hierarchy.from_rows(
    [["ankara", "centre"], ["konya", "centre"], ["izmir", "west"], ["manisa", "west"]]
)
AGES = Hierarchy.from_rows([[str(age), f"{age // 10 * 10}s"] for age in range(20, 60)])
TREES = {"town": TOWNS, "age": AGES}
SPENT: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "hierarchy": TREES}


def people(rows: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "town": rng.choice(["ankara", "konya", "izmir", "manisa", "elsewhere"], rows),
            "age": rng.integers(20, 62, rows),
            "name": [f"person {number}" for number in range(rows)],
        }
    )


def slow_score(leaves: Sequence[tuple[int, ...]], node: tuple[int, ...], margin: int) -> int:
    """The definition: rows beyond the margin of their class, by how much its cells tell."""
    trees = list(TREES.values())
    cells = [tuple(tree.nodes[at][leaf] for tree, at, leaf in zip(trees, node, row)) for row in leaves]  # noqa: B905
    beyond = sum(max(0, cells.count(cell) - margin) for cell in set(cells))
    told = [
        np.log(len(set(tree.nodes[at]))) / np.log(tree.leaves) for tree, at in zip(trees, node, strict=True)
    ]
    return int(np.floor(sum(told) / len(told) * UNIT + 1e-9)) * beyond


rows = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 5, 12, 39])), max_size=40)


@settings(max_examples=60, deadline=None)
@given(rows, st.tuples(st.integers(0, 3), st.integers(0, 39)), st.integers(0, 6))
def test_one_row_moves_no_score_by_more_than_is_claimed(
    table: list[tuple[int, int]], row: tuple[int, int], margin: int
) -> None:
    trees = list(TREES.values())
    before, after = (
        level_scores(np.array(some, np.int64).reshape(-1, 2), trees, margin, [1.0, 1.0])
        for some in (table, [*table, row])
    )
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) <= UNIT
    assert before == [slow_score(table, node, margin) for node in level_nodes(trees)]


def publish(table: pl.DataFrame) -> Any:
    ledger = mh.Ledger.temporary(epsilon=2.0, delta=1e-6)
    release = mh.generalize(table, ledger=ledger, **SPENT)
    return release.table, {key: value for key, value in release.report.items() if key != "privacy_ledger"}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 500), st.integers(1, 500), st.sampled_from(["ankara", "nowhere", None]))
def test_neighbours_are_told_apart_by_chance_alone(seed: int, count: int, town: str | None) -> None:
    table = people(count, seed)
    other = pl.DataFrame({"town": [town], "age": [33], "name": ["x"]}, schema=table.schema)
    found = assert_dp(publish, pl.concat([table, other]), table)
    assert found.epsilon(1e-6) == pytest.approx(2.0)


def test_rows_are_real_and_at_least_k_look_alike(tmp_path: Path) -> None:
    ledger = mh.Ledger.create(tmp_path / "l", people(4000), epsilon=3, delta=1e-5)
    release = mh.generalize(people(4000), ledger=ledger, output=tmp_path / "r", **SPENT)
    table, report = release.table, release.report
    assert table.columns == ["town", "age"]  # nothing without a hierarchy
    assert table.height
    assert table.group_by(table.columns).len()["len"].min() >= report["k"]
    assert "elsewhere" not in set(table["town"])
    assert sorted(pl.read_csv(tmp_path / "r" / "data.csv", infer_schema=False).rows()) == sorted(table.rows())
    (spend,) = [line for line in ledger.history() if line["kind"] == "spend"]
    assert (spend["epsilon"], spend["delta"]) == (2.0, 1e-6)
    assert ledger.remaining().epsilon == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(InvalidParameter, match="promises no k"):
        mh.audit(tmp_path / "r")
    assert mh.audit(tmp_path / "r", quasi=["town", "age"], k=report["k"]).holds


def test_levels_follow_from_many_rows_and_a_sample_is_as_large_as_said() -> None:
    """With many rows in few cells everything is shown as it is; the sample is within 8 deviations."""
    table = pl.DataFrame({"town": ["ankara"] * 20_000 + ["izmir"] * 20_000})
    ledger = mh.Ledger.temporary(epsilon=2, delta=1e-6)
    release = mh.generalize(table, ledger=ledger, **{**SPENT, "hierarchy": {"town": TOWNS}, "beta": 0.4})
    assert release.report["levels"] == {"town": 0}
    assert abs(release.table.height - 16_000) < 8 * (40_000 * 0.4 * 0.6) ** 0.5


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"epsilon": 2.5}, "does not fit"),
        ({"delta": 0.0}, "delta"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"share": 0.0}, "share"),
        ({"share": 1.0}, "share"),
        ({"beta": 0.9}, "beta"),
        ({"beta": 0.0}, "beta"),
        ({"hierarchy": {}}, "hierarchy"),
        ({"hierarchy": {"city": TOWNS}}, "city"),
        ({"weights": {"name": 2.0}}, "name"),
        ({"weights": {"age": 0.0}}, "weights.age"),
        ({"weights": {"age": -1.0}}, "weights.age"),
        ({"quasi": ["town"]}, "quasi"),
        ({"hierarchy": {"town": Hierarchy.from_rows([["1.1", "*"], ["1.10", "*"]])}}, "are one value"),
        ({"hierarchy": {"town": Hierarchy.from_rows([["1.1", "*"], ["NA", "*"]])}}, "missing value"),
        ({"hierarchy": {f"c{place}": AGES for place in range(12)}}, "nodes"),
        ({"ledger": {"relation": "replace", "rows": 50}}, "relation"),
        ({"ledger": {"subject": "name"}}, "subject"),
    ],
)
def test_what_cannot_work_is_refused_before_anybody_pays(
    tmp_path: Path, wrong: dict[str, Any], match: str
) -> None:
    book = mh.Ledger.temporary(epsilon=2, delta=1e-5, **wrong.pop("ledger", {}))
    with pytest.raises(MahremError, match=match):
        mh.generalize(people(50), ledger=book, output=tmp_path / "r", **{**SPENT, **wrong})
    assert not book.history()
    assert not (tmp_path / "r").exists()


def test_a_folder_that_is_there_and_an_empty_budget_cost_nothing(tmp_path: Path) -> None:
    book = mh.Ledger.temporary(epsilon=2, delta=1e-6)
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "mine").write_text("kept")
    with pytest.raises(InvalidParameter):
        mh.generalize(people(50), ledger=book, output=tmp_path / "r", **SPENT)
    assert not book.history()
    mh.generalize(people(50), ledger=book, **SPENT)
    with pytest.raises(BudgetExceeded):
        mh.generalize(people(50), ledger=book, **SPENT)
    assert len(book.history()) == 1


def test_a_table_too_small_shows_nothing(tmp_path: Path) -> None:
    book = mh.Ledger.temporary(epsilon=2, delta=1e-6)
    release = mh.generalize(people(5), ledger=book, output=tmp_path / "r", **SPENT)
    assert release.table.shape == (0, 2)


def test_the_usual_plan_is_the_sparing_one() -> None:
    plan = LevelPlan.of(2.0, 1e-6, rate=None, share=0.1)
    other = LevelPlan.of(2.0, 1e-6, rate=0.8, share=0.1)
    assert plan.margin < other.margin
    assert plan.levels_epsilon + plan.rows_epsilon == pytest.approx(2.0)


def test_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    people(3000).write_csv("people.csv")
    Path("towns.csv").write_text("\n".join(";".join(row) for row in TOWNS.rows()))
    assert _run(["ledger", "new", "l", "--data", "people.csv", "--epsilon", "3", "--delta", "1e-5"]) == 0
    line = ["generalize", "people.csv", "--ledger", "l", "--epsilon", "2", "--hierarchy", "town=towns.csv"]
    assert _run([*line, "-o", "out"]) == 0
    assert "left in the ledger" in capsys.readouterr().out
    assert json.loads(Path("out/report.json").read_text())["levels"].keys() == {"town"}
    assert _run([*line, "-o", "again"]) == 5
    assert not Path("again").exists()


def test_a_leaf_is_found_in_whatever_spelling_its_column_has() -> None:
    tree = {"age": AGES, "ill": Hierarchy.from_rows([["no", "*"], ["yes", "*"]])}
    words = pl.DataFrame({"age": ["25", "31", "59"], "ill": ["yes", "no", "yes"]})
    typed = pl.DataFrame({"age": [25.0, 31.0, 59.0], "ill": [True, False, True]})
    points = words.with_columns(pl.col("age") + ".0")  # as one NaN makes pandas write them
    assert _leaves(words, tree).tolist() == _leaves(typed, tree).tolist() == _leaves(points, tree).tolist()
    assert len(_leaves(words, tree)) == words.height
