"""Pairs of tables that differ only in what a release hides, and what two releases say beside their tables."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import mahrem as mh
from mahrem.errors import MahremError
from mahrem.partition import METHODS

QUASI = ("age", "income", "born", "town", "zip")
TOWNS = ("Ankara", "Bursa", "Çorum", "Düzce")
ZIPS = ("06100", "06110", "06530", "34000", "34710")
ILLNESSES = ("flu", "gout", "none", "asthma")
_STAMPS = re.compile(r'"(?:created|seconds)": [^\n]*')
_SECONDS = re.compile(r"[\d.,]+ s\b")


@dataclass(frozen=True)
class Twins:
    """Two tables and the settings both are released with; ``how`` says what is hidden between them."""

    first: pl.DataFrame
    second: pl.DataFrame
    settings: Mapping[str, Any]
    how: str


def draw_twins(random: Random) -> Twins:
    """Draw a pair; whether both publish the same is for the caller to see."""
    how = random.choice(sorted(HIDDEN))
    table = _table(random)
    settings = _settings(random, how)
    if how in {"suppressed", "dropped"}:
        holes = random.sample(range(table.height), random.randint(1, 3))
        gap = random.choice(settings["quasi"])
        table = table.with_columns(
            pl.when(pl.int_range(table.height).is_in(holes)).then(None).otherwise(pl.col(gap)).alias(gap)
        )
    return Twins(table, HIDDEN[how](random, table, settings), settings, how)


def _table(random: Random) -> pl.DataFrame:
    rows = random.randint(10, 60)
    heaped = random.random() < 0.3
    people: list[dict[str, Any]] = [
        {
            "name": f"Person {place} {random.randint(0, 10**6)}",
            "age": random.choice((20, 40, 60)) if heaped and random.random() < 0.7 else random.randint(0, 99),
            "income": round(min(random.lognormvariate(9, 1), 1e6), 2),
            "born": date(1930, 1, 1) + timedelta(days=random.randint(0, 30_000)),
            "town": random.choice(TOWNS),
            "zip": random.choice(ZIPS),
            "illness": random.choice(ILLNESSES),
            "visits": random.randint(0, 5),
        }
        for place in range(rows)
    ]
    return pl.DataFrame(people)


def _settings(random: Random, how: str) -> dict[str, Any]:
    quasi = random.sample(QUASI, random.randint(1, 4))
    method = random.choice([name for name in METHODS if name != "auto"])
    settings: dict[str, Any] = {
        "quasi": quasi,
        "sensitive": ["illness"],
        "identifier": ["name"],
        "insensitive": ["visits"],
        "rest": "drop",
        "k": random.randint(2, 5),
        "method": method,
        "seed": 0,
        "format": random.choice(("csv", "csv", "parquet")),
        "missing": {"suppressed": "suppress", "dropped": "drop"}.get(how, "category"),
    }
    if METHODS[method].full_domain:
        settings["suppression_limit"] = random.choice((0.0, 0.2, 0.5))
    elif how != "beyond" and random.random() < 0.2:
        settings["cells"] = "pairs"
    if random.random() < 0.2:
        settings["l"] = 2
    if how == "beyond":
        settings["quasi"] = quasi = list(dict.fromkeys(["age", *quasi]))
        settings["top"], settings["bottom"] = {"age": 70}, {"age": 15}
    return settings


def _suppressed(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Change everything else about rows that show nothing."""
    return _changed(random, table, _incomplete(table, settings))


