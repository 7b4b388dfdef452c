"""Tables, and what a release of them hides: everything by which twins differ."""

from __future__ import annotations

import math
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
from mahrem.table import Hierarchy
from packed_tables import packed
from published_oracle import holds_value

QUASI = ("age", "income", "born", "town", "zip")
TOWNS = ("Ankara", "Bursa", "Çorum", "Düzce")
ZIPS = ("06100", "06110", "06530", "34000", "34710")
ILLNESSES = ("flu", "gout", "none", "asthma")

REGIONS = Hierarchy.from_rows(
    [[town, region] for town, region in zip(TOWNS, ("north", "west", "north", "west"), strict=True)]
)
NULLS = ("NA", "-", "n/a")


@dataclass(frozen=True)
class Twins:
    """Two tables and the settings both are released with; ``how`` says what is hidden between them."""

    first: pl.DataFrame
    second: pl.DataFrame
    settings: Mapping[str, Any]
    how: str
    files: int = 0  # a number from which both are packed into files; 0: they are frames

    @property
    def publish_the_same(self) -> bool:
        """Whether what is hidden has no say in the published table either."""
        return self.how in NO_SAY

    def sources(self, folder: Path) -> tuple[object, object]:
        """Give both as they are handed over."""
        if not self.files:
            return self.first, self.second
        random = Random(self.files)
        ending = random.choice(("csv", "parquet", "arrow", "xlsx", "sav", "duckdb"))
        return packed(random, self.first, folder / "one", ending), packed(
            random, self.second, folder / "other", ending
        )


def draw_twins(random: Random) -> Twins:
    """Draw a pair; whether both publish the same is for the caller to see."""
    how = random.choice(sorted(HIDDEN))
    table = draw_table(random)
    settings = _settings(random, how)
    if how in HOLES:
        holes = random.sample(range(table.height), random.randint(1, 3))
        gap = random.choice([name for name in settings["quasi"] if name not in settings.get("suppress", ())])
        table = table.with_columns(
            pl.when(pl.int_range(table.height).is_in(holes)).then(None).otherwise(pl.col(gap)).alias(gap)
        )
    table = READY.get(how, _as_it_is)(random, table, settings)
    second = HIDDEN[how](random, table, settings)
    return Twins(table, second, settings, how, files=random.randint(1, 10**9) if how == "packed" else 0)


def draw_table(random: Random) -> pl.DataFrame:
    """Draw people."""
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
        "missing": _missing(random, how),
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


def _missing(random: Random, how: str) -> str:
    """Give what becomes of rows that miss a value; where they are what is hidden, they must be hidden."""
    known = {"suppressed": ("suppress",), "dropped": ("drop",), "odd": ("suppress", "drop")}
    if how in {"silent", "spelled"}:
        return random.choice(("category", "suppress", "drop"))
    return random.choice(known.get(how, ("category",)))


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
    """Move the least or the greatest value of a column a little; it stays the least or the greatest."""
    name = random.choice([name for name in settings["quasi"] if name not in {"town", "zip"}] or ["age"])
    values = table[name].to_list()
    known = [value for value in values if value is not None]
    end, way = (max(known), 1) if random.random() < 0.5 else (min(known), -1)
    place, size = values.index(end), random.randint(1, 4)

    def moved(steps: int) -> Any:
        if name == "born":
            return end + timedelta(days=steps)
        return end + steps * (1 if name == "age" else abs(end) / 200)

    inward = moved(-size * way)
    others = [value for value in values[:place] + values[place + 1 :] if value is not None]
    last = all(inward > value if way > 0 else inward < value for value in others)  # else it is ``within``
    values[place] = inward if last and random.random() < 0.5 else moved(size * way)
    return table.with_columns(pl.Series(name, values, dtype=table.schema[name]))


