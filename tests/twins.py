"""Pairs of tables that differ only in what a release hides, and what two releases say beside their tables."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import polars as pl

import mahrem as mh
from mahrem.errors import MahremError
from mahrem.partition import METHODS
from published_oracle import holds_value

if TYPE_CHECKING:
    from web_server import Server

QUASI = ("age", "income", "born", "town", "zip")
TOWNS = ("Ankara", "Bursa", "Çorum", "Düzce")
ZIPS = ("06100", "06110", "06530", "34000", "34710")
ILLNESSES = ("flu", "gout", "none", "asthma")
_STAMPS = re.compile(r'"(?:created|seconds)": [^\n]*')
_OF_ORIGINAL = frozenset({"before", "unique_columns", "created", "seconds"})
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


Hide = Callable[[Random, pl.DataFrame, Mapping[str, Any]], pl.DataFrame]
HIDDEN: dict[str, Hide] = {
    "suppressed": _suppressed,
    "dropped": _dropped,
    "beyond": _beyond,
    "inside": _inside,
    "within": _within,
    "identified": _identified,
    "turned": _turned,
}


def released(table: object, settings: Mapping[str, Any], folder: Path, *, html: bool) -> str | None:
    """Release a table into a folder; gives the refusal's kind where it was refused."""
    try:
        mh.anonymize(table, output=folder, html=html, **settings)
    except MahremError as error:
        return type(error).__name__
    return None


def told(folder: Path, how: str = "") -> dict[str, str]:
    """Give everything that lies in a release folder beside the data, without stamps of time.

    What pages say of the original beside the release is about crowds of k, wherever they are in their cells:
    of twins who differ there it may differ by a crowd, and is left out. Without pages nothing is.
    """
    said = {}
    crowds = how == "within" and (folder / "report.html").exists()
    for file in sorted(folder.iterdir()):
        if file.name == "SHA256SUMS" or file.name.startswith("data."):
            continue
        if crowds and file.suffix == ".html":
            continue
        text = _without_stamps(file.name, file.read_text(encoding="utf-8"))
        if crowds and file.name == "report.json":
            text = json.dumps(_without(json.loads(file.read_text(encoding="utf-8")), _OF_ORIGINAL))
        said[file.name] = text
    return said


def _without(told_of: object, names: frozenset[str]) -> object:
    """Leave out some keys, however deep they lie."""
    if isinstance(told_of, dict):
        return {name: _without(value, names) for name, value in told_of.items() if name not in names}
    return [_without(value, names) for value in told_of] if isinstance(told_of, list) else told_of


def _without_stamps(name: str, text: str) -> str:
    return _STAMPS.sub("", text) if name.endswith(".json") else _SECONDS.sub("", text)


def data_of(folder: Path) -> bytes:
    """Give the data file of a release."""
    return next(folder.glob("data.*")).read_bytes()


def difference(first: Path, second: Path, how: str = "") -> str | None:
    """Say where two releases of the same table differ beside it; None where they do not.

    Args:
        first: A release.
        second: Another one that publishes the same.
        how: What is hidden between them.
    """
    return _apart(told(first, how), told(second, how))


