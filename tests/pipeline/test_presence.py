"""delta-presence and suppressed rows, judged on what is published."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.table import Hierarchy

TOWNS = [["ankara", "centre"], ["konya", "centre"], ["izmir", "west"], ["manisa", "west"]]
AGES = [[str(age), f"{age // 20 * 20} to {age // 20 * 20 + 19}"] for age in range(10, 70, 10)]
TREES = {"town": TOWNS, "age": AGES}
KEPT = "keep-sensitive"


def hierarchies() -> dict[str, Hierarchy]:
    return {name: Hierarchy.from_rows(rows) for name, rows in TREES.items()}


def lifted(value: str, name: str, level: int) -> str:
    return "*" if level == 2 else next(row for row in TREES[name] if row[0] == value)[level]


def published_loss(
    table: list[dict[str, str]], everyone: list[dict[str, str]], k: int, bounds: tuple[float, float]
) -> float:
    """The least DM over all nodes whose published table keeps k and presence, by looking at all of them."""
    least = math.inf
    for levels in itertools.product(range(3), range(3)):
        node = dict(zip(("town", "age"), levels, strict=True))

        def cells(person: dict[str, str], node: dict[str, int] = node) -> tuple[str, ...]:
            return tuple(lifted(person[name], name, level) for name, level in node.items())

        shown, around = Counter(map(cells, table)), Counter(map(cells, everyone))
        shares = [shown[key] / around[key] for key in around]
        if min(shown.values()) >= k and all(bounds[0] <= share <= bounds[1] for share in shares):
            least = min(least, sum(size**2 for size in shown.values()))
    return least


people = st.fixed_dictionaries(
    {"town": st.sampled_from([row[0] for row in TOWNS]), "age": st.sampled_from([row[0] for row in AGES])}
)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(people, min_size=4, max_size=12),
    st.lists(people, max_size=20),
    st.sampled_from([(0.0, 0.6), (0.0, 1.0), (0.1, 0.9)]),
    st.sampled_from(["mingen", "flash"]),
)
def test_no_node_publishes_a_table_that_loses_less(
    table: list[dict[str, str]],
    others: list[dict[str, str]],
    bounds: tuple[float, float],
    method: str,
) -> None:
    said: dict[str, Any] = {
        "quasi": ["town", "age"],
        "k": 2,
        "delta_presence": bounds,
        "bounds": "exact",
        "hierarchy": hierarchies(),
        "population": pl.DataFrame([*table, *others]),
        "method": method,
        "options": {"loss": "dm"},
    }
    wanted = published_loss(table, [*table, *others], 2, bounds)
    try:
        report = mh.anonymize(pl.DataFrame(table), html=False, **said).report
    except Infeasible:
        assert wanted == math.inf
        return
    assert report["utility"]["dm"] == wanted
    assert report["utility"]["classes"] == report["utility"]["published_classes"]


def crowd() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Three towns are mixed; both people of manisa are in the table."""
    rows = [("ankara", True)] * 6 + [("ankara", False)] * 14
    rows += [("konya", True)] * 4 + [("konya", False)] * 12 + [("manisa", True)] * 2
    everyone = pl.DataFrame({"town": [town for town, _ in rows]})
    return everyone.filter(pl.Series([inside for _, inside in rows])), everyone


PRESENT: dict[str, Any] = {"quasi": "town", "bounds": "exact", "method": "flash", "html": False}


def test_rows_are_suppressed_under_presence_and_judged_with_the_people_around_them(tmp_path: Path) -> None:
    table, everyone = crowd()
    said = {**PRESENT, "hierarchy": {"town": Hierarchy.from_rows(TOWNS)}, "population": everyone}
    release = mh.anonymize(
        table, output=tmp_path / "r", delta_presence=(0.0, 0.4), suppression_limit=0.5, shuffle=False, **said
    )
    # 2 of 2 people of manisa would be known to be present; with konya they are 6 of 18.
    assert pl.read_csv(tmp_path / "r" / "data.csv")["town"].to_list() == ["ankara"] * 6 + ["*"] * 6
    assert release.report["promises"][-1]["reached"] == pytest.approx(6 / 18)
    assert mh.audit(tmp_path / "r", population=everyone).holds


def test_cells_of_a_given_hierarchy_fit_whoever_is_below_them(tmp_path: Path) -> None:
    table, everyone = crowd()
    tree = {"town": Hierarchy.from_rows(TOWNS)}
    said = {**PRESENT, "hierarchy": tree, "population": everyone, "k": 3, "suppression_limit": 0.2}
    mh.anonymize(table, output=tmp_path / "r", delta_presence=(0.0, 1.0), known_absence="allowed", **said)
    centre = pl.DataFrame({"town": ["centre"] * 10 + ["west"] * 2})
    asked = {"quasi": "town", "bounds": "exact", "population": everyone, "hierarchy": tree}
    found = mh.audit(centre, delta_presence=(0.0, 1.0), **asked)
    assert found.report["promises"][-1]["reached"] == 1.0  # both of manisa
    assert not mh.audit(centre, delta_presence=(0.0, 0.9), **asked).holds
    lonely = mh.audit(centre.head(10), delta_presence=(0.0, 0.3), **asked)
    assert lonely.report["promises"][-1]["reached"] == pytest.approx(10 / 36)


def test_without_people_around_them_suppressed_rows_are_refused() -> None:
    table, everyone = crowd()
    published = table.with_columns(
        town=pl.when(pl.col("town") == "manisa").then(pl.lit("*")).otherwise("town")
    )
    said = {"quasi": "town", "bounds": "exact", "delta_presence": (0.0, 0.4), "population": everyone}
    assert not mh.audit(published, **said).holds
    assert mh.audit(published, **{**said, "delta_presence": (0.0, 1.0)}).holds


