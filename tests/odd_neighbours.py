"""Tables that differ in one record, chosen to change what others infer from a column, from every source.

Whoever makes a frame, a CSV or a spreadsheet infers kinds from all rows; one record then changes the type,
the spelling or the dates of everybody's cells. A pair is made the way people make such tables, by pandas,
polars, Arrow and DuckDB, and every private verb must tell the two apart by noise only.
"""

from __future__ import annotations

import datetime as dt
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from mahrem.dp import Ledger
from mahrem.dp.queries import answer_query

Record = dict[str, Any]
FIRST = dt.date(2024, 1, 1)
DAYS = tuple(str(FIRST + dt.timedelta(days=place)) for place in range(4))
COLUMNS: Mapping[str, Any] = {
    "ward": {"categories": ["1", "2", "3"]},
    "cost": {"lower": 0, "upper": 1000},
    "stay": {"lower": 0, "upper": 30, "missing": 5},
    "admitted": {"categories": list(DAYS)},
    "smoker": {"categories": ["true", "false"]},
    "group": {"categories": ["a", "b", "it's"]},
}


def usual_record(random: Random) -> Record:
    """Give a record as most are."""
    return {
        "ward": random.choice([1, 2, 3]),
        "cost": random.choice([0.5, 12.0, 99.25, 730.0]),
        "stay": random.randrange(31),
        "admitted": FIRST + dt.timedelta(days=random.randrange(4)),
        "smoker": random.random() < 0.5,
        "group": random.choice(["a", "b", "it's"]),
    }


# Not every mixture: Arrow turns numbers beside a day into days, before anybody sees the table.
ODD: Mapping[str, tuple[object, ...]] = {
    "ward": (
        None,
        math.nan,
        2.5,
        "x",
        "3",
        "3.0",
        " 3",
        10**30,
        True,
        -0.0,
        np.int8(3),
        [1, 2],
        Decimal("3.0"),
        Decimal("sNaN"),
        Decimal("1" * 45),
        Fraction(10**400),
        "\ud800",
        object(),
    ),
    "cost": (
        None,
        math.nan,
        math.inf,
        -math.inf,
        "much",
        "1.234,5",
        "",
        Decimal("1.10"),
        10**400,
        5e-324,
        True,
        Decimal("1e999999"),
        Decimal("2" * 45),
        dt.timedelta(1),
    ),
    "stay": (None, math.nan, 7.5, "7", "7 days", "nan", 1e308, b"7", (7,)),
    "admitted": (
        None,
        "unknown",
        "2024-01-02",
        "02.01.2024",
        dt.datetime(2024, 1, 2),  # noqa: DTZ001 - as spreadsheets have them
        dt.datetime(2024, 1, 2, 13, 5),  # noqa: DTZ001 - the same
        dt.datetime(2024, 1, 2, 13, 5, tzinfo=dt.UTC),
        pd.NaT,
        45000,
        math.nan,
    ),
    "smoker": (None, "yes", 1, 0.0, math.nan, "True", "FALSE"),
    "group": (
        None,
        3,
        2.5,
        "",
        "  ",
        "x" * 5000,
        "a;b,c\t|",
        'say "a"',
        "two\nlines",
        "ü€😀",
        "\x00",
        dt.date(2024, 1, 1),
    ),
}


@dataclass(frozen=True)
class OddPair:
    """Two tables one record apart, and what the record does."""

    what: str
    first: list[Record]
    second: list[Record]
    relation: str


def draw_pair(random: Random) -> OddPair:
    """Draw a table and its neighbour: the odd record is added, or takes the place of a usual one."""
    people = [usual_record(random) for _ in range(random.choice([1, 3, 8, 40]))]
    odd = usual_record(random)
    column = random.choice([*ODD, "all", "none"])
    for name in ODD if column == "all" else [column] if column in ODD else []:
        odd[name] = random.choice(ODD[name])
    if column == "none":
        odd = dict.fromkeys(odd)
    place = random.randrange(len(people) + 1)
    with_odd = [*people[:place], odd, *people[place:]]
    if random.random() < 0.5:
        return OddPair(column, people, with_odd, "add-remove")
    instead = [*people[:place], usual_record(random), *people[place:]]
    return OddPair(column, instead, with_odd, "replace")


def _pandas(people: list[Record], _: Path) -> object:
    return pd.DataFrame(people)


def _pandas_tidied(people: list[Record], _: Path) -> object:
    return pd.DataFrame(people).convert_dtypes()


def _pandas_categories(people: list[Record], _: Path) -> object:
    frame = pd.DataFrame(people)
    return frame.astype({"ward": "category", "group": "category", "smoker": "category"})


def _polars(people: list[Record], _: Path) -> object:
    # By columns: from rows, polars turns days beside a NaN into numbers before anybody sees them.
    return pl.DataFrame({name: [person[name] for person in people] for name in people[0]})


def _polars_objects(people: list[Record], _: Path) -> object:
    return pl.DataFrame(
        {name: pl.Series([person[name] for person in people], dtype=pl.Object) for name in people[0]}
    )


