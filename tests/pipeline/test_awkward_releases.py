"""Configurations that once overclaimed, leaked or failed."""

from __future__ import annotations

import traceback
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.table import written_formats


def people(rows: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "zip": pl.Series(rng.integers(1, 99, rows)).cast(pl.String).str.zfill(5),
            "d": rng.choice(["flu", "gout", "hiv"], rows),
        }
    )


SAID = {"quasi": ["age", "zip"], "sensitive": "d", "rest": "insensitive", "k": 5, "html": False}


@pytest.mark.parametrize("name", ["=cmd()", "-x", "'=x", 'q"x', "row", "key", "code", "times", "ünal", "a,b"])
@pytest.mark.parametrize("format_", ["csv", "tsv", "parquet", "arrow"])
def test_a_release_with_odd_names_audits_as_it_was_made(tmp_path: Path, name: str, format_: str) -> None:
    for old in ("age", "d"):
        frame = people().rename({old: name})
        said = {
            **SAID,
            "quasi": [name if old == "age" else "age", "zip"],
            "sensitive": name if old == "d" else "d",
        }
        made = mh.anonymize(frame, l=2, format=format_, output=tmp_path / old, **said)
        found = mh.audit(tmp_path / old)
        for ours, theirs in zip(made.report["promises"], found.report["promises"], strict=True):
            assert ours["reached"] == theirs["reached"]


def test_a_column_named_like_half_a_pair_is_not_mistaken_for_one(tmp_path: Path) -> None:
    frame = people().with_columns(age_min=pl.int_range(pl.len()) % 5)
    mh.anonymize(frame, output=tmp_path / "r", **SAID)
    assert mh.audit(tmp_path / "r").holds
    with pytest.raises(InvalidParameter, match="age_min"):
        mh.anonymize(frame, cells="pairs", output=tmp_path / "s", **SAID)