def _dropped(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Change rows that are left out; or leave all of them out of the source, where they are few."""
    gone = _incomplete(table, settings)
    if len(gone) < max(settings["k"], 3) and random.random() < 0.5:
        return table.filter(~pl.int_range(table.height).is_in(gone))
    return _changed(random, table, gone)


def _incomplete(table: pl.DataFrame, settings: Mapping[str, Any]) -> list[int]:
    named = [*settings["quasi"], *settings["sensitive"]]
    return table.select(pl.arg_where(pl.any_horizontal(pl.col(named).is_null()))).to_series().to_list()


def _changed(random: Random, table: pl.DataFrame, rows: list[int]) -> pl.DataFrame:
    """Give some rows other values wherever they have any."""
    others = table.to_dicts()
    for row in rows:
        new = {
            "name": f"Somebody {random.randint(0, 10**6)}",
            "age": random.randint(0, 130),
            "income": round(min(random.lognormvariate(12, 2), 1e9), 2),
            "born": date(1900, 1, 1) + timedelta(days=random.randint(0, 40_000)),
            "town": random.choice((*TOWNS, "Zonguldak")),
            "zip": random.choice((*ZIPS, "99999")),
            "illness": random.choice((*ILLNESSES, "RARE DISEASE")),
            "visits": random.randint(0, 900),
        }
        others[row] = {name: None if old is None else new[name] for name, old in others[row].items()}
    return pl.DataFrame(others, schema=table.schema)


def _beyond(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Move values beyond a declared end."""
    low, high = settings["bottom"]["age"], settings["top"]["age"]
    moved = [
        random.randint(high, high + 60)
        if age >= high
        else random.randint(low - 60, low)
        if age <= low
        else age
        for age in table["age"]
    ]
    return table.with_columns(pl.Series("age", moved))


def _inside(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Move the least or the greatest value of a column a little."""
    name = random.choice([name for name in settings["quasi"] if name not in {"town", "zip"}] or ["age"])
    values = table[name].to_list()
    known = [value for value in values if value is not None]
    end, way = (max(known), 1) if random.random() < 0.5 else (min(known), -1)
    place = values.index(end)
    size = random.randint(1, 4) * random.choice((1, -1)) * way
    if name == "born":
        values[place] = end + timedelta(days=size)
    else:
        values[place] = end + size * (1 if name == "age" else abs(end) / 200)
    return table.with_columns(pl.Series(name, values, dtype=table.schema[name]))


def _identified(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Give everybody another name."""
    del settings
    return table.with_columns(
        pl.Series("name", [f"Other {random.randint(0, 10**9)}" for _ in range(table.height)])
    )


def _turned(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Put rows into another order."""
    del settings
    return table[random.sample(range(table.height), table.height)]


Hide = Callable[[Random, pl.DataFrame, Mapping[str, Any]], pl.DataFrame]
HIDDEN: dict[str, Hide] = {
    "suppressed": _suppressed,
    "dropped": _dropped,
    "beyond": _beyond,
    "inside": _inside,
    "identified": _identified,
    "turned": _turned,
}


def released(table: pl.DataFrame, settings: Mapping[str, Any], folder: Path, *, html: bool) -> str | None:
    """Release a table into a folder; gives the refusal's kind where it was refused."""
    try:
        mh.anonymize(table, output=folder, html=html, **settings)
    except MahremError as error:
        return type(error).__name__
    return None


def told(folder: Path) -> dict[str, str]:
    """Give everything that lies in a release folder beside the data, without stamps of time."""
    said = {}
    for file in sorted(folder.iterdir()):
        if file.name == "SHA256SUMS" or file.name.startswith("data."):
            continue
        text = file.read_text(encoding="utf-8")
        said[file.name] = _STAMPS.sub("", text) if file.suffix == ".json" else _SECONDS.sub("", text)
    return said


def data_of(folder: Path) -> bytes:
    """Give the data file of a release."""
    return next(folder.glob("data.*")).read_bytes()


def difference(first: Path, second: Path) -> str | None:
    """Say where two releases of the same table differ beside it; None where they do not."""
    one, other = told(first), told(second)
    if one.keys() != other.keys():
        return f"files: {sorted(one.keys() ^ other.keys())}"
    for name, text in one.items():
        if text != other[name]:
            lines = zip(text.split("\n"), other[name].split("\n"), strict=False)
            apart = next((pair for pair in lines if pair[0] != pair[1]), ("", ""))
            return f"{name}: {apart[0][:300]} | {apart[1][:300]}"
    return None


def attacked(table: pl.DataFrame, folder: Path) -> str | None:
    """Attack a release with its original; gives every figure, without stamps of time, or the refusal's kind.

    Downcoding is left out: whether an end of a cell is somebody's value is what it measures.
    """
    try:
        found = mh.attack(folder, original=table, trials=50)
    except MahremError as error:
        return type(error).__name__
    figures = [finding.as_dict() for finding in found.findings if finding.attack != "downcoding"]
    return json.dumps({**found.report, "findings": figures, "seconds": 0, "source": "", "alarming": 0})


def applied(table: pl.DataFrame, folder: Path, batch: Path) -> str | None:
    """Publish a batch by the recipe of a release; gives the refusal's kind where it was refused."""
    try:
        mh.apply(folder, table, output=batch, html=False)
    except MahremError as error:
        return type(error).__name__
    return None


def report_of(folder: Path) -> dict[str, Any]:
    """Read the report of a release."""
    found: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return found
