"""Automatic generalisation: groups learnt against a target, from a table to an audited release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import mahrem as mh
from mahrem.cli._app import build_app
from mahrem.drafts import Prepared, draft, prepare
from mahrem.errors import InvalidInput, InvalidParameter, PrivacyWarning
from mahrem.recode import Nodes
from mahrem.release.decisions import Policy, best_groups
from mahrem.release.decisions._learnt_groups import _chains
from mahrem.table import Axis, Leaves, read_hierarchy
from mahrem.table.hierarchies import learn_hierarchy

QUASI = ["age", "zip", "sex"]
ROLES: dict[str, Any] = {"quasi": QUASI, "sensitive": "diagnosis", "rest": "drop", "k": 4}
learning = pytest.mark.filterwarnings("ignore:automatic:mahrem.errors.PrivacyWarning")


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return mh.demo_patients(500)


def prepared(table: pl.DataFrame, **settings: Any) -> tuple[Prepared, Policy]:
    policy = Policy.of({**ROLES, "automatic": "diagnosis", **settings})
    return prepare(table, policy), policy


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_class_shows_the_lowest_group_that_holds_all_its_values(data: st.DataObject) -> None:
    rows = data.draw(st.integers(2, 30))
    values = data.draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows))
    target = data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)))
    target[0], target[1] = True, False
    series = pl.Series("age", values)
    tree = learn_hierarchy(series, pl.Series(target))
    leaves = tree.codes(series)
    shown = Nodes()(Axis("age", leaves.astype(np.float64), Leaves(tree)), labels, 4).text.to_list()
    for label in set(labels.tolist()):
        mine = leaves[labels == label]
        level = next(
            height for height in range(tree.levels) if len(set(tree.nodes[height, mine].tolist())) == 1
        )
        assert shown[label] == tree.cells(level)[int(tree.nodes[level, mine[0]])]


@learning
@pytest.mark.parametrize("method", ["mondrian", "optimised-mondrian", "flash"])
def test_a_release_of_learnt_groups_audits_true(method: str, patients: pl.DataFrame, tmp_path: Path) -> None:
    release = mh.anonymize(
        patients, output=tmp_path / "release", automatic="diagnosis", method=method, **ROLES
    )
    assert release.holds
    assert mh.audit(tmp_path / "release").holds
    assert set(release.hierarchies) == set(QUASI)
    assert any("learnt from the table" in said for said in release.report["warnings"])
    # With the trees it was made from it audits true as well, and every cell is a node of its tree.
    files = {}
    for name, tree in release.hierarchies.items():
        tree.write(tmp_path / f"{name}.csv")
        files[name] = tmp_path / f"{name}.csv"
        assert read_hierarchy(files[name]) == tree
        known = {cell for level in range(tree.levels) for cell in tree.cells(level)}
        assert set(release.table[name].drop_nulls().unique().to_list()) <= known
    assert mh.audit(tmp_path / "release", hierarchy=files).holds


@learning
def test_every_value_lies_in_the_group_its_row_shows(patients: pl.DataFrame) -> None:
    release = mh.anonymize(patients, automatic="diagnosis", **ROLES)
    for name, tree in release.hierarchies.items():
        leaves = tree.codes(patients[name])
        cells = release.table[name].to_list()
        for leaf, cell in zip(leaves.tolist(), cells, strict=True):
            if leaf < 0:
                assert cell in {None, "*"}
                continue
            assert cell in {tree.cells(level)[int(tree.nodes[level, leaf])] for level in range(tree.levels)}


@learning
def test_classes_are_cut_on_the_values_and_not_on_the_groups(patients: pl.DataFrame) -> None:
    learnt = draft(*prepared(patients))
    plain = draft(*prepared(patients, automatic=None))
    assert np.array_equal(learnt.labels, plain.labels)


@learning
def test_a_class_with_missing_and_present_values_shows_nothing_there() -> None:
    table = pl.DataFrame(
        {"age": [1, None, 3, 3, None, None], "ill": ["y", "n", "y", "n", "y", "n"], "sex": ["f"] * 6}
    )
    release = mh.anonymize(table, quasi=["age", "sex"], insensitive="ill", automatic="ill", k=2)
    shown = dict(zip(table["age"].to_list(), release.table["age"].to_list(), strict=True))
    assert shown[3] in {"3", "*"}
    assert release.holds


def test_least_suppression_comes_first_then_least_height() -> None:
    # Width 20 keeps a and b apart (60 % and 80 %), width 50 puts them together.
    town = pl.Series("town", ["a"] * 5 + ["b"] * 5 + ["c"] * 5)
    ill = pl.Series("ill", ["y"] * 3 + ["n"] * 2 + ["y"] * 4 + ["n"] + ["n"] * 5)
    table = pl.DataFrame([town, ill])
    policy = Policy.of({"quasi": ["town"], "sensitive": "ill", "k": 2, "automatic": "ill", "rho": "20,50"})
    with pytest.warns(PrivacyWarning, match="learnt from the table"):
        made = prepare(table, policy)
    assert made.automatic is not None
    together = np.array([0] * 10 + [1] * 5)
    (chosen,) = best_groups(made.automatic, made.axes, together, 2, 15)
    assert isinstance(chosen.domain, Leaves)
    cells = Nodes()(chosen, together, 2).text.to_list()
    assert cells == ["{a, b}", "c"]
    others = [
        Nodes()(axis, together, 2).text.to_list()
        for axis in made.automatic.axes["town"]
        if axis is not chosen
    ]
    assert others == [["*", "c"]]


def test_widths_that_do_not_divide_each_other_make_several_chains() -> None:
    assert _chains([50, 5, 20, 10]) == [(5, 10, 20, 50), (5, 10, 20), (5, 10, 50)]
    assert _chains([5, 10, 50]) == [(5, 10, 50)]
    assert _chains([20, 50]) == [(20, 50), (20,), (50,)]


def test_learning_from_another_table_is_quiet_and_does_not_look_at_ours(patients: pl.DataFrame) -> None:
    public = mh.demo_patients(400, seed=9)
    turned = patients.with_columns(pl.col("diagnosis").reverse())
    said = {**ROLES, "automatic": "diagnosis", "learn_from": public}
    first, second = mh.anonymize(patients, **said), mh.anonymize(turned, **said)
    assert first.hierarchies["zip"].leaves == patients["zip"].drop_nulls().n_unique()
    for release in (first, second):
        assert not any("learnt" in note for note in release.report["warnings"])
    candidates = [prepare(table, Policy.of(said)).automatic for table in (patients, turned)]
    assert candidates[0] is not None
    assert candidates[1] is not None
    for name in QUASI:
        trees = [[axis.domain for axis in one.axes[name]] for one in candidates if one is not None]
        assert trees[0] == trees[1]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"automatic": "age"}, "quasi-identifier"),
        ({"automatic": "insurance"}, "published"),
        ({"automatic": "nothing"}, "nothing"),
        ({"automatic": "diagnosis", "rho": "30"}, "100"),
        ({"automatic": "diagnosis", "rho": "wide"}, "numbers"),
        ({"automatic": "diagnosis", "cells": "pairs"}, "cells"),
        ({"rho": "5,10"}, "automatic="),
        ({"learn_from": "other.csv"}, "automatic="),
    ],
)
@learning
def test_what_cannot_be_learnt_is_refused(patients: pl.DataFrame, said: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidParameter, KeyError), match=message):
        mh.anonymize(patients, **{**ROLES, **said})


@learning
def test_a_target_with_one_value_is_refused(patients: pl.DataFrame) -> None:
    one = patients.with_columns(diagnosis=pl.lit("flu"))
    with pytest.raises(InvalidInput, match="two are needed"):
        mh.anonymize(one, automatic="diagnosis", **ROLES)


@given(rows=st.integers(6, 40), seed=st.integers(0, 1000), k=st.integers(1, 3))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@learning
def test_learnt_groups_keep_every_promise_on_any_table(rows: int, seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "number": pl.Series(rng.integers(0, 6, rows) / 2).set(pl.Series(rng.random(rows) < 0.1), None),
            "word": rng.choice(["a", "b", "{c}", "*", ""], rows),
            "target": np.where(np.arange(rows) % 2, "x", "y"),
        }
    )
    said: dict[str, Any] = {"quasi": ["number", "word"], "sensitive": "target", "automatic": "target", "k": k}
    release = mh.anonymize(table, **said, html=False)
    sizes = release.table.group_by("number", "word").len()["len"]
    assert release.holds
    assert sizes.min() >= k  # type: ignore[operator]


@learning
def test_the_command_keeps_the_hierarchies_outside_the_release(tmp_path: Path) -> None:
    mh.demo_patients(200).write_csv(tmp_path / "patients.csv")
    line = ["anonymize", str(tmp_path / "patients.csv"), "--qi", "age,sex", "--sensitive", "diagnosis"]
    line += ["--rest", "drop", "-k", "3", "--automatic", "diagnosis", "--rho", "10,50", "--no-html", "-q"]
    out = ["-o", str(tmp_path / "release")]
    inside = CliRunner().invoke(
        build_app(), [*line, *out, "--hierarchies", str(tmp_path / "release" / "trees")]
    )
    assert isinstance(inside.exception, InvalidParameter)
    assert not (tmp_path / "release").exists()
    done = CliRunner().invoke(build_app(), [*line, *out, "--hierarchies", str(tmp_path / "trees")])
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "trees").iterdir()) == ["age.csv", "sex.csv"]
    assert not list((tmp_path / "release").glob("*tree*"))
    assert mh.audit(tmp_path / "release").holds
