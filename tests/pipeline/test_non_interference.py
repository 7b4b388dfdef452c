"""What a release hides changes nothing beside its table: twins that publish the same say the same."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from zipfile import ZipFile, is_zipfile

import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mahrem as mh
from hidden_things import HIDDEN, Twins, draw_twins
from mahrem.errors import PrivacyWarning
from mahrem.pipeline import Explorer
from mahrem.table import Hierarchy
from twin_verbs import through_verbs
from twins import (
    applied,
    attacked,
    both_released,
    compared,
    data_of,
    difference,
    informed_apart,
    on_cluster,
    released,
    report_of,
    through_page,
    told,
)
from web_server import serving

pytestmark = pytest.mark.filterwarnings(f"ignore::{PrivacyWarning.__module__}.{PrivacyWarning.__name__}")
SLOW = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@contextmanager
def two_folders() -> Iterator[tuple[Path, Path]]:
    place = Path(tempfile.mkdtemp())
    try:
        yield place / "first", place / "second"
    finally:
        shutil.rmtree(place)


def compare_releases(twins: Twins, *, html: bool) -> str:
    """Release both; says whether they were refused, published other tables, or the same."""
    with two_folders() as folders:
        what, wrong = both_released(twins, folders, html=html)
        assert wrong is None, f"{twins.how}: {wrong}"
        return what


@SLOW
@given(random=st.randoms(use_true_random=False))
def test_twins_that_publish_the_same_table_say_the_same_beside_it(random: Random) -> None:
    twins = draw_twins(random)
    found = compare_releases(twins, html=False)  # fails where the same table has other things beside it
    assert found in {"same", "refused"} or not twins.publish_the_same


def test_their_pages_and_pictures_are_the_same_too() -> None:
    found = [compare_releases(draw_twins(Random(seed)), html=True) for seed in range(50)]
    assert found.count("same") >= 25


def test_most_twins_of_every_kind_do_publish_the_same() -> None:
    """A property of pairs that never happen would hold of anything."""
    seen: dict[str, list[str]] = {how: [] for how in HIDDEN}
    place = 0
    while min(map(len, seen.values())) < 6:
        twins = draw_twins(Random(place))
        place += 1
        if len(seen[twins.how]) < 6:
            seen[twins.how].append(compare_releases(twins, html=False))
    assert all(kinds.count("same") >= 2 for kinds in seen.values()), seen


def test_attacks_and_batches_of_twins_say_the_same() -> None:
    told_of: dict[str, int] = dict.fromkeys(("attack", "apply"), 0)
    for seed in range(20):
        twins = draw_twins(Random(f"attack-{seed}"))
        with two_folders() as (first, second):
            both = ((twins.first, first), (twins.second, second))
            if any(released(table, twins.settings, folder, html=False) for table, folder in both):
                continue
            if data_of(first) != data_of(second):
                continue
            figures = [attacked(table, folder, twins.settings) for table, folder in both]
            assert figures[0] == figures[1], f"{seed}: {twins.how}"
            if seed % 4 == 0:  # with a second release and a table of everybody
                assert informed_apart(twins, first, second) is None, f"{seed}: {twins.how}"
            told_of["attack"] += 1
            batches = [folder.with_name(f"batch-{folder.name}") for folder in (first, second)]
            refused = [applied(table, first, batch) for (table, _), batch in zip(both, batches, strict=True)]
            if any(refused) or data_of(batches[0]) != data_of(batches[1]):
                continue
            assert difference(*batches, twins.how) is None, f"{seed}: {twins.how}: {difference(*batches)}"
            told_of["apply"] += 1
    assert min(told_of.values()) >= 8, told_of


def people(rows: int = 60) -> pl.DataFrame:
    random = Random(1)
    return pl.DataFrame(
        {
            "name": [f"Person {place}" for place in range(rows)],
            "age": [random.randint(1, 99) for _ in range(rows)],
            "town": [random.choice("abc") for _ in range(rows)],
            "illness": [random.choice(["flu", "gout", "none"]) for _ in range(rows)],
        }
    )


ROLES = {"quasi": ["age", "town"], "sensitive": ["illness"], "identifier": ["name"], "k": 4, "seed": 0}


@pytest.mark.parametrize("oldest", [105, 119])
def test_no_figure_tells_who_is_beyond_a_top_code(tmp_path: Path, oldest: int) -> None:
    table = people().with_columns(
        age=pl.when(pl.col("age") == pl.col("age").max()).then(110).otherwise("age")
    )
    other = table.with_columns(age=pl.when(pl.col("age") == 110).then(oldest).otherwise("age"))
    for name, source in (("a", table), ("b", other)):
        mh.anonymize(source, output=tmp_path / name, top={"age": 70}, **ROLES)
    assert data_of(tmp_path / "a") == data_of(tmp_path / "b")
    assert told(tmp_path / "a") == told(tmp_path / "b")


def test_the_loss_is_over_what_is_published_and_gives_no_range_away(tmp_path: Path) -> None:
    income = [0.0, 10.0, 20.0, 500.0, 700.0]
    for name, richest in (("a", 98765.43), ("b", 96234.56)):
        table = pl.DataFrame({"income": [*income, richest]})
        mh.anonymize(table, output=tmp_path / name, quasi=["income"], k=3, html=False)
    assert data_of(tmp_path / "a") == data_of(tmp_path / "b")
    assert told(tmp_path / "a") == told(tmp_path / "b")
    low, high = 5000 / 100_000, 1.0  # [0, 5000] and [0, 100000], over what both span
    assert report_of(tmp_path / "a")["columns"]["income"]["gcp"] == pytest.approx((low + high) / 2)


@pytest.mark.parametrize("missing", ["drop", "suppress"])
def test_a_recipe_knows_nothing_of_people_it_does_not_show(tmp_path: Path, missing: str) -> None:
    table = pl.DataFrame({"a": [1] * 10 + [2] * 10 + [None], "s": ["flu", "cold"] * 10 + ["RAREDISEASE"]})
    tree = Hierarchy.from_rows([["flu", "lung"], ["cold", "lung"], ["RAREDISEASE", "brain"]])
    settings = {"quasi": ["a"], "sensitive": ["s"], "hierarchy": {"s": tree}, "k": 3, "l": 2}
    mh.anonymize(table, output=tmp_path / "r", missing=missing, html=False, **settings)
    for file in (tmp_path / "r").iterdir():
        assert b"RAREDISEASE" not in file.read_bytes()
        assert b"brain" not in file.read_bytes()


def parts_of(file: Path) -> list[bytes]:
    """Give the bytes of a file, and of what is packed into it."""
    if not is_zipfile(file):
        return [file.read_bytes()]
    with ZipFile(file) as packed:
        return [file.read_bytes(), *map(packed.read, packed.namelist())]


@pytest.mark.parametrize("form", ["parquet", "arrow", "xlsx", "sav", "dta"])
@pytest.mark.parametrize("kind", ["categories", "list"])
def test_no_file_keeps_the_words_of_people_it_does_not_show(tmp_path: Path, form: str, kind: str) -> None:
    """Dictionaries, labels of values and shared strings hold what is published, and a star for the rest."""
    hidden = pl.DataFrame({"name": ["Nobody"], "age": [None], "town": ["MARKTOWN"], "illness": ["MARKED"]})
    table = pl.concat([people(), hidden.cast(people().schema)])
    words = [*table["illness"].unique().sort(), "MARKNEVER"]
    words_kind = pl.Enum(words) if kind == "list" else pl.Categorical
    table = table.with_columns(pl.col("illness").cast(words_kind), pl.col("town").cast(pl.Categorical))
    for missing in ("suppress", "drop"):
        folder = tmp_path / missing
        release = mh.anonymize(table, output=folder, missing=missing, format=form, html=False, **ROLES)
        assert b"MARK" not in pickle.dumps(release.table)
        for file in folder.iterdir():
            assert not any(b"MARK" in part for part in parts_of(file)), file.name


def test_few_dropped_rows_are_not_counted(tmp_path: Path) -> None:
    table = people().with_columns(age=pl.when(pl.int_range(pl.len()) < 1).then(None).otherwise("age"))
    mh.anonymize(table, output=tmp_path / "r", missing="drop", **ROLES)
    report = report_of(tmp_path / "r")
    assert report["dropped"] is None
    assert report["rows_in"] is None
    assert report["missing"]["below"] == 4
    assert "Fewer than 4 rows were left out" in (tmp_path / "r" / "report.html").read_text()


def test_what_hangs_on_a_pandas_frame_stays_behind() -> None:
    frame = people().to_pandas().set_index("name").assign(**{"Jane Roe's notes": "none"})
    frame.attrs["ward"] = "of Jane Roe"
    frame.columns = pd.CategoricalIndex(frame.columns, name="wards of Jane Roe")
    release = mh.anonymize(frame, quasi=["age", "town"], sensitive=["illness"], rest="drop", k=4)
    assert list(release.table.index) == list(range(60))
    assert release.table.index.name is None
    assert release.table.attrs == {}
    assert release.table.columns.name is None
    assert "Person" not in release.table.to_string()
    assert b"Jane Roe" not in pickle.dumps(release.table)


@settings(SLOW, max_examples=25)
@given(random=st.randoms(use_true_random=False))
def test_batches_recoded_by_a_recipe_say_the_same_too(random: Random) -> None:
    table = people(80)
    with two_folders() as (first, second):
        recipe = first.parent / "recipe"
        mh.anonymize(table, output=recipe, html=False, **ROLES)
        batch = people(40).with_columns(
            age=pl.Series([random.choice([None, 3, 400, random.randint(1, 99)]) for _ in range(40)])
        )
        batch = batch.with_columns(age=pl.when(pl.int_range(40) >= 4).then(pl.lit(30)).otherwise("age"))
        twin = batch.with_columns(age=pl.when(pl.col("age") > 300).then(999).otherwise("age"))[::-1]
        html = random.random() < 0.3
        for source, folder in ((batch, first), (twin, second)):
            mh.apply(recipe, source, output=folder, html=html)
        if data_of(first) == data_of(second):
            assert difference(first, second) is None


VISITS = pl.DataFrame(
    {
        "who": [f"P{place}" for place in range(48)],
        "age": [20 + 10 * (place % 6) for place in range(48)],
        "illness": [("flu", "gout", "none")[place // 6 % 3] for place in range(48)],
    }
)
BY_PEOPLE: dict[str, Any] = {"quasi": "age", "sensitive": "illness", "subject": "who", "k": 3, "l": 2}


@settings(SLOW, max_examples=8)
@given(place=st.integers(0, 41), html=st.booleans())
def test_whose_rows_are_whose_is_told_in_crowds(place: int, html: bool) -> None:  # noqa: FBT001
    """Eight people of a class, or seven of whom one has two rows: nobody sees the column that says so."""
    other = VISITS.with_columns(
        who=pl.when(pl.int_range(48) == place).then(pl.lit(f"P{place + 6}")).otherwise("who")
    )
    with two_folders() as (first, second):
        for table, folder in ((VISITS, first), (other, second)):
            mh.anonymize(table, **BY_PEOPLE, method="flash", output=folder, html=html)
        assert data_of(first) == data_of(second)
        one, two = report_of(first), report_of(second)
        for name in ("promises", "utility", "verdict", "holds", "class_sizes", "warnings"):
            assert one[name] == two[name], name
        assert {**one["risk"], "before": 0} == {**two["risk"], "before": 0}
        assert one["promises"][0]["reached"] == 6  # eight, or seven, in multiples of k
        if not html:
            assert difference(first, second) is None
        for finding in two["red_team"]["findings"] if html else ():
            assert finding["trials"] % 3 == 0


def test_a_try_and_a_comparison_tell_whose_rows_are_whose_in_crowds_too() -> None:
    other = VISITS.with_columns(who=pl.when(pl.int_range(48) == 0).then(pl.lit("P6")).otherwise("who"))
    tries = [Explorer(table).attempt(**BY_PEOPLE, method="flash").as_dict() for table in (VISITS, other)]
    assert {**tries[0], "seconds": 0} == {**tries[1], "seconds": 0}
    sweep: dict[str, Any] = {key: value for key, value in BY_PEOPLE.items() if key != "k"}
    rows = [
        [{**row, "seconds": 0} for row in mh.compare(table, methods=["flash"], ks=[3], **sweep).rows]
        for table in (VISITS, other)
    ]
    assert rows[0] == rows[1]


def test_a_comparison_of_methods_says_the_same_of_twins() -> None:
    found = [compared(draw_twins(Random(f"compare-{seed}"))) for seed in range(24)]
    assert [apart for _, apart in found if apart] == []
    assert [what for what, _ in found].count("same") >= 8


def test_other_verbs_say_the_same_of_twins() -> None:
    """Tries of the explorer, hidden cells, lattices, risks, looks, warnings and refusals."""
    found = [through_verbs(draw_twins(Random(f"verbs-{seed}"))) for seed in range(10)]
    assert [apart for _, apart in found if apart] == []
    assert [what for what, _ in found].count("same") >= 7


def test_the_page_says_the_same_of_twins(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        found = [through_page(draw_twins(Random(f"page-{seed}")), server) for seed in range(4)]
    assert [apart for _, apart in found if apart] == []
    assert "same" in {what for what, _ in found}


def drawn_of(how: str) -> Twins:
    """Draw until something of a kind is hidden."""
    drawn = (draw_twins(Random(f"spark-{seed}")) for seed in count())
    return next(twins for twins in drawn if twins.how == how)


def test_a_cluster_says_the_same_of_twins(spark_session: Any) -> None:
    """What lies beyond a declared end, in columns and rows that show nothing, has no say in the table either.

    Numbers stay on workers, text is read by the driver: ends must hold on both ways.
    """
    beyond = drawn_of("beyond")
    first, second = (
        table.with_columns(pl.col("age").cast(pl.String)) for table in (beyond.first, beyond.second)
    )
    pairs = {
        "numbers": beyond,
        "text": replace(beyond, first=first, second=second),
        "silent": drawn_of("silent"),
        "suppressed": drawn_of("suppressed"),
    }
    found = {name: on_cluster(twins, spark_session) for name, twins in pairs.items()}
    assert found == dict.fromkeys(pairs, ("same", None))


def test_a_figure_that_nobody_marked_does_not_reach_a_report() -> None:
    from mahrem.disclosed import Count, Why
    from mahrem.report import Report, ReportColumn

    with pytest.raises(TypeError, match="does not say why"):
        ReportColumn(gcp=0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"columns\.age\.mean does not say why"):
        Report(columns={"age": {"mean": 41.3}})  # type: ignore[dict-item]
    assert Report(rows=Count(3, Why.PUBLISHED)).as_dict()["rows"] == 3


CODES = ("06100", "06110", "06530", "34000", "34710")


@pytest.mark.parametrize("method", ["mondrian", "mdav"])
def test_letters_that_are_never_shown_change_nothing(tmp_path: Path, method: str) -> None:
    """Only the first two letters of a code may be shown: no figure and no picture knows the others."""
    random = Random(5)
    first = people().with_columns(zip=pl.Series([random.choice(CODES) for _ in range(60)]))
    others = [f"{code[:2]}{random.randint(0, 999):03d}" for code in first["zip"]]
    told_of = {
        **ROLES,
        "quasi": ["age", "zip"],
        "rest": "drop",
        "kind": {"zip": "code"},
        "prefix": {"zip": 2},
    }
    for name, table in (("a", first), ("b", first.with_columns(zip=pl.Series(others)))):
        mh.anonymize(table, output=tmp_path / name, method=method, **told_of)
    if method == "mdav":  # cuts may fall between letters that are not shown, and give other classes
        assert data_of(tmp_path / "a") == data_of(tmp_path / "b")
        assert difference(tmp_path / "a", tmp_path / "b") is None
    for file in (tmp_path / "a").iterdir():
        assert not any(code in file.read_text() for code in CODES), file.name


def test_what_people_are_called_changes_nothing(tmp_path: Path) -> None:
    random = Random(8)
    calls = [f"Z{place:03d}" for place in random.sample(range(999), 48)]
    visits = pl.concat([VISITS, VISITS[:20].with_columns(age=pl.col("age") + 3)])
    other = visits.with_columns(who=pl.col("who").replace(dict(zip(VISITS["who"], calls, strict=True))))
    for name, table in (("a", visits), ("b", other)):
        mh.anonymize(table, output=tmp_path / name, method="mdav", seed=0, **BY_PEOPLE)
    assert data_of(tmp_path / "a") == data_of(tmp_path / "b")
    assert difference(tmp_path / "a", tmp_path / "b") is None


def test_a_column_that_shows_nothing_changes_nothing_beside_it(tmp_path: Path) -> None:
    """It may have a say in who shares a class; where it had none, no figure tells of its values."""
    first = people(8).with_columns(age=pl.int_range(8) // 4, town=pl.lit("a"))
    alone = first.with_columns(town=pl.when(pl.int_range(8) % 4 == 3).then(pl.lit("b")).otherwise("town"))
    for name, table in (("a", first), ("b", alone)):
        mh.anonymize(table, output=tmp_path / name, suppress=["town"], **ROLES)
    assert data_of(tmp_path / "a") == data_of(tmp_path / "b")
    assert difference(tmp_path / "a", tmp_path / "b") is None
