"""Profitability, with attacks and without, for a prosecutor and a journalist, reckoned by hand."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import Infeasible, InvalidParameter, MahremError
from mahrem.table import Hierarchy

TOWNS = [["ankara", "centre", "*"], ["konya", "centre", "*"], ["izmir", "west", "*"], ["manisa", "west", "*"]]
AGES = [[str(age), f"{age // 3 * 3}s", "*"] for age in range(20, 29)]
TREES = {"town": TOWNS, "age": AGES}
HIERARCHY = {name: Hierarchy.from_rows(rows) for name, rows in TREES.items()}
people = st.fixed_dictionaries(
    {"town": st.sampled_from([row[0] for row in TOWNS]), "age": st.sampled_from([row[0] for row in AGES])}
)
amounts = st.tuples(
    st.sampled_from([10.0, 120.0]),
    st.sampled_from([0.0, 30.0, 300.0]),
    st.sampled_from([0.0, 60.0, 200.0]),
    st.sampled_from([0.0, 20.0]),
)


def lifted(person: dict[str, Any], levels: dict[str, int]) -> tuple[str, ...]:
    return tuple(
        next(row for row in TREES[name] if row[0] == person[name])[level] for name, level in levels.items()
    )


def information_loss(cells: tuple[str, ...], levels: dict[str, int]) -> float:
    """As the paper says: bits that are lost over bits that could be."""
    lost = most = 0.0
    for cell, (name, level) in zip(cells, levels.items(), strict=True):
        lost += math.log(sum(row[level] == cell for row in TREES[name]))
        most += math.log(len(TREES[name]))
    return lost / most


def payout(said: tuple[float, ...], lost: float, chance: float) -> float:
    benefit, loss, gain, cost = said
    attacked = gain * chance - cost > 0
    return benefit * (1 - lost) - (loss * chance if attacked else 0)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(people, min_size=2, max_size=14),
    st.lists(people, max_size=20),
    amounts,
    st.booleans(),
    st.sampled_from([0.0, 0.4]),
)
def test_a_node_shows_the_classes_that_pay(
    table: list[dict[str, Any]],
    others: list[dict[str, Any]],
    said: tuple[float, ...],
    journalist: bool,  # noqa: FBT001
    limit: float,
) -> None:
    everyone = [*table, *others] if journalist else table
    found = mh.lattice(
        pl.DataFrame(table),
        quasi=["town", "age"],
        hierarchy=HIERARCHY,
        profitability=said,
        suppression_limit=limit,
        accept={"*": "made up"},
        **({"population": pl.DataFrame(everyone)} if journalist else {}),
    )
    for node in found:
        classes: dict[tuple[str, ...], int] = defaultdict(int)
        fits: dict[tuple[str, ...], int] = defaultdict(int)
        for person in table:
            classes[lifted(person, node.levels)] += 1
        for person in everyone:
            fits[lifted(person, node.levels)] += 1
        poor = [
            cells
            for cells in classes
            if payout(said, information_loss(cells, dict(node.levels)), 1 / fits[cells]) <= 1e-9
        ]
        refused = sum(classes[cells] for cells in poor)
        wanted = len(poor) < len(classes) and refused <= math.floor(limit * len(table) + 1e-9)
        assert node.holds == wanted, node
        if node.holds:
            assert (node.suppressed, node.classes) == (refused, len(classes) - len(poor))
        assert bool(found.why(node.levels)) == bool(poor)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(people, min_size=4, max_size=14),
    st.lists(people, max_size=20),
    amounts,
    st.sampled_from([0.0, 0.4]),
)
def test_the_verifier_reads_the_same_from_what_is_published(
    table: list[dict[str, Any]], others: list[dict[str, Any]], said: tuple[float, ...], limit: float
) -> None:
    policy: dict[str, Any] = {
        "quasi": ["town", "age"],
        "hierarchy": HIERARCHY,
        "profitability": said,
        "population": pl.DataFrame([*table, *others]),
        "suppression_limit": limit,
        "method": "flash",
        "html": False,
        "accept": {"*": "made up"},
        "options": {"loss": "payout", "attacker": "journalist"},
    }
    try:
        release = mh.anonymize(pl.DataFrame(table), **policy)
    except Infeasible:
        return
    (promise,) = release.report["promises"]
    assert (promise["model"], promise["holds"]) == ("profitability-population", True)
    assert promise["reached"] > 0


def crowd() -> pl.DataFrame:
    rows = [("ankara", "20")] * 6 + [("izmir", "25")] * 3 + [("konya", "28")]
    return pl.DataFrame(rows, schema=["town", "age"], orient="row")


SAID: dict[str, Any] = {"quasi": ["town", "age"], "hierarchy": HIERARCHY, "method": "flash", "html": False}
SAID["accept"] = {"*": "made up"}


def test_a_release_says_and_its_audit_confirms_what_rows_earn(tmp_path: Path) -> None:
    """Six rows are not worth an attack; three would be and cost more than they earn; one likewise."""
    earning = {"profitability": "100,600,50,10", "suppression_limit": 0.5}
    release = mh.anonymize(crowd(), output=tmp_path / "r", **earning, **SAID)
    (promise,) = release.report["promises"]
    assert (promise["model"], promise["reached"], promise["holds"]) == ("profitability", 100, True)
    assert pl.DataFrame(release.table)["town"].to_list().count("*") == 4
    assert mh.audit(tmp_path / "r", hierarchy=HIERARCHY).holds
    with pytest.raises(InvalidParameter, match="hierarchy of 'town' must be given"):
        mh.audit(tmp_path / "r")
    judged = mh.audit(
        crowd(), quasi=["town", "age"], hierarchy=HIERARCHY, profitability=(100, 600, 50, 10)
    ).report["promises"][0]
    assert (judged["reached"], judged["violating_classes"], judged["violating_rows"]) == (-500, 2, 4)


@pytest.mark.filterwarnings("ignore:.*composition")
def test_a_journalist_looks_in_the_population(tmp_path: Path) -> None:
    everyone = pl.concat([crowd(), crowd(), pl.DataFrame({"town": ["konya"] * 4, "age": ["28"] * 4})])
    for promise, model in (
        ({"no_attack": (50, 10)}, "no-attack-population"),
        ({"profitability": (100, 600, 50, 10)}, "profitability-population"),
    ):
        folder = tmp_path / model
        release = mh.anonymize(crowd(), output=folder, population=everyone, **promise, **SAID)
        (told,) = release.report["promises"]
        assert told["model"] == model
        assert told["reached"] == (6 if model.startswith("no") else 100)
        assert set(pl.DataFrame(release.table)["town"]) == {"ankara", "izmir", "konya"}
        assert mh.audit(folder, population=everyone, hierarchy=HIERARCHY).holds
        with pytest.raises(InvalidParameter, match="population"):
            mh.audit(folder, hierarchy=HIERARCHY)
    alone = mh.audit(crowd(), quasi=["town", "age"], no_attack=(50, 10))
    assert not alone.holds, "a prosecutor knows who is in the table"


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"profitability": (100, 300, 50)}, "four numbers"),
        ({"profitability": "a,b,c,d"}, "four numbers"),
        ({"profitability": (0, 300, 50, 10)}, r"profitability\.benefit"),
        ({"profitability": (100, -1, 50, 10)}, r"profitability\.loss"),
        ({"profitability": (100, float("nan"), 50, 10)}, "profitability"),
        ({"hierarchy": {"town": HIERARCHY["town"]}}, "hierarchy of 'age'"),
        ({"method": "mondrian", "hierarchy": None}, "cuts"),
        ({"method": "mosaic"}, "cuts"),
        ({"local": True, "suppression_limit": 0.1}, "local does not go with"),
        ({"subject": "town", "quasi": ["age"]}, "subject does not go with"),
        ({"population": crowd(), "fraction": 0.5}, "one of the two"),
        ({"options": {"loss": "payout", "attacker": "journalist"}}, "say population too"),
    ],
)
def test_what_cannot_be_reckoned_is_refused(wrong: dict[str, Any], match: str) -> None:
    with pytest.raises(MahremError, match=match):
        mh.anonymize(crowd(), **{"profitability": (100, 300, 50, 10), **SAID, **wrong})


def test_the_smallest_classes_are_suppressed_until_the_rest_keeps_a_promise_about_all() -> None:
    found = mh.lattice(
        crowd(), quasi=["town", "age"], hierarchy=HIERARCHY, suppression_limit=0.1, sample_uniqueness=0.05
    )
    assert found.node((0, 0)).holds
    assert found.node((0, 0)).suppressed == 1
    strict = mh.lattice(
        crowd(), quasi=["town", "age"], hierarchy=HIERARCHY, suppression_limit=0.0, sample_uniqueness=0.05
    )
    assert not strict.node((0, 0)).holds
    average = mh.lattice(
        crowd(), quasi=["town", "age"], hierarchy=HIERARCHY, suppression_limit=0.4, average_risk=0.2
    )
    assert (average.node((0, 0)).suppressed, average.node((0, 0)).classes) == (4, 1)