def _within(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Move somebody anywhere in the cell that they are published in, extreme or not."""
    shown = _cells_of(table, settings)
    people = table.to_dicts()
    for place in random.sample(range(len(people)), len(people)):
        fitting = [
            cells
            for cells in shown
            if all(holds_value(cell, people[place][name]) for name, cell in cells.items())
        ]
        free = [name for name, cell in (fitting or [{}])[0].items() if (cell or "").startswith("[")]
        if len(fitting) == 1 and free:
            name = random.choice(free)
            people[place][name] = _between(random, fitting[0][name], people[place][name])
            break
    return pl.DataFrame(people, schema=table.schema)


def _cells_of(table: pl.DataFrame, settings: Mapping[str, Any]) -> list[dict[str, str]]:
    """Give what each class of a release shows; nothing where it is refused."""
    try:
        release = mh.anonymize(table, html=False, **{**settings, "cells": "text"})
    except MahremError:
        return []
    texts = [pl.col(name).cast(pl.String) for name in settings["quasi"]]
    return pl.DataFrame(release.table).select(texts).unique(maintain_order=True).to_dicts()


def _between(random: Random, cell: str, value: object) -> object:
    low, high = cell.strip("[]").split(", ")
    if isinstance(value, date):
        first, last = date.fromisoformat(low), date.fromisoformat(high)
        return first + timedelta(days=random.randint(0, (last - first).days))
    if isinstance(value, int):
        return random.randint(math.ceil(float(low)), math.floor(float(high)))
    return random.uniform(float(low), float(high))


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


def _as_it_is(random: Random, table: pl.DataFrame, settings: dict[str, Any]) -> pl.DataFrame:
    del random, settings
    return table


def _with_silence(random: Random, table: pl.DataFrame, settings: dict[str, Any]) -> pl.DataFrame:
    """Have some quasi-identifiers show nothing, sometimes those in which all rows of a person agree."""
    silent = random.sample(QUASI, random.choice((1, 1, 2)))
    others = [name for name in settings["quasi"] if name not in silent]
    settings["quasi"] = random.sample([*others, *silent], len(others) + len(silent))
    settings["suppress"] = silent
    if random.random() < 0.5:
        return table
    pairs = pl.int_range(table.height) // 2
    return table.with_columns(
        pl.format("person{}@example.org", pairs).alias("name"),
        *(pl.col(name).gather(2 * pairs) for name in silent),
    )


def _silent(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Give columns that show nothing other values, holes, and kinds."""
    names = list(settings["suppress"])
    others = _changed(random, table, list(range(table.height))).select(names)
    holes = [pl.Series([random.random() < 0.1 for _ in range(table.height)]) for _ in names]
    kinds = [random.choice((None, pl.String)) for _ in names]
    return table.with_columns(
        pl.when(~hole).then(others[name] if kind is None else others[name].cast(kind)).alias(name)
        for name, hole, kind in zip(names, holes, kinds, strict=True)
    )


def _with_words(random: Random, table: pl.DataFrame, settings: dict[str, Any]) -> pl.DataFrame:
    """Have columns of categories, of which some nobody has."""
    settings["quasi"] = list(dict.fromkeys([*settings["quasi"], "town"]))
    return _unused(random, table, settings)


def _unused(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Declare other categories that nobody has."""
    del settings
    return table.with_columns(
        pl.col(name).cast(pl.String).cast(pl.Enum(_among(random, table[name].cast(pl.String))))
        for name in ("town", "illness")
    )


def _among(random: Random, words: pl.Series) -> list[str]:
    unused = [f"NOBODY {random.randint(0, 99)} {place}" for place in range(random.randint(0, 4))]
    return sorted([*words.unique(), *unused], key=lambda word: (word in unused, word))


def _spoken(random: Random, table: pl.DataFrame, settings: dict[str, Any]) -> pl.DataFrame:
    """Give a table of text, with words for what is missing."""
    settings["null"] = list(NULLS)
    return _spelled(random, table.with_columns(pl.all().cast(pl.String)), settings)


def _spelled(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Say of quasi-identifiers in other words that they are missing."""
    return table.with_columns(
        pl.Series(
            name,
            [
                random.choice((None, "", *NULLS)) if cell in {None, "", *NULLS} else cell
                for cell in table[name]
            ],
            dtype=pl.String,
        )
        for name in settings["quasi"]
    )


def _in_text(random: Random, table: pl.DataFrame, settings: dict[str, Any]) -> pl.DataFrame:
    del random, settings
    return table.with_columns(pl.all().cast(pl.String))


def _odd(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Give rows that are not shown cells of other kinds than their columns have."""
    odd = (
        "1.234,5",
        "33.5",
        "1e400",
        "2020-13-45",
        "31.12.99",
        "-0",
        "\u202e",
        'a"b\nc',
        "x" * 300,
        "007",
        "",
    )
    gone = set(_incomplete(table, settings))
    return table.with_columns(
        pl.Series(
            name,
            [
                random.choice(odd) if place in gone and cell is not None else cell
                for place, cell in enumerate(table[name])
            ],
            dtype=pl.String,
        )
        for name in table.columns
    )


def _with_more(random: Random, table: pl.DataFrame, settings: dict[str, Any]) -> pl.DataFrame:
    """Have a column that nobody named: it is left out."""
    return _beside(random, table, settings)


def _beside(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Fill a column that is left out with other things of another kind, at another place."""
    del settings
    rows, names = table.height, [name for name in table.columns if name != "note"]
    notes: pl.Series = random.choice(
        (
            pl.Series("note", [f"saw Dr {random.randint(0, 99)} ü" for _ in range(rows)]),
            pl.Series("note", [random.random() for _ in range(rows)]),
            pl.Series("note", [None] * rows, dtype=pl.Null),
            pl.Series("note", [[random.randint(0, 9)] for _ in range(rows)]),
            pl.Series("note", [date(2000, 1, 1)] * rows),
        )
    )
    names.insert(random.randint(0, len(names)), "note")
    return table.with_columns(notes).select(names)


def _with_subjects(random: Random, table: pl.DataFrame, settings: dict[str, Any]) -> pl.DataFrame:
    """Have people with several rows."""
    settings["subject"] = "name"
    settings["identifier"] = []
    return table.with_columns(
        name=pl.Series([f"P{random.randint(0, table.height)}" for _ in range(table.height)])
    )


def _called(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Call people by other names; whose rows are whose stays."""
    del settings
    people = table["name"].unique(maintain_order=True).to_list()
    calls = random.sample(range(10**6), len(people))
    return table.with_columns(
        pl.col("name").replace_strict(dict(zip(people, (f"Q{call}" for call in calls), strict=True)))
    )


def _with_prefix(random: Random, table: pl.DataFrame, settings: dict[str, Any]) -> pl.DataFrame:
    del random
    settings["quasi"] = list(dict.fromkeys([*settings["quasi"], "zip"]))
    settings["kind"], settings["prefix"] = {"zip": "code"}, {"zip": 2}
    return table


def _letters(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Change letters of codes that are never shown."""
    del settings
    return table.with_columns(
        zip=pl.Series([f"{code[:2]}{random.randint(0, 999):03d}" for code in table["zip"]])
    )


def _with_regions(random: Random, table: pl.DataFrame, settings: dict[str, Any]) -> pl.DataFrame:
    del random
    settings["quasi"] = list(dict.fromkeys([*settings["quasi"], "town"]))
    settings["hierarchy"], settings["at_least"] = {"town": REGIONS}, {"town": 1}
    return table


def _leaves(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Move people within their region; towns are never shown."""
    del settings
    beside = {"Ankara": "Çorum", "Çorum": "Ankara", "Bursa": "Düzce", "Düzce": "Bursa"}
    return table.with_columns(
        town=pl.Series([beside[town] if random.random() < 0.3 else town for town in table["town"]])
    )


def _same(random: Random, table: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    del random, settings
    return table


Hide = Callable[[Random, pl.DataFrame, Mapping[str, Any]], pl.DataFrame]
HIDDEN: dict[str, Hide] = {
    "suppressed": _suppressed,
    "dropped": _dropped,
    "beyond": _beyond,
    "inside": _inside,
    "within": _within,
    "identified": _identified,
    "turned": _turned,
    "silent": _silent,
    "unused": _unused,
    "spelled": _spelled,
    "odd": _odd,
    "beside": _beside,
    "called": _called,
    "letters": _letters,
    "leaves": _leaves,
    "packed": _same,
}
Prepare = Callable[[Random, pl.DataFrame, dict[str, Any]], pl.DataFrame]
READY: dict[str, Prepare] = {
    "silent": _with_silence,
    "unused": _with_words,
    "spelled": _spoken,
    "odd": _in_text,
    "beside": _with_more,
    "called": _with_subjects,
    "letters": _with_prefix,
    "leaves": _with_regions,
}
HOLES = frozenset({"suppressed", "dropped", "spelled", "odd"})
NO_SAY = frozenset({"identified", "silent", "spelled", "beside", "called", "packed"})
