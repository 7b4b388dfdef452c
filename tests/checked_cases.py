"""Release a random case and have the slow oracle look at what was published."""

from __future__ import annotations

import csv
import math
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import fastexcel
import polars as pl

import mahrem as mh
import published_oracle as oracle
from mahrem.errors import GuaranteeBroken, Infeasible, MahremError
from mahrem.table import Hierarchy
from random_cases import Case

Rows = list[dict[str, Any]]


def check_case(case: Case, folder: Path) -> tuple[str, list[str]]:
    """Give what came of a case (``released``, ``infeasible``, ``refused``) and what is wrong with it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    said = _said(case, folder)
    try:
        release = mh.anonymize(_given(case, folder), **said)
    except Infeasible:
        return "infeasible", []
    except GuaranteeBroken as error:
        return "broken", [f"guarantee broken: {error}"]
    except MahremError:
        return "refused", []
    except Exception as error:  # noqa: BLE001 - any other is a fault
        return "broken", [f"crash: {type(error).__name__}: {error}"]
    wrong = [fault for published in _published(case, release, folder) for fault in _faults(case, published)]
    if case.format is not None and "subject" not in said:
        again = {name: said[name] for name in ("hierarchy", "population") if name in said}
        if not mh.audit(folder / "release", **again).holds:
            wrong.append("its own audit says that it does not hold")
    return "released", wrong


def _said(case: Case, folder: Path) -> dict[str, Any]:
    said = dict(case.settings)
    if case.trees:
        said["hierarchy"] = {name: Hierarchy.from_rows(rows) for name, rows in case.trees.items()}
    if case.population is not None:
        said["population"] = case.everyone
    if case.format is not None:
        said |= {"format": case.format, "output": folder / "release"}
    if case.database:
        said["to"] = (str(folder / "published.duckdb"), "shown")
    return said


def _given(case: Case, folder: Path) -> Any:
    frame = case.frame
    if case.source == "pandas":
        return frame.to_pandas()
    if case.source == "arrow":
        return frame.to_arrow()
    if case.source == "categories":
        return frame.with_columns(pl.col(pl.String).cast(pl.Categorical(pl.Categories.random())))
    if case.source == "csv":
        frame.write_csv(folder / "given.csv")
        return folder / "given.csv"
    if case.source == "parquet":
        frame.write_parquet(folder / "given.parquet")
        return folder / "given.parquet"
    if case.source == "duckdb":
        with duckdb.connect(folder / "given.duckdb") as database:
            database.execute("CREATE TABLE given AS SELECT * FROM frame")
        return folder / "given.duckdb"
    return frame


def _published(case: Case, release: Any, folder: Path) -> Iterator[Rows]:
    """Give every form of the published table as rows of text."""
    if case.format is None:
        table = release.table
        yield _rows(table if isinstance(table, pl.DataFrame) else pl.DataFrame(table))
    else:
        yield _read(folder / "release" / f"data.{case.format}", case.format)
    if case.database:
        with duckdb.connect(folder / "published.duckdb", read_only=True) as database:
            read = database.execute("SELECT * FROM shown")
            names = [column[0] for column in read.description or ()]
            yield [
                {name: _text(value) for name, value in zip(names, row, strict=True)}
                for row in read.fetchall()
            ]


def _read(path: Path, form: str) -> Rows:
    if form == "parquet":
        return _rows(pl.read_parquet(path))
    if form == "arrow":
        return _rows(pl.read_ipc(path))
    if form == "xlsx":
        sheet = fastexcel.read_excel(path).load_sheet(0, dtypes="string")
        return [{name: _armed(text) for name, text in row.items()} for row in _rows(sheet.to_polars())]
    with path.open(encoding="utf-8-sig", newline="") as stream:
        read = csv.DictReader(stream, delimiter="\t" if form == "tsv" else ",")
        return [{name: _armed(text or None) for name, text in row.items()} for row in read]


def _armed(text: str | None) -> str | None:
    """Take away the apostrophe that keeps a spreadsheet from running a text."""
    return text[1:] if text and re.match(r"'+[=+\-@\t\r]", text) else text


def _rows(frame: pl.DataFrame) -> Rows:
    return [{name: _text(value) for name, value in row.items()} for row in frame.iter_rows(named=True)]


def _text(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.isoformat() if isinstance(value, date) else str(value)


def _faults(case: Case, published: Rows) -> Iterator[str]:
    expected = _expected(case)
    names = list(published[0]) if published else []
    if names and names != _columns(case, names):
        yield f"columns {names}"
        return
    if len(published) != len(expected):
        yield f"{len(published)} rows published, {len(expected)} expected"
        return
    hidden = [row for row in published if row["tag"] in {None, "*"}]
    shown = [row for row in published if row["tag"] not in {None, "*"}]
    if any(value not in {None, "*"} for row in hidden for value in row.values()):
        yield "a suppressed row shows something"
    by_tag = {str(row["tag"]): row for row in case.rows}
    tags = [_tag(row) for row in shown]
    if len(set(tags)) != len(tags) or not set(tags) <= {str(row["tag"]) for row in expected}:
        yield "rows were doubled, or rows that should be left out are shown"
        return
    originals = [by_tag[tag] for tag in tags]
    yield from _suppression(case, expected, shown, originals, len(hidden))
    yield from _cells(case, shown, originals)
    joined = [
        {**original, **{name: row[name] for name in _quasi(case, names)}}
        for row, original in zip(shown, originals, strict=True)
    ]
    found = oracle.classes(joined, _quasi(case, names))
    yield from _promises(case, found)
    if case.population is not None:
        yield from _presence(case, found, len(hidden))


def _tag(row: dict[str, Any]) -> str:
    return str(int(float(row["tag"])))


def _expected(case: Case) -> Rows:
    """Give the rows that must be published, suppressed ones too."""
    judged = [*case.settings["quasi"], *case.settings.get("sensitive", ())]
    if case.settings["missing"] == "drop-any":
        judged += [*case.settings["insensitive"]]
    if not case.settings["missing"].startswith("drop"):
        return case.rows
    return [row for row in case.rows if all(row[name] is not None for name in judged)]


def _columns(case: Case, names: Sequence[str]) -> list[str]:
    plain = [name for name in case.types if name != "person"]
    return [
        shown for name in plain for shown in ([name] if name in names else [f"{name}_min", f"{name}_max"])
    ]


def _quasi(case: Case, names: Sequence[str]) -> list[str]:
    quasi = case.settings["quasi"]
    return [
        shown for name in quasi for shown in ([name] if name in names else [f"{name}_min", f"{name}_max"])
    ]


def _suppression(case: Case, expected: Rows, shown: Rows, originals: Rows, hidden: int) -> Iterator[str]:
    said = case.settings
    judged = [*said["quasi"], *said.get("sensitive", ())]
    lacking = sum(any(row[name] is None for name in judged) for row in expected)
    if said["missing"] == "suppress":
        if any(original[name] is None for original in originals for name in judged):
            yield "a row that misses a value is shown"
    else:
        lacking = 0
    starred = 0
    if said.get("suppressed") == "keep-sensitive":
        stars = [row for row in shown if all(row[name] == "*" for name in said["quasi"])]
        starred = len(stars) if len(stars) < len(shown) else 0
        if hidden > lacking:
            yield "rows that should keep their sensitive values show nothing"
    limit = said.get("suppression_limit")
    allowed = lacking if limit is None else math.floor(limit * len(expected) + 1e-9)
    if hidden + starred > max(allowed, 0):
        yield f"{hidden} hidden and {starred} starred rows of {len(expected)}, limit {limit}"


def _cells(case: Case, shown: Rows, originals: Rows) -> Iterator[str]:
    """Every value must lie in its cell, and what is not coarsened must be what it was."""
    quasi = case.settings["quasi"]
    paths = {name: {row[0]: row for row in rows} for name, rows in case.trees.items()}
    for row, original in zip(shown, originals, strict=True):
        for name in quasi:
            if name in row and case.settings.get("cells", "text") == "text":
                path = paths.get(name, {}).get(_word(original[name]), ())
                if not oracle.holds_value(row[name], original[name], path):
                    yield f"{name}: the cell {row[name]!r} does not hold {original[name]!r}"
            elif f"{name}_min" in row:
                low, high = row[f"{name}_min"], row[f"{name}_max"]
                ends = f"[{low}, {high}]"
                if (
                    low is not None
                    and original[name] is not None
                    and not oracle.holds_value(ends, original[name])
                ):
                    yield f"{name}: {ends} does not hold {original[name]!r}"
        for name in (*case.settings.get("sensitive", ()), *case.settings["insensitive"]):
            if not _unchanged(row[name], original[name]):
                yield f"{name}: {row[name]!r} was {original[name]!r}"


def _word(value: Any) -> Any:
    return str(value) if isinstance(value, int) else value


def _unchanged(text: str | None, value: Any) -> bool:
    return text in {None, ""} if value is None else text is not None and oracle.same(text, value)


def _promises(case: Case, found: list[list[oracle.Row]]) -> Iterator[str]:
    said = case.settings
    by_person = "subject" in said
    sizes = [len({row["person"] for row in rows}) if by_person else len(rows) for rows in found]
    if min(sizes, default=said["k"]) < said["k"]:
        yield f"a class of {min(sizes)}, k={said['k']}"
    if not by_person and "suppressed" not in said:
        yield from _risks(said, sizes)
    for column in said.get("sensitive", ()):
        for name, judge in _judges(case, column, found):
            # Of people with several rows only what holds of rows too is asked here.
            if (not by_person or name == "l-distinct") and not oracle.kept_by_all(found, column, judge):
                yield f"{name} of {column} is broken"


def _risks(said: dict[str, Any], sizes: list[int]) -> Iterator[str]:
    """Everybody is in the table: the chance to find a person is one over their class, for all attackers."""
    shown = [size for size in sizes if size]
    if not shown:
        return
    average = len(shown) / sum(shown)
    for name, figure in (
        ("average_risk", average),
        ("marketer_risk", average),
        ("journalist_risk", 1 / min(shown)),
        ("sample_uniqueness", shown.count(1) / sum(shown)),
    ):
        if name in said and figure > said[name] + 1e-9:
            yield f"{name}={figure:.3f}, asked {said[name]}"
    gain, cost = said.get("no_attack", (0.0, 1.0))
    if gain / min(shown) >= cost:
        yield f"an attack brings {gain / min(shown):.2f} and costs {cost}"


def _judges(case: Case, column: str, found: list[list[oracle.Row]]) -> Iterator[tuple[str, oracle.Judge]]:
    said = case.settings
    kinds: dict[str, Callable[[], oracle.Judge]] = {
        "l-distinct": lambda: oracle.distinct(said["l"]),
        "l-entropy": lambda: oracle.entropy(said["l"]),
        "l-grassberger": lambda: oracle.grassberger(said["l"]),
        "l-recursive": lambda: oracle.recursive(said["c"], said["l"]),
        "t-equal": lambda: oracle.equal_closeness(said["t"]),
        "t-kl": lambda: oracle.kl_closeness(said["t"]),
        "t-ordered": lambda: oracle.ordered_closeness(said["t"], _order(case, column, found)),
        "t-hierarchical": lambda: oracle.hierarchical_closeness(said["t"], case.trees[column]),
        "beta-basic": lambda: oracle.likeness(said["beta"], enhanced=False),
        "beta-enhanced": lambda: oracle.likeness(said["beta"], enhanced=True),
        "alpha": lambda: oracle.alpha(said["alpha"]),
        "delta_disclosure": lambda: oracle.disclosure(said["delta_disclosure"]),
    }
    usual = {"l": "distinct", "t": "equal", "beta": "basic"}
    for figure in ("l", "t", "beta", "alpha", "delta_disclosure"):
        if figure in said:
            kind = said.get(f"{figure}_kind", usual.get(figure))
            name = figure if kind is None else f"{figure}-{kind}"
            yield name, kinds[name]()


def _order(case: Case, column: str, found: list[list[oracle.Row]]) -> list[Any] | None:
    if column in case.settings.get("order", {}):
        return list(case.settings["order"][column])
    if column in case.trees:  # the leaves that are shown, in the order of the tree
        present = {row[column] for rows in found for row in rows}
        return [leaf for leaf in oracle.in_tree_order(case.trees[column]) if leaf in present]
    return None


def _presence(case: Case, found: list[list[oracle.Row]], hidden: int) -> Iterator[str]:
    said = case.settings
    low, high = said["delta_presence"]
    assert case.population is not None
    people = [
        {name: _word(person[name]) if name in case.trees else person[name] for name in said["quasi"]}
        for person in case.population
    ]
    chance, fits = oracle.chances(found, hidden, people, said["quasi"], case.trees)
    loose = said.get("known_absence") == "allowed"
    for likely, fitting in zip(chance, fits, strict=True):
        least = low if fitting or not loose else 0.0
        if not least - 1e-9 <= likely <= high + 1e-9:
            yield f"presence {likely:.3f} of a person, asked [{low}, {high}]"
            return


def shrunk(case: Case, folder: Path) -> Case:
    """Take away rows, settings and files as long as something is still wrong."""

    def wrong(tried: Case) -> bool:
        return bool(tried.rows) and bool(check_case(tried, folder)[1])

    for tried in (replace(case, format=None), replace(case, source="polars"), replace(case, database=False)):
        case = tried if tried != case and wrong(tried) else case
    for name in (
        "jitter",
        "suppress",
        "seed",
        "cells",
        "strategy",
        "bounds",
        "suppression_limit",
        "suppressed",
    ):
        fewer = {key: value for key, value in case.settings.items() if key != name}
        tried = replace(case, settings=fewer)
        case = tried if name in case.settings and wrong(tried) else case
    step = max(1, len(case.rows) // 2)
    while step:
        first = 0
        while first < len(case.rows):
            kept = [place for place in range(len(case.rows)) if not first <= place < first + step]
            tried = case.with_rows(kept)
            if wrong(tried):
                case = tried
            else:
                first += step
        step //= 2
    return case
