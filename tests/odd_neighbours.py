"""Tables that differ in one record, chosen to change what others infer from a column, from every source.

Whoever makes a frame, a CSV or a spreadsheet infers kinds from all rows; one record then changes the type,
the spelling or the dates of everybody's cells. A pair is made the way people make such tables, by pandas,
polars, Arrow and DuckDB, and every private verb must tell the two apart by noise only.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from mahrem.dp import Ledger
from mahrem.dp.queries import answer_query
from mahrem.learning.synthesis import SyntheticSchema, make_synthesiser
from mahrem.table import Reading
from odd_cells import ODD_CELLS
from odd_held import held
from odd_sources import SOURCES, Record, Told, made

__all__ = ["SOURCES", "made"]

FIRST = dt.date(2024, 1, 1)
DAYS = tuple(str(FIRST + dt.timedelta(days=place)) for place in range(4))
COLUMNS: Mapping[str, Any] = {
    "ward": {"categories": ["1", "2", "3"]},
    "cost": {"lower": 0, "upper": 1000},
    "stay": {"lower": 0, "upper": 30, "missing": 5},
    "admitted": {"categories": list(DAYS)},
    "smoker": {"categories": ["true", "false"]},
    "group": {"categories": ["a", "b", "it's"]},
    "hour": {"categories": ["08:00:00", "12:30:00", "23:59:59"]},
}
HOURS = (dt.time(8), dt.time(12, 30), dt.time(23, 59, 59))


def usual_record(random: Random) -> Record:
    """Give a record as most are."""
    return {
        "ward": random.choice([1, 2, 3]),
        "cost": random.choice([0.5, 12.0, 99.25, 730.0]),
        "stay": random.randrange(31),
        "admitted": FIRST + dt.timedelta(days=random.randrange(4)),
        "smoker": random.random() < 0.5,
        "group": random.choice(["a", "b", "it's"]),
        "hour": random.choice(HOURS),
        "note": random.choice(["", "seen twice", "to call"]),
        "who": random.randrange(1, 9),
    }


# How a table may hold what most records say: libraries infer other kinds from each of these.
FORMS: Mapping[str, tuple[Callable[[Any], object], ...]] = {
    "ward": (str, float, np.int8, Decimal, lambda ward: Decimal(f"{ward}.00"), lambda ward: f"{ward}.0"),
    "cost": (str, Decimal, np.float32, lambda cost: Decimal(f"{cost:.2f}"), lambda cost: f"{cost:.3f}"),
    "stay": (str, float, np.uint8, Decimal, lambda stay: f" {stay}"),
    "admitted": (
        str,
        pd.Timestamp,
        np.datetime64,
        lambda day: dt.datetime(day.year, day.month, day.day),  # noqa: DTZ001 - as spreadsheets have them
        lambda day: pd.Timestamp(day, tz="UTC"),
        lambda day: f"{day}T00:00:00",
        lambda day: f"{day} 00:00:00",
    ),
    "smoker": (str, int, np.bool_, lambda smokes: str(smokes).lower(), float),
    "group": (np.str_,),
    "hour": (
        str,
        lambda hour: hour.isoformat("minutes"),
        lambda hour: dt.datetime.combine(FIRST, hour) - dt.datetime.combine(FIRST, dt.time()),
    ),
    "who": (str, float, Decimal),
}


@dataclass(frozen=True)
class OddPair:
    """Two tables one record apart, and what the record does."""

    what: str
    first: list[Record]
    second: list[Record]
    relation: str


def draw_pair(random: Random) -> OddPair:
    """Draw a table and its neighbour: the odd record is added, or takes the place of a usual one.

    What is usual comes in one of several forms; now and then a whole column is odd but for one record.
    """
    write = _writer(random)
    people = [write(usual_record(random)) for _ in range(random.choice([1, 3, 8, 40]))]
    odd = write(usual_record(random))
    column = random.choice([*ODD_CELLS, "all", "none"])
    for name in ODD_CELLS if column == "all" else [column] if column in ODD_CELLS else []:
        odd[name] = random.choice(ODD_CELLS[name])
        if random.random() < 0.1:
            people = [person | {name: odd[name]} for person in people]
            odd[name] = write(usual_record(random))[name]
    if column == "none":
        odd = dict.fromkeys(odd)
    place = random.randrange(len(people) + 1)
    with_odd = [*people[:place], odd, *people[place:]]
    if random.random() < 0.5:
        return OddPair(column, people, with_odd, "add-remove")
    instead = [*people[:place], write(usual_record(random)), *people[place:]]
    return OddPair(column, instead, with_odd, "replace")


def _writer(random: Random) -> Callable[[Record], Record]:
    """Draw in which form each column of a table holds what it says."""
    forms = {name: random.choice(known) for name, known in FORMS.items() if random.random() < 0.4}
    return lambda record: {
        name: forms[name](cell) if name in forms else cell for name, cell in record.items()
    }


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
    "count() by hour",
    "count() where hour = '08:00:00'",
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


OF_PEOPLE = ("count()", "count() by ward", "sum(cost)", "mean(stay)")
PERSON = {"subject": "who", "rows_per_person": 9}  # nobody has more, so a row more is a row more


def told(table: object) -> tuple[object, Reading | None]:
    """Give a table, and what its owner says of how it is written."""
    return (table.table, table.reading) if isinstance(table, Told) else (table, None)


def asks(question: str, relation: str, **unit: Any) -> Callable[[object], object]:
    """Give a pipeline that asks one question of a table."""

    def ask(table: object) -> object:
        ledger = Ledger.temporary(epsilon=3, columns=COLUMNS, relation=relation, **unit)
        given, reading = told(table)
        said = {} if reading is None else {"reading": reading}
        return answer_query(given, question, ledger=ledger, epsilon=1.0, **said).rows

    return ask


def makes_up(method: str, relation: str, rows: int, target: str | None = None) -> Callable[[object], object]:
    """Give a pipeline that makes a table up after another; what the model holds comes out as well."""

    def make(table: object) -> object:
        facts = {name: known for name, known in COLUMNS.items() if name not in {"admitted", "hour"}}
        book = Ledger.temporary(epsilon=3, delta=1e-6, columns=facts, relation=relation, rows=rows)
        days = {"admitted": (DAYS[0], DAYS[-1])}
        schema = SyntheticSchema(dates=days, missing=("ward", "admitted", "group"))
        given, reading = told(table)
        made_up = make_synthesiser(method, epsilon=3, delta=1e-6, schema=schema, target=target)
        fitted = made_up.fit(given, ledger=book, reading=reading)
        return fitted.sample(30, seed=1), held(fitted)

    return make


def verbs(relation: str) -> dict[str, Callable[[object], object]]:
    """Give private verbs that ask and make up, by name; what learns stands in ``odd_learning``."""
    return {
        **{question: asks(question, relation) for question in QUESTIONS},
        **{f"{question}, of people": asks(question, relation, **PERSON) for question in OF_PEOPLE},
        "synthesis": makes_up("marginals", relation, 4_000),
        "synthesis in rounds": makes_up("marginals", relation, 400_000),
        "synthesis for a target": makes_up("marginals", relation, 400_000, target="smoker"),
    }
