"""Promises to people: several rows of one person never make them easier to keep."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from from_disk import from_disk
from mahrem.errors import Infeasible, InvalidParameter, PrivacyWarning
from mahrem.partition import METHODS

EVERYBODY_HAS_IT = pl.DataFrame(
    {
        "who": ["A", "B", "C", "D", "D", "E", "F", "G"],
        "age": [1, 1, 1, 1, 1, 2, 2, 2],
        "ill": ["hiv"] * 4 + ["flu", "flu", "cold", "ms"],
    }
)
ROLES: dict[str, Any] = {"quasi": "age", "sensitive": "ill", "subject": "who"}
PROMISES: list[dict[str, Any]] = [
    {"l": 2},
    {"l": 1.5, "l_kind": "entropy"},
    {"l": 2, "l_kind": "recursive", "c": 2.0},
    {"alpha": 0.7},
    {"t": 0.5},
    {"t": 0.5, "t_kind": "ordered"},
    {"t": 0.5, "t_kind": "kl"},
    {"beta": 1.0},
    {"beta": 1.0, "beta_kind": "enhanced"},
    {"delta_disclosure": 1.5},
]
QUICK = [name for name, entry in METHODS.items() if entry.rows_a_second > 5000]


def visits(people: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 4, people)
    who = np.repeat(np.arange(people), rows)
    ill = np.array(["hiv", "flu", "cold", "ms", "gout"])[rng.integers(0, 5, len(who))]
    age = rng.integers(20, 60, people)[who] + rng.integers(0, 2, len(who))
    return pl.DataFrame({"who": who, "age": age, "sex": (who % 2).astype(str), "ill": ill})


def values_by_class(
    release: pl.DataFrame, source: pl.DataFrame, quasi: list[str]
) -> list[dict[Any, set[str]]]:
    """Say what everybody shows in each class: slow and obvious."""
    found: defaultdict[Any, defaultdict[Any, set[str]]] = defaultdict(lambda: defaultdict(set))
    for cells, who, ill in zip(release.select(quasi).rows(), source["who"], source["ill"], strict=True):
        if set(cells) != {"*"}:
            found[cells][who].add(ill)
    return [dict(people) for people in found.values()]


def test_a_further_row_of_one_person_does_not_make_a_class_diverse() -> None:
    release = mh.anonymize(EVERYBODY_HAS_IT, **ROLES, k=3, l=2, html=False)
    assert release.table["age"].n_unique() == 1  # coarsened: of the first class everybody has hiv
    with pytest.raises(Infeasible, match="one row for each person"):
        mh.anonymize(EVERYBODY_HAS_IT.head(5), **ROLES, k=3, l=2)
    found = mh.audit(EVERYBODY_HAS_IT, **ROLES, k=3, l=2)
    assert not found.holds
    assert found.report["promises"][1]["reached"] == 1


@pytest.mark.parametrize("method", QUICK)
def test_every_method_keeps_promises_to_people(method: str) -> None:
    source = visits(150, seed=METHODS[method].full_domain)
    release = mh.anonymize(
        source, **{**ROLES, "quasi": ["age", "sex"]}, k=4, l=2, alpha=0.8, method=method, html=False, seed=3
    )
    classes = values_by_class(release.table, source, ["age", "sex"])
    assert classes
    for people in classes:
        assert len(people) >= 4
        shown = Counter(ill for values in people.values() for ill in values)
        assert max(shown.values()) <= 0.8 * len(people)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: "-".join(map(str, promise.values())))
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(1, 2), st.integers(1, 4)), min_size=3, max_size=9),
    which=st.integers(0, 8),
    ill=st.integers(1, 4),
)
@settings(max_examples=40, deadline=None)
def test_a_further_row_of_a_person_never_turns_an_audit(
    promise: dict[str, Any], rows: list[tuple[int, int, int]], which: int, ill: int
) -> None:
    who, age, own = rows[which % len(rows)]

    def holds(table: list[tuple[int, int, int]]) -> bool:
        frame = pl.DataFrame(table, schema=["who", "age", "ill"], orient="row")
        return mh.audit(frame, **ROLES, k=1, **promise).holds

    before = holds(rows)
    assert holds([*rows, (who, age, own)]) == before
    if not before:
        assert not holds([*rows, (who, age, ill)])


def test_one_row_for_each_person_changes_nothing() -> None:
    source = visits(200, seed=5).unique("who", maintain_order=True)
    said: dict[str, Any] = {"quasi": "age", "sensitive": "ill", "k": 5, "l": 2, "t": 0.5, "html": False}
    by_rows = mh.anonymize(source.drop("who"), rest="drop", **said)
    by_people = mh.anonymize(source, rest="drop", subject="who", **said)
    assert by_rows.table["age"].to_list() == by_people.table["age"].to_list()
    for rows, people in zip(by_rows.report["promises"], by_people.report["promises"], strict=True):
        told = rows["reached"] // 5 * 5 if rows["model"] == "k-anonymity" else rows["wanted"]
        assert people == {**rows, "reached": told}  # nobody sees whose rows are whose: in crowds


def test_the_red_team_counts_people() -> None:
    found = mh.attack(EVERYBODY_HAS_IT, **ROLES)
    (homogeneity,) = (finding for finding in found.findings if finding.attack == "homogeneity")
    assert (homogeneity.successes, homogeneity.trials) == (4, 7)
    in_rows = mh.attack(EVERYBODY_HAS_IT.drop("who"), **ROLES)
    assert any("rows" in warning for warning in in_rows.report["warnings"])
    (blind,) = (finding for finding in in_rows.findings if finding.attack == "homogeneity")
    assert blind.successes == 0  # whoever sees rows alone takes the class for a diverse one


KEY = b"k" * 32


def test_tied_rows_give_the_risk_of_whole_trajectories(tmp_path: Path) -> None:
    source = visits(60, seed=1)
    said: dict[str, Any] = {"quasi": "age", "sensitive": "ill", "rest": "drop", "k": 3}
    with pytest.warns(PrivacyWarning, match="trajectory_k"):
        tied = mh.anonymize(source, **said, pseudonym={"who": KEY}, output=tmp_path / "tied")
    trajectories: defaultdict[Any, list[str]] = defaultdict(list)
    for who, age in zip(source["who"], tied.table["age"], strict=True):
        trajectories[who].append(age)
    fewest = min(Counter(tuple(sorted(cells)) for cells in trajectories.values()).values())
    assert tied.report["risk"]["highest"] == 1 / fewest
    assert fewest < 3
    audited = mh.audit(tmp_path / "tied").report
    for report in (tied.report, audited):
        assert report["verdict"] == "holds-but"
        assert any(doubt["code"] == "doubt.trajectories" for doubt in report["doubts"])
    assert audited["risk"]["highest"] == 1 / fewest
    alone = mh.anonymize(source, **said)
    assert alone.report["risk"]["highest"] <= 1 / 3


def test_whoever_leaves_names_of_people_out_hears_that_rows_are_counted() -> None:
    each = pl.DataFrame({"age": [20 + n % 30 for n in range(120)], "who": [f"P{n:04d}" for n in range(120)]})
    several = pl.concat([each, each, each.head(60)])
    said: dict[str, Any] = {"quasi": "age", "k": 3, "html": False}
    with pytest.warns(PrivacyWarning, match=r"column='who' names people who have 2.5 rows.*subject='who'"):
        mh.anonymize(several, **said, identifier="who")
    mh.anonymize(several, **said, subject="who")  # counts people: nothing to warn of
    mh.anonymize(each, **said, identifier="who")


@pytest.mark.parametrize("subject", [None, "who"])
def test_so_many_people_share_every_trajectory(tmp_path: Path, subject: str | None) -> None:
    source = visits(60, seed=2)
    said: dict[str, Any] = {"quasi": "age", "sensitive": "ill", "rest": "drop", "k": 3, "l": 2}
    release = mh.anonymize(
        source, **said, pseudonym={"who": KEY}, trajectory_k=4, subject=subject, output=tmp_path / "tied"
    )
    shown: defaultdict[Any, list[str]] = defaultdict(list)
    values: defaultdict[Any, set[str]] = defaultdict(set)
    for who, age, ill in zip(source["who"], release.table["age"], source["ill"], strict=True):
        shown[who].append(age)
        values[who].add(ill)
    alike: defaultdict[Any, list[int]] = defaultdict(list)
    for who, cells in shown.items():
        alike[tuple(sorted(cells))].append(who)
    assert min(map(len, alike.values())) >= 4
    for people in alike.values():  # and no value is everybody's
        assert not set.intersection(*(values[who] for who in people))
    audited = mh.audit(tmp_path / "tied")
    assert audited.holds
    assert audited.report["promises"][-1]["model"] == "trajectory-k-anonymity"
    assert audited.report["promises"][-1]["reached"] == min(map(len, alike.values()))
    by_hand = mh.audit(release.table, quasi="age", sensitive="ill", subject="who", trajectory_k=1000)
    assert not by_hand.holds


def test_a_later_batch_keeps_trajectories_or_is_refused(tmp_path: Path) -> None:
    said: dict[str, Any] = {"quasi": "age", "sensitive": "ill", "rest": "drop", "k": 3, "l": 2}
    mh.anonymize(
        visits(300, seed=1), **said, pseudonym={"who": KEY}, trajectory_k=3, output=tmp_path / "first"
    )
    batch = visits(300, seed=1)
    untied = mh.apply(tmp_path / "first", batch)
    assert "who" not in untied.table.columns  # without the key no row is tied to another
    tied = mh.apply(tmp_path / "first", batch, pseudonym={"who": KEY})
    assert tied.report["promises"][-1]["holds"]
    alone = pl.concat([batch, batch.head(1).sample(40, with_replacement=True)])  # nobody has so many rows
    with pytest.raises(Infeasible, match="trajectory"):
        mh.apply(tmp_path / "first", alone, pseudonym={"who": KEY})


def test_a_trajectory_that_cannot_be_shared_is_refused() -> None:
    rows = [
        ("a", 1),
        *(("b", 1) for _ in range(3)),
        *(("c", 1) for _ in range(2)),
    ]  # no two have as many rows
    source = pl.DataFrame(rows, schema=["who", "age"], orient="row")
    with pytest.raises(Infeasible, match="several rows"):
        mh.anonymize(source, quasi="age", k=2, pseudonym={"who": KEY}, trajectory_k=2)
    with pytest.raises(InvalidParameter, match="tied together"):
        mh.anonymize(source, quasi="age", rest="drop", k=2, trajectory_k=2)
    with pytest.raises(InvalidParameter, match="tied together"):
        mh.audit(source, quasi="age", k=2, trajectory_k=2)


WRITTEN = (str.upper, str.title, "  {} ".format, "\u200b{}".format, lambda name: name.replace(" ", "\u00a0"))


@pytest.mark.filterwarnings("ignore::mahrem.errors.PrivacyWarning")
@settings(max_examples=10, deadline=None)
@given(ways=st.lists(st.integers(0, len(WRITTEN) - 1), min_size=60, max_size=60))
def test_a_person_is_one_however_the_name_is_written(
    tmp_path_factory: pytest.TempPathFactory, ways: list[int]
) -> None:
    """In memory, from disk and in an audit people are counted by their names as a reader sees them."""
    folder = tmp_path_factory.mktemp("people")
    plain = [f"ann \u00f6zil {'abcdefghij'[row % 10]}" for row in range(60)]
    frame = pl.DataFrame({"name": plain, "age": [20 + row % 6 for row in range(60)]})
    other = frame.with_columns(
        name=pl.Series([WRITTEN[way](name) for way, name in zip(ways, plain, strict=True)])
    )
    said: dict[str, Any] = {"quasi": ["age"], "subject": "name", "k": 6, "minimality_safe": False}
    tables = []
    for number, table in enumerate((frame, other)):
        source = folder / f"{number}.parquet"
        table.write_parquet(source)
        audited = mh.audit(table, quasi=["age"], subject="name", k=4).report["promises"]
        whole = mh.anonymize(table, html=False, **said)
        parts = from_disk(source, folder / f"parts-{number}", 20, **said)
        tables.append((audited, whole.table.rows(), parts.table.collect().rows()))
    assert tables[0] == tables[1]
