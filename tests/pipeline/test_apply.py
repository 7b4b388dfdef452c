from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import ColumnNotFound, Infeasible, InvalidInput, InvalidParameter, Tampered
from mahrem.matching import fit_of, read_people, read_published
from mahrem.release import RECIPE, read_recipe
from mahrem.table.columns import make_key
from releases import crowd

ROLES: dict[str, Any] = {"quasi": ["age", "pay", "zip"], "sensitive": "illness", "k": 5, "html": False}
TREE = [
    ["06100", "061**", "06***"],
    ["06101", "061**", "06***"],
    ["06200", "062**", "06***"],
    ["34000", "340**", "34***"],
    ["34710", "347**", "34***"],
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mh.anonymize(crowd(600), **ROLES, output=tmp_path / "release")
    return tmp_path / "release"


def cells(frame: pl.DataFrame) -> set[tuple[object, ...]]:
    shown = frame.select(ROLES["quasi"])
    return {row for row in shown.iter_rows() if set(row) != {"*"}}


@settings(max_examples=20, deadline=None)
@given(st.integers(30, 500), st.integers(0, 2**16), st.sampled_from(["mondrian", "flash", "mosaic"]))
def test_rows_of_a_batch_show_cells_of_the_recipe_that_hold_them(rows: int, seed: int, method: str) -> None:
    first = mh.anonymize(crowd(600), **ROLES, method=method)
    recipe = _written(first)
    batch = crowd(rows, seed)
    try:
        release = mh.apply(recipe, batch, html=False)
    except Infeasible:
        return
    finally:
        recipe.unlink()
    assert release.table.height == rows
    if method != "flash":
        assert cells(release.table) <= cells(first.table)
    published = read_published(release.table, quasi=ROLES["quasi"])
    assert published.sizes.min() >= 5
    shown = batch.filter(pl.Series(published.labels >= 0))
    fitting, looked_at, _ = fit_of(published, read_people(shown, published))
    assert fitting == looked_at


def _written(release: mh.Release) -> Path:
    import tempfile

    from mahrem.drafts import recipe_of

    recipe = recipe_of(release._draft)
    assert recipe is not None
    path = Path(tempfile.mkdtemp()) / "some.recipe"
    path.write_text(recipe.text(), encoding="utf-8")
    return path


def test_the_promise_is_checked_again_and_small_classes_are_said(folder: Path, tmp_path: Path) -> None:
    release = mh.apply(folder, crowd(300, seed=3), output=tmp_path / "next", html=False)
    assert release.holds
    assert release.report["method"] == "recipe"
    assert release.report["utility"]["suppressed"] > 0
    assert any("would not keep the promise" in note for note in release.report["warnings"])
    assert mh.audit(tmp_path / "next").holds


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_batch_written_to_a_file_audits_true(folder: Path, tmp_path: Path, form: str) -> None:
    mh.apply(folder, crowd(300, seed=3), output=tmp_path / "next", html=False, format=form)
    assert mh.audit(tmp_path / "next", k=5).holds


def test_diversity_is_kept_in_the_batch_too(tmp_path: Path) -> None:
    mh.anonymize(crowd(900), **ROLES, l=2, t=0.45, output=tmp_path / "release")
    release = mh.apply(tmp_path / "release", crowd(500, seed=9), html=False)
    assert {outcome["model"] for outcome in release.report["promises"]} >= {
        "k-anonymity",
        "t-closeness-equal",
    }
    assert release.holds


def test_a_row_outside_every_cell_shows_nothing(folder: Path) -> None:
    batch = pl.concat([crowd(400, seed=2), crowd(1).with_columns(age=pl.lit(400, pl.Int64))])
    table = mh.apply(folder, batch, html=False).table
    assert table.row(400) == ("*",) * 4


def test_the_limit_on_suppression_is_kept(folder: Path) -> None:
    with pytest.raises(Infeasible, match=r"suppression_limit=0\.0") as refused:
        mh.apply(folder, crowd(300, seed=3), suppression_limit=0.0, html=False)
    assert refused.value.reached is not None
    assert 0 < refused.value.reached < 1


def test_a_batch_too_small_for_any_class_is_infeasible(folder: Path) -> None:
    with pytest.raises(Infeasible):
        mh.apply(folder, crowd(5, seed=3), html=False)
    with pytest.raises(Infeasible, match="k-anonymity"):
        mh.apply(folder, crowd(3, seed=3), html=False)


def test_another_schema_is_refused(folder: Path) -> None:
    batch = crowd(100)
    with pytest.raises(InvalidInput, match="another schema: the batch has no column='pay'"):
        mh.apply(folder, batch.drop("pay"))
    with pytest.raises(InvalidInput, match="another schema: it does not know column='note'"):
        mh.apply(folder, batch.with_columns(note=pl.lit("x")))
    with pytest.raises(InvalidInput, match="is not numeric"):
        mh.apply(folder, batch.with_columns(age=pl.lit("old")))
    with pytest.raises(InvalidParameter, match="setting of apply"):
        mh.apply(folder, batch, k=2)


def test_a_changed_release_and_a_damaged_recipe_are_refused(folder: Path, tmp_path: Path) -> None:
    recipe = folder / RECIPE
    loose = tmp_path / "loose.recipe"
    loose.write_text(recipe.read_text().replace('"classes":[[', '"classes":[[99,'))
    with pytest.raises(InvalidInput, match="damaged"):
        mh.apply(loose, crowd(100))
    loose.write_text("{}")
    with pytest.raises(InvalidInput, match="no recipe of this version"):
        mh.apply(loose, crowd(100))
    with pytest.raises(InvalidInput, match="does not exist"):
        mh.apply(tmp_path / "nowhere", crowd(100))
    recipe.write_text(recipe.read_text() + " ")
    for door in (folder, recipe):
        with pytest.raises(Tampered):
            mh.apply(door, crowd(100))


def test_a_value_fewer_than_k_people_have_is_not_in_the_recipe(tmp_path: Path) -> None:
    people = crowd(300).with_columns(
        zip=pl.when(pl.int_range(pl.len()) < 4).then(pl.lit("99999")).otherwise("zip")
    )
    tree = mh.table.Hierarchy.from_rows([*TREE, ["99999", "999**", "99***"]])
    mh.anonymize(people, **ROLES, hierarchy={"zip": tree}, output=tmp_path / "release")
    text = (tmp_path / "release" / RECIPE).read_text()
    assert '"06100"' in text
    assert "99999" not in text


def test_labels_are_applied_and_unknown_values_only_fit_the_root(tmp_path: Path) -> None:
    tree = mh.table.Hierarchy.from_rows(TREE)
    mh.anonymize(crowd(600), **ROLES, hierarchy={"zip": tree}, output=tmp_path / "release")
    batch = pl.concat([crowd(500, seed=4), crowd(1).with_columns(zip=pl.lit("77777"))])
    table = mh.apply(tmp_path / "release", batch, html=False).table
    assert table["zip"].item(500) == "*"
    assert mh.audit(table, quasi=ROLES["quasi"], k=5).report["utility"]["classes"] > 5


def test_a_pseudonym_without_its_key_is_dropped_not_published(tmp_path: Path) -> None:
    make_key(tmp_path / "key")
    people = crowd(400).with_columns(id=pl.int_range(pl.len()).cast(pl.String))
    roles = {**ROLES, "rest": "insensitive", "pseudonym": {"id": tmp_path / "key"}}
    mh.anonymize(people, **roles, output=tmp_path / "release")
    batch = people.sample(300, seed=2)
    assert "id" not in mh.apply(tmp_path / "release", batch, html=False).table.columns
    keyed = mh.apply(tmp_path / "release", batch, html=False, pseudonym={"id": tmp_path / "key"})
    assert keyed.table["id"].str.len_chars().drop_nulls().max() == 32


def test_people_are_counted_where_the_recipe_counts_them(tmp_path: Path) -> None:
    people = crowd(600).with_columns(person=pl.int_range(pl.len()) // 2)
    mh.anonymize(people, **ROLES, subject="person", output=tmp_path / "release")
    with pytest.raises(InvalidInput, match="counts people by column='person'"):
        mh.apply(tmp_path / "release", crowd(300))
    assert mh.apply(tmp_path / "release", people.head(400), html=False).holds


@pytest.mark.filterwarnings("ignore:.*composition")  # the same people on purpose
def test_pairs_and_dates_come_back_as_such(tmp_path: Path) -> None:
    patients = mh.demo_patients(500)
    roles = {"quasi": ["age", "admission"], "sensitive": "diagnosis", "rest": "drop", "k": 5, "html": False}
    mh.anonymize(patients, **roles, cells="pairs", output=tmp_path / "pairs")
    shown = mh.apply(tmp_path / "pairs", mh.demo_patients(400, seed=3), html=False).table
    assert {"age_min", "age_max", "admission_min", "admission_max"} <= set(shown.columns)
    assert shown["admission_min"].dtype.is_temporal()
    mh.anonymize(patients, **roles, cells="centroid", output=tmp_path / "centroids")
    with pytest.raises(InvalidInput, match=r"no release\.recipe"):
        mh.apply(tmp_path / "centroids", patients)


def test_open_cells_take_the_very_old_of_a_batch(tmp_path: Path) -> None:
    mh.anonymize(crowd(600), **ROLES, top={"age": 80}, output=tmp_path / "release")
    batch = crowd(500, seed=1).with_columns(age=pl.when(pl.col("age") > 85).then(119).otherwise("age"))
    table = mh.apply(tmp_path / "release", batch, html=False).table
    old = table.filter(pl.Series(batch["age"] == 119))["age"]
    assert old.str.contains("inf|\\*").all()
    assert old.str.contains("inf").any()


def test_a_recipe_read_back_is_the_recipe(folder: Path) -> None:
    recipe = read_recipe(folder)
    assert json.loads(recipe.text()) == json.loads((folder / RECIPE).read_text())
    assert recipe.classes is not None
    assert len(np.unique(recipe.classes, axis=0)) == len(recipe.classes)


def test_a_column_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises((ColumnNotFound, InvalidInput), match="age"):
        mh.apply(folder, crowd(50).rename({"age": "Age"}))