def test_absent_people_are_refused_unless_their_absence_may_be_known(tmp_path: Path) -> None:
    table = pl.DataFrame({"town": ["ankara"] * 3 + ["konya"] * 3})
    everyone = pl.DataFrame({"town": ["ankara"] * 6 + ["konya"] * 6 + ["izmir"] * 5})
    said = {**PRESENT, "hierarchy": {"town": Hierarchy.from_rows(TOWNS)}, "population": everyone}
    strict = mh.anonymize(table, delta_presence=(0.2, 0.6), **said)
    assert strict.report["columns"]["town"]["level"] == 2
    loose = mh.anonymize(
        table, output=tmp_path / "r", delta_presence=(0.2, 0.6), known_absence="allowed", **said
    )
    assert loose.report["columns"]["town"]["level"] == 0
    assert loose.report["promises"][-1]["model"] == "delta-presence-shown"
    assert mh.audit(tmp_path / "r", population=everyone).holds
    assert not mh.audit(tmp_path / "r", population=everyone, known_absence="refused").holds
    with pytest.raises(InvalidParameter, match="delta_presence"):
        mh.anonymize(table, quasi="town", k=2, known_absence="allowed")


def test_classes_that_a_cut_leaves_without_members_are_not_counted() -> None:
    table = pl.DataFrame({"age": [20, 21, 22, 23]})
    everyone = pl.DataFrame({"age": [20, 21, 22, 23, *range(60, 90)]})
    release = mh.anonymize(
        table, quasi="age", bounds="exact", delta_presence=(0.0, 1.0), population=everyone, html=False
    )
    assert release.report["utility"]["classes"] == release.report["utility"]["published_classes"] == 4


def test_rows_that_miss_values_cannot_be_hidden_in_a_population() -> None:
    table = pl.DataFrame({"age": [1, 1, None, 2, 2]})
    said: dict[str, Any] = {"quasi": "age", "bounds": "exact", "delta_presence": (0, 1), "population": table}
    with pytest.raises(InvalidParameter, match="missing='suppress'"):
        mh.anonymize(table, missing="suppress", **said)
    assert mh.anonymize(table, missing="drop", html=False, **said).report["rows"] == 4


def patients() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "town": ["ankara"] * 20 + ["konya"] * 8 + ["izmir"] * 3 + ["manisa"],
            "illness": ["flu", "gout"] * 10
            + ["flu", "flu", "flu", "gout"] * 2
            + ["flu", "flu", "gout"]
            + ["flu"],
            "ward": [f"w{number}" for number in range(32)],
        }
    )


SICK: dict[str, Any] = {
    "quasi": "town",
    "sensitive": "illness",
    "insensitive": "ward",
    "accept": {"*": "to tell rows apart"},
    "k": 2,
    "t": 0.3,
    "method": "flash",
    "suppression_limit": 0.3,
    "hierarchy": {"town": Hierarchy.from_rows(TOWNS)},
}


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "xlsx"])
def test_suppressed_rows_may_keep_their_sensitive_values(tmp_path: Path, kind: str) -> None:
    said = {**SICK, "suppressed": KEPT, "format": kind, "shuffle": False, "html": kind == "csv"}
    release = mh.anonymize(patients(), output=tmp_path / "r", **said)
    table = pl.DataFrame(release.table)
    starred = table.filter(pl.col("town") == "*")
    assert 2 <= starred.height <= 0.3 * 32
    assert sorted(table["illness"].to_list()) == sorted(patients()["illness"].to_list())
    assert table["ward"].to_list() == patients()["ward"].to_list()
    assert mh.audit(tmp_path / "r").holds
    report = json.loads((tmp_path / "r" / "report.json").read_text(encoding="utf-8"))
    notes = [note for note in report["notes"] if note["code"] == "warning.starred"]
    assert notes[0]["values"]["rows"] == starred.height
    assert report["utility"]["classes"] == report["utility"]["published_classes"]


def test_without_it_suppressed_rows_show_nothing() -> None:
    table = pl.DataFrame(mh.anonymize(patients(), html=False, **SICK).table)
    hidden = table.filter(pl.col("town") == "*")
    assert hidden.height
    assert set(hidden["illness"]) == set(hidden["ward"]) == {"*"}


def test_a_recipe_does_not_know_the_suppressed(tmp_path: Path) -> None:
    mh.anonymize(patients(), output=tmp_path / "r", **{**SICK, "suppressed": KEPT})
    recipe = (tmp_path / "r" / "release.recipe").read_text(encoding="utf-8")
    assert "manisa" not in recipe
    assert '"*"' not in recipe.split('"cells"')[1].split("]")[0]
    applied = mh.apply(tmp_path / "r", patients(), html=False, suppression_limit=1.0)
    assert applied.holds
    assert "*" in set(pl.DataFrame(applied.table)["illness"])


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"sensitive": None, "t": None, "insensitive": ["illness", "ward"]}, "sensitive"),
        ({"suppression_limit": None}, "suppression_limit"),
        ({"suppression_limit": 0.0}, "suppression_limit"),
        ({"method": "mondrian"}, "flash"),
        ({"method": "auto"}, "flash"),
    ],
)
def test_keeping_sensitive_values_is_refused_where_it_means_nothing(
    wrong: dict[str, Any], match: str
) -> None:
    with pytest.raises(InvalidParameter, match=match):
        mh.anonymize(patients(), **{**SICK, "suppressed": KEPT, **wrong})
