"""One record changes no type, no spelling and no refusal for the others, whatever a table comes from."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from random import Random

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from mahrem.dp import Ledger, assert_dp
from mahrem.dp.queries import answer_query
from mahrem.errors import InvalidParameter, PrivacyWarning
from mahrem.table import Reading
from odd_neighbours import COLUMNS, MODELS, QUESTIONS, SOURCES, draw_pair, made, usual_record, verbs


@pytest.mark.parametrize("source", SOURCES)
def test_neighbours_from_every_source_are_told_apart_by_noise_only(source: str, tmp_path: Path) -> None:
    random, tried = Random(f"neighbours {source}"), 0
    for _ in range(12):
        pair = draw_pair(random)
        tables = [
            made(people, source, tmp_path / name) for name, people in (("1", pair.first), ("2", pair.second))
        ]
        if any(table is None for table in tables):
            continue
        told = verbs(pair.relation)
        for name in (*random.sample(QUESTIONS, 2), random.choice(MODELS)):
            assert_dp(told[name], *tables)
            tried += 1
    assert tried >= 6


def test_how_a_file_is_written_is_a_fact_of_its_ledger(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("ward;cost\n" + "1;2,5\n2;?\n" * 50, encoding="utf-8")
    facts = {"ward": {"categories": ["1", "2"]}, "cost": {"lower": 0, "upper": 5}}
    reading = Reading(decimal=",", null=("?",))
    ledger = Ledger.create(tmp_path / "ledger", path, epsilon=9, columns=facts, reading=reading)
    known = Ledger.open(tmp_path / "ledger").facts.reading
    assert known is not None
    assert (known.delimiter, known.encoding, known.decimal, known.null) == (";", "utf-8", ",", ("?",))
    # The same is meant by who does not say it again; who says something else is refused.
    assert answer_query(path, "sum(cost)", ledger=ledger, epsilon=4).value == pytest.approx(125, abs=60)
    for other in (Reading(delimiter=","), Reading(encoding="cp1254"), Reading(decimal=".")):
        with pytest.raises(InvalidParameter, match="contradicts the ledger"):
            answer_query(path, "sum(cost)", ledger=ledger, epsilon=1, reading=other)
    # One more record with another sign in it does not change what separates cells.
    path.write_text("ward;cost\n" + "1,1,1,1;2,5\n" * 400 + "1;2,5\n2;?\n" * 50, encoding="utf-8")
    with pytest.warns(PrivacyWarning, match="changed"):
        answer_query(path, "count() by ward", ledger=ledger, epsilon=1)


def test_the_same_rows_under_a_second_ledger_are_recognised_in_any_form(tmp_path: Path) -> None:
    people = pd.DataFrame([usual_record(Random(number)) for number in range(300)])
    people["cost"] += np.arange(300) / 8  # rows of one's own, as real ones are
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    first = Ledger.create(tmp_path / "first", path, epsilon=1, columns=COLUMNS)
    answer_query(path, "count()", ledger=first, epsilon=0.5)
    (tmp_path / "linked.csv").hardlink_to(path)
    shutil.copy(path, tmp_path / "copied.csv")
    people.to_parquet(tmp_path / "people.parquet")
    people.to_csv(tmp_path / "semicolons.csv", index=False, sep=";")
    same = [tmp_path / name for name in ("linked.csv", "copied.csv", "people.parquet", "semicolons.csv")]
    shuffled = people.sample(frac=1, random_state=1)[people.columns[::-1]]
    for number, source in enumerate([*same, people, pl.from_pandas(people), shuffled, people[:200]]):
        with pytest.warns(PrivacyWarning, match="have paid from another ledger"):
            Ledger.create(tmp_path / f"ledger {number}", source, epsilon=1)
    others = people.assign(cost=people["cost"] + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Ledger.create(tmp_path / "others", others, epsilon=1)


def test_a_database_that_cannot_add_up_by_itself_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT TIMESTAMP '2024-01-02 00:00:00' AS day FROM range(90)")
    ledger = Ledger.temporary(epsilon=9, columns={"day": {"categories": ["2024-01-01", "2024-01-02"]}})
    first, second = answer_query(path, "count() by day", ledger=ledger, epsilon=9).rows
    assert (first["value"], second["value"]) == (pytest.approx(0, abs=4), pytest.approx(90, abs=4))