def _apart(one: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """Say where texts by name differ."""
    if one.keys() != other.keys():
        return f"files: {sorted(one.keys() ^ other.keys())}"
    for name, text in one.items():
        if text != other[name]:
            lines = zip(text.split("\n"), other[name].split("\n"), strict=False)
            apart = next((pair for pair in lines if pair[0] != pair[1]), ("", ""))
            return f"{name}: {apart[0][:300]} | {apart[1][:300]}"
    return None


def attacked(table: pl.DataFrame, folder: Path) -> str | None:
    """Attack a release with its original; gives every figure but time, or the refusal's kind."""
    try:
        found = mh.attack(folder, original=table, trials=50)
    except MahremError as error:
        return type(error).__name__
    return json.dumps({**found.report, "seconds": 0, "source": ""})


def attacked_by_the_informed(twins: Twins, table: pl.DataFrame, folder: Path) -> str:
    """Attack with a second release and a table of everybody, twins too: membership, priors, composition."""
    settings = twins.settings
    names = [*settings["quasi"], *settings["sensitive"]]
    others = _table(Random(7)).select(names).cast(dict(table.select(names).schema))  # type: ignore[arg-type]
    everyone = pl.concat([twins.first.select(names), twins.second.select(names), others])
    second = folder.with_name(f"{folder.name}-again")
    try:
        mh.anonymize(
            table, output=second, html=False, **{**settings, "k": settings["k"] + 2, "format": "csv"}
        )
        found = mh.attack(folder, original=table, population=everyone, second=second, trials=50)
    except MahremError as error:
        return type(error).__name__
    told_of = {"seconds": 0, "source": "", "second": data_of(second).decode()}
    return json.dumps({**found.report, **told_of})


def informed_apart(twins: Twins, first: Path, second: Path) -> str | None:
    """Say where figures of informed attacks on twins differ that publish the same twice.

    Where twins differ in a quasi-identifier of somebody shown, one of them is not in the population with it:
    then attackers know other things, and figures may differ.
    """
    if twins.how in {"inside", "within"}:
        return None
    one = attacked_by_the_informed(twins, twins.first, first)
    other = attacked_by_the_informed(twins, twins.second, second)
    if one[:1] != "{" or other[:1] != "{":
        return None if one == other else f"informed attacks: {one[:80]} | {other[:80]}"
    before, after = json.loads(one), json.loads(other)
    if before["second"] != after["second"]:
        return None  # the second releases are others
    figures = zip(before["findings"], after["findings"], strict=True)
    return next((f"informed attacks: {a} | {b}" for a, b in figures if a != b), None)


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


def compared(twins: Twins) -> tuple[str, str | None]:
    """Compare methods on both; says what came of it, and which figure differs where both publish the same."""
    asked = {key: value for key, value in twins.settings.items() if key not in {"k", "method", "format"}}
    sweep = {"methods": [twins.settings["method"]], "ks": [twins.settings["k"]]}
    with TemporaryDirectory() as place:
        folders = [Path(place) / name for name in ("first", "second")]
        both = list(zip((twins.first, twins.second), folders, strict=True))
        refused = [released(table, twins.settings, folder, html=False) for table, folder in both]
        if any(refused):
            return "refused", None
        if data_of(folders[0]) != data_of(folders[1]):
            return "other table", None
    found = [mh.compare(table, **sweep, **asked).rows for table, _ in both]
    one, other = ([{**row, "seconds": None} for row in rows] for rows in found)
    figures = (
        f"{name}: {value} | {second[name]}"
        for first, second in zip(one, other, strict=True)
        for name, value in first.items()
        if value != second[name]
    )
    apart = next(figures, None)
    return ("same", None) if apart is None else ("differs", apart)


def through_page(twins: Twins, server: Server) -> tuple[str, str | None]:
    """Release both through the page: files to download and what it says of them, byte for byte."""
    told_of = []
    for table in (twins.first, twins.second):
        project = server.project(table.write_csv().encode())
        place = f"/api/v1/projects/{project}"
        choices = server.client.get(place).json()["choices"]
        for name, column in choices["columns"].items():
            roles = {"illness": "sensitive", "visits": "insensitive"}
            column["role"] = "quasi" if name in twins.settings["quasi"] else roles.get(name, "drop")
        known = ("k", "method", "missing", "seed", "suppression_limit", "cells")
        promises = {key: twins.settings[key] for key in known if key in twins.settings}
        for what, body in (("columns", choices), ("promises", promises)):
            assert server.client.put(f"{place}/{what}", json=body).status_code == 200
        done = server.run(project, "run/anonymize")
        if done["state"] != "done":
            return "refused", None
        archive = ZipFile(BytesIO(server.client.get(f"{place}/release.zip").content))
        said = {name: archive.read(name).decode() for name in archive.namelist() if name != "SHA256SUMS"}
        answer = server.client.get(f"/api/v1/jobs/{done['id']}/result").text
        said["result"] = re.sub(r'"(?:created|seconds)":[^,}]*', "", answer.replace(project, ""))
        told_of.append({name: _without_stamps(name, text) for name, text in said.items()})
    first, second = told_of
    if first.pop("data.csv") != second.pop("data.csv"):
        return "other table", None
    apart = _apart(first, second)
    return ("same", None) if apart is None else ("differs", apart)


def on_cluster(twins: Twins, session: Any) -> tuple[str, str | None]:
    """Release both on Spark: rows of one content in any order, and what lies beside them."""
    settings = {**twins.settings, "method": "mondrian", "format": "csv"}
    settings.pop("suppression_limit", None)
    with TemporaryDirectory() as place:
        folders = [Path(place) / name for name in ("first", "second")]
        for table, folder in zip((twins.first, twins.second), folders, strict=True):
            frame = session.createDataFrame(table.to_arrow())
            if released(frame, settings, folder, html=False):
                return "refused", None
        rows = [sorted(pl.read_csv(folder / "data.csv", infer_schema=False).rows()) for folder in folders]
        if rows[0] != rows[1]:
            return "other table", None
        apart = difference(*folders, twins.how)
        return ("same", None) if apart is None else ("differs", apart)