def _arrow(people: list[Record], _: Path) -> object:
    return pa.Table.from_pandas(pd.DataFrame(people))


def _csv(people: list[Record], folder: Path) -> object:
    pd.DataFrame(people).to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def _semicolons(people: list[Record], folder: Path) -> object:
    pd.DataFrame(people).to_csv(folder / "semicolons.csv", index=False, sep=";")
    return folder / "semicolons.csv"


def _csv_read_by_pandas(people: list[Record], folder: Path) -> object:
    return pd.read_csv(_csv(people, folder))  # type: ignore[arg-type]


def _csv_read_by_duckdb(people: list[Record], folder: Path) -> object:
    relation = duckdb.read_csv(str(_csv(people, folder)))
    relation.to_arrow_table()  # it guesses kinds from the first rows, and may fail on its own guess
    return relation


def _parquet(people: list[Record], folder: Path) -> object:
    pd.DataFrame(people).to_parquet(folder / "people.parquet")
    return folder / "people.parquet"


def _xlsx(people: list[Record], folder: Path) -> object:
    held = BytesIO()  # a file would stay open where a cell cannot be written
    with pd.ExcelWriter(held, engine="xlsxwriter", engine_kwargs={"options": {"in_memory": True}}) as writer:
        pd.DataFrame(people).to_excel(writer, index=False)
    (folder / "people.xlsx").write_bytes(held.getvalue())
    return folder / "people.xlsx"


def _duckdb(people: list[Record], folder: Path) -> object:
    path = folder / "people.duckdb"
    path.unlink(missing_ok=True)
    frame = pd.DataFrame(people)  # noqa: F841 - DuckDB finds it by its name
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    return path


SOURCES: Mapping[str, Callable[[list[Record], Path], object]] = {
    "pandas": _pandas,
    "pandas, tidied": _pandas_tidied,
    "pandas, categories": _pandas_categories,
    "polars": _polars,
    "polars, objects": _polars_objects,
    "Arrow": _arrow,
    "CSV": _csv,
    "CSV with semicolons": _semicolons,
    "CSV read by pandas": _csv_read_by_pandas,
    "CSV read by DuckDB": _csv_read_by_duckdb,
    "Parquet by pandas": _parquet,
    "XLSX": _xlsx,
    "DuckDB": _duckdb,
}


def made(people: list[Record], source: str, folder: Path) -> object | None:
    """Make a table as that source does; None where its own library cannot write such rows."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return SOURCES[source](people, folder)
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001 - nobody has such a table
        return None


QUESTIONS = (
    "count()",
    "count() where ward = '3'",
    "count() where ward != '2' and cost >= 12",
    "count() where ward = 3",
    "count() where admitted = '2024-01-02'",
    "count() where admitted >= '2024-01-02'",
    "count() where smoker = 'true'",
    "count() where group in ('a', 'it''s')",
    "count() by ward",
    "count() by admitted",
    "histogram(smoker)",
    "sum(cost)",
    "sum(stay) by group",
    "mean(cost)",
    "mean(stay) by ward",
    "variance(cost)",
    "median(stay)",
    "quantile(cost, 0.1, 0.9)",
    "histogram(stay, 5) by smoker",
    "bounds(cost)",
)


def asks(question: str, relation: str) -> Callable[[object], object]:
    """Give a pipeline that asks one question of a table."""

    def ask(table: object) -> object:
        ledger = Ledger.temporary(epsilon=3, columns=COLUMNS, relation=relation)
        return answer_query(table, question, ledger=ledger, epsilon=1.0).rows

    return ask


def learns(model: str, relation: str) -> Callable[[object], object]:
    """Give a pipeline that learns from a table: coefficients, or a table made up after it."""

    def learn(table: object) -> object:
        from mahrem.learning.private import FunctionalLinear, FunctionalLogistic
        from mahrem.learning.synthesis import Marginals, SyntheticSchema

        book = Ledger.temporary(epsilon=3, delta=1e-6, columns=COLUMNS, relation=relation, rows=40)
        if model == "synthesis":
            facts = {name: known for name, known in COLUMNS.items() if name != "admitted"}
            book = Ledger.temporary(epsilon=3, delta=1e-6, columns=facts, relation=relation, rows=4000)
            days = {"admitted": (DAYS[0], DAYS[-1])}
            schema = SyntheticSchema(dates=days, missing=("ward", "admitted", "group"))
            fitted = Marginals(epsilon=3, delta=1e-6, schema=schema).fit(table, ledger=book)
            return fitted.sample(30, seed=1)
        linear = FunctionalLinear(epsilon=1, delta=1e-6, target="cost", features=["stay", "ward", "admitted"])
        yes_or_no = FunctionalLogistic(epsilon=1, delta=1e-6, target="smoker", features=["cost", "group"])
        return (linear if model == "linear" else yes_or_no).fit(table, ledger=book).coef_

    return learn


MODELS = ("linear", "logistic", "synthesis")


def verbs(relation: str) -> dict[str, Callable[[object], object]]:
    """Give every private verb by its name."""
    return {
        **{question: asks(question, relation) for question in QUESTIONS},
        **{model: learns(model, relation) for model in MODELS},
    }