def test_risk_is_counted_in_people_where_k_is() -> None:
    frame = pl.DataFrame({"age": np.arange(100) // 5, "p": [f"P{i // 5}" for i in range(100)]})
    release = mh.anonymize(frame, quasi="age", subject="p", rest="drop", k=4)
    reached = release.report["promises"][0]["reached"]
    assert release.report["risk"]["highest"] == pytest.approx(1 / reached)
    assert release.report["risk"]["before"]["highest"] == 1.0
    assert release.report["utility"]["c_avg"] < 2


def test_a_subject_cannot_be_published_as_a_pseudonym() -> None:
    with pytest.raises(InvalidParameter, match="pseudonym"):
        mh.anonymize(people(), subject="d", pseudonym={"d": b"0" * 32}, quasi="age", rest="drop", k=2)


def test_an_audit_of_a_release_says_that_it_counts_rows(tmp_path: Path) -> None:
    frame = people().with_columns(p=pl.int_range(pl.len()) // 2)
    mh.anonymize(frame, subject="p", output=tmp_path / "r", **SAID)
    assert any("rows, not people" in text for text in mh.audit(tmp_path / "r").report["warnings"])
    with_people = mh.audit(frame, quasi="age", subject="p", k=2)
    assert not with_people.report["warnings"]


@pytest.mark.filterwarnings("ignore:.*composition")  # the same people on purpose
def test_kinds_and_orders_of_sensitive_columns_survive_in_the_release(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = people(200).with_columns(d=pl.Series(rng.choice(["low", "mid", "high"], 200)))
    said = {**SAID, "order": {"d": ["low", "mid", "high"]}, "t": 0.3, "t_kind": "ordered"}
    made = mh.anonymize(frame, output=tmp_path / "r", **said)
    assert mh.audit(tmp_path / "r").report["promises"][1]["reached"] == made.report["promises"][1]["reached"]
    spelled = people(200).with_columns(d=pl.Series(rng.choice(["1", "1.0", "1.00"], 200)))
    mh.anonymize(spelled, output=tmp_path / "s", **{**SAID, "kind": {"d": "categorical"}, "l": 2})
    assert mh.audit(tmp_path / "s").holds


def test_presence_cannot_be_audited_in_silence_without_the_population(tmp_path: Path) -> None:
    everyone = people(200)
    said = {**SAID, "bounds": "exact", "kind": {"zip": "categorical"}, "delta_presence": (0.0, 0.9)}
    mh.anonymize(everyone[:80], population=everyone, output=tmp_path / "r", **said)
    with pytest.raises(InvalidParameter, match="population"):
        mh.audit(tmp_path / "r")
    assert mh.audit(tmp_path / "r", population=everyone).holds


@pytest.mark.parametrize("cells", ["text", "pairs", "midpoint"])
@pytest.mark.parametrize("format_", ["csv", "tsv", "parquet", "arrow"])
def test_suppressed_rows_show_nothing_in_any_format(tmp_path: Path, cells: str, format_: str) -> None:
    gone = pl.int_range(pl.len()) < 3
    frame = people().with_columns(
        age=pl.when(gone).then(None).otherwise("age"),
        n=pl.when(gone).then(-77).otherwise(5),
        note=pl.when(gone).then(pl.lit("Prof. X")).otherwise(pl.lit("-")),
    )
    said = {**SAID, "sensitive": ["d", "n"], "missing": "suppress", "cells": cells, "format": format_}
    said["accept"] = {"note": "those who stand out are suppressed"}
    release = mh.anonymize(frame, output=tmp_path / "r", **said)
    assert release.report["utility"]["suppressed"] == 3
    data = (tmp_path / "r" / f"data.{format_}").read_bytes()
    assert b"Prof. X" not in data
    assert b"-77" not in data
    assert mh.audit(tmp_path / "r").report["utility"]["suppressed"] == 3
    assert mh.audit(tmp_path / "r").holds


@pytest.mark.parametrize("format_", written_formats())
def test_open_ends_beside_suppressed_rows_are_published_in_every_format(tmp_path: Path, format_: str) -> None:
    # a format without infinite numbers writes open ends as text, which has no star where numbers are hidden
    frame = people().with_columns(age=pl.when(pl.int_range(pl.len()) > 3).then("age"))
    settings = {**SAID, "cells": "pairs", "missing": "suppress", "top": {"age": 45}}
    mh.anonymize(frame, format=format_, output=tmp_path / "r", **settings)
    audit = mh.audit(tmp_path / "r")
    assert audit.holds
    assert audit.report["utility"]["suppressed"] == 4
    large = frame.with_columns(age=pl.col("age").cast(pl.Float64) * 1e100)  # beyond SAS transport files
    mh.anonymize(large, format=format_, output=tmp_path / "s", **{**settings, "top": {}})
    assert mh.audit(tmp_path / "s").report["utility"]["suppressed"] == 4


@pytest.mark.filterwarnings("ignore:.*composition")  # the same people on purpose
@pytest.mark.parametrize("missing", ["drop", "suppress"])
def test_values_of_people_left_out_stay_in_no_dictionary(tmp_path: Path, missing: str) -> None:
    first = pl.int_range(pl.len()) == 0
    kinds = pl.Enum(["SECRETVALUE", "flu", "gout", "hiv"])
    frame = people().with_columns(
        age=pl.when(first).then(None).otherwise("age"),
        d=pl.when(first).then(pl.lit("SECRETVALUE")).otherwise("d").cast(kinds),
    )
    for format_ in ("parquet", "arrow", "csv"):
        mh.anonymize(frame, missing=missing, format=format_, output=tmp_path / format_, **SAID)
        assert b"SECRETVALUE" not in (tmp_path / format_ / f"data.{format_}").read_bytes()
    if missing == "drop":
        table = mh.anonymize(frame.to_pandas(), missing=missing, **SAID).table
        assert isinstance(table["d"].dtype, pd.CategoricalDtype)
        assert "SECRETVALUE" not in table["d"].cat.categories
        arrow = mh.anonymize(frame.to_arrow(), missing=missing, **SAID).table
        assert "SECRETVALUE" not in arrow.column("d").combine_chunks().dictionary.to_pylist()


def test_categories_of_ones_own_are_categories() -> None:
    frame = people()
    words = [name for name, kind in frame.schema.items() if kind == pl.String]
    plain, own = (
        mh.anonymize(frame.cast(dict.fromkeys(words, kind)), shuffle=False, **SAID)
        for kind in (pl.Categorical, pl.Categorical(pl.Categories.random()))
    )
    assert own.table.cast(pl.String).equals(plain.table.cast(pl.String))
    assert own.report["holds"]


def test_no_value_hides_in_a_chained_traceback(tmp_path: Path) -> None:
    (tmp_path / "everyone.csv").write_text("age,zip\nSECRETNAME,1\n")
    with pytest.raises(InvalidInput) as caught:
        mh.anonymize(
            people(), population=tmp_path / "everyone.csv", delta_presence=(0, 1), bounds="exact", **SAID
        )
    assert "SECRETNAME" not in "".join(traceback.format_exception(caught.value))


def test_sensitive_columns_are_verified_as_they_were_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = people(200).with_columns(
        cost=pl.Series(rng.choice(["1,5", "2,25", "3", "?", ""], 200)),
        sign=pl.Series(rng.choice(["-", "+", "++"], 200)),
    )
    frame.write_csv(tmp_path / "t.csv", separator=";")
    said = {**SAID, "sensitive": ["cost:t=0.4,t_kind=ordered", "sign:t=0.4,t_kind=ordered"], "decimal": ","}
    release = mh.anonymize(
        tmp_path / "t.csv",
        null="?",
        order={"sign": ["-", "+", "++"]},
        output=tmp_path / "r",
        beta=4.0,
        **said,
    )
    assert release.holds
    assert mh.audit(tmp_path / "r", null="?").holds


def test_a_database_gets_shuffled_and_verified_rows(tmp_path: Path) -> None:
    frame = people(500).with_columns(rid=pl.int_range(pl.len()))
    said = {**SAID, "accept": {"rid": "to find rows again"}}
    database = tmp_path / "x.duckdb"
    mh.anonymize(frame, output=tmp_path / "r", to=str(database), **said)
    with duckdb.connect(str(database), read_only=True) as connection:
        rows = [row for (row,) in connection.execute("select rid from anonymised").fetchall()]
    assert sorted(rows) == list(range(500))
    assert rows != sorted(rows)
    with pytest.raises(InvalidParameter):
        mh.anonymize(frame, output=tmp_path / "s", to=str(database), **said)
    assert not (tmp_path / "s").exists(), "nothing gets its name when the database refuses"


def test_only_a_star_hides_a_row_from_an_audit() -> None:
    numbers = pl.DataFrame({"age": [None, *[1] * 10], "d": [None, *["flu", "gout"] * 5]})
    assert mh.audit(numbers, quasi="age", sensitive="d", k=5).report["promises"][0]["reached"] == 1
    stars = pl.DataFrame({"age": ["*", *["1"] * 10], "d": ["hiv", *["flu", "gout"] * 5]})
    assert not mh.audit(stars, quasi="age", k=5).holds, "nobody said what that row shows"


def test_the_policy_of_a_release_can_be_used_again(tmp_path: Path) -> None:
    from mahrem.table import Hierarchy

    tree = Hierarchy.from_rows([("flu", "a", "*"), ("gout", "a", "*"), ("hiv", "b", "*")])
    said = {**SAID, "hierarchy": {"d": tree}, "t": 0.5, "t_kind": "hierarchical"}
    mh.anonymize(people(), output=tmp_path / "r", **said)
    again = mh.anonymize(people(), policy=tmp_path / "r" / "policy.toml", hierarchy={"d": tree}, html=False)
    assert again.holds
    assert mh.audit(tmp_path / "r", hierarchy={"d": tree}).holds


@pytest.mark.parametrize("key", sorted(mh.Policy.__dataclass_fields__))
@pytest.mark.parametrize("value", [5, -1.5, True, "x", ["a"], [1], {"a": 5}, {"a": {"b": 1}}, {"a": [1]}])
def test_a_policy_of_the_wrong_types_is_refused_by_name(key: str, value: object) -> None:
    try:
        said = str(mh.Policy.of({key: value}))
    except InvalidParameter as error:
        said = str(error)
    assert key in said
