"""Release a random case and have the slow oracle look at what was published."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import mahrem as mh
import population_oracle as population
import published_oracle as oracle
from case_forms import Rows, as_can_be, given, published, target
from mahrem.errors import GuaranteeBroken, Infeasible, MahremError
from mahrem.table import Hierarchy
from people_oracle import kept_for_people, trajectories
from random_cases import RISKS, Case

ANY_TABLE = {"csv", "tsv", "parquet", "arrow"}  # formats that hold whatever a table holds


def check_case(case: Case, folder: Path) -> tuple[str, list[str]]:
    """Give what came of a case (``released``, ``infeasible``, ``refused``) and what is wrong with it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    case = as_can_be(case)
    said = _said(case, folder)
    table, reading = given(case, folder)
    try:
        release = mh.anonymize(table, **said, **reading)
    except GuaranteeBroken as error:
        return "broken", [f"guarantee broken: {error}"]
    except MahremError as error:
        outcome = "infeasible" if isinstance(error, Infeasible) else "refused"
        return outcome, _refused_in_vain(case, table, reading, folder)
    except Exception as error:  # noqa: BLE001 - any other is a fault
        return "broken", [f"crash: {type(error).__name__}: {error}"]
    wrong = [fault for rows in published(case, release, folder) for fault in _faults(case, rows)]
    if case.format is not None and "subject" not in said:
        again = {name: said[name] for name in ("hierarchy", "population") if name in said}
        if not mh.audit(folder / "release", **again).holds:
            wrong.append("its own audit says that it does not hold")
    return "released", wrong


def _refused_in_vain(case: Case, table: Any, reading: dict[str, Any], folder: Path) -> list[str]:
    """What cannot be written into a folder cannot be published without one: the promises are the same."""
    if case.format not in ANY_TABLE:
        return []
    try:
        mh.anonymize(table, **_said(replace(case, format=None, database=None), folder), **reading)
    except MahremError:
        return []
    return ["it is refused only where a folder is written"]


def _said(case: Case, folder: Path) -> dict[str, Any]:
    said = dict(case.settings)
    if case.trees:
        said["hierarchy"] = {name: Hierarchy.from_rows(rows) for name, rows in case.trees.items()}
    if case.population is not None:
        said["population"] = case.everyone
    if case.format is not None:
        said |= {"format": case.format, "output": folder / "release"}
    return said | target(case, folder)


def _faults(case: Case, rows: Rows) -> Iterator[str]:
    expected = _expected(case)
    names = list(rows[0]) if rows else []
    if names and names != _columns(case, names):
        yield f"columns {names}"
        return
    if len(rows) != len(expected):
        yield f"{len(rows)} rows published, {len(expected)} expected"
        return
    hidden = [row for row in rows if row["tag"] in {None, "*"}]
    shown = [row for row in rows if row["tag"] not in {None, "*"}]
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
        {**_folded(case, original), **{name: row[name] for name in _quasi(case, names)}}
        for row, original in zip(shown, originals, strict=True)
    ]
    found = oracle.classes(joined, _quasi(case, names))
    yield from _promises(case, found)
    if "pseudonym" in case.settings:
        yield from _tied(case, joined, shown, _quasi(case, names))
    if "delta_presence" in case.settings:
        yield from _presence(case, found, len(hidden))
    elif case.population is not None:
        yield from _mapped(case, found, len(hidden))


def _folded(case: Case, row: dict[str, Any]) -> dict[str, Any]:
    """Give a row with its sensitive values as a reader takes them, however they are spelt."""
    return {**row, **{name: oracle.meant(row[name]) for name in case.settings.get("sensitive", ())}}


def _tag(row: dict[str, Any]) -> str:
    return str(int(float(row["tag"])))


def _expected(case: Case) -> Rows:
    """Give the rows that must be published, suppressed ones too."""
    judged = _judged(case)
    if case.settings["missing"] == "drop-any":
        judged += [name for name in case.settings["insensitive"] if name not in _silent(case)]
    if not case.settings["missing"].startswith("drop"):
        return case.rows
    return [row for row in case.rows if all(row[name] is not None for name in judged)]


def _judged(case: Case) -> list[str]:
    """Name the columns in which a missing value counts: not those that show nothing anyway."""
    judged = [*case.settings["quasi"], *case.settings.get("sensitive", ())]
    return [name for name in judged if name not in _silent(case)]


def _silent(case: Case) -> Sequence[str]:
    return case.settings.get("suppress", ())


def _columns(case: Case, names: Sequence[str]) -> list[str]:
    plain = [name for name in case.types if name != "person" or "pseudonym" in case.settings]
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
    judged = _judged(case)
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
    if sizes and case.population is None:
        yield from _risks(said, sizes)
    yield from _values(case, found, by_person=by_person)


def _values(case: Case, found: list[list[oracle.Row]], *, by_person: bool) -> Iterator[str]:
    """Judge what is promised about sensitive values, of rows or of people."""
    for column in case.settings.get("sensitive", ()):
        for name, judge in _judges(case, column, found):
            kept = (
                kept_for_people(found, "person", column, judge)
                if by_person
                else oracle.kept_by_all(found, column, judge)
            )
            if not kept:
                yield f"{name} of {column} is broken"


def _risks(said: dict[str, Any], sizes: list[int]) -> Iterator[str]:
    """Compare what the sizes of classes tell, of the table or of the population behind it."""
    fraction, worst = said.get("fraction", 1.0), min(sizes)
    figures: dict[str, Callable[[], float]] = {
        "average_risk": lambda: population.average(sizes),
        "marketer_risk": lambda: population.marketer(sizes, fraction),
        "journalist_risk": lambda: population.journalist(worst, fraction),
        "sample_uniqueness": lambda: sizes.count(1) / sum(sizes),
        "population_uniqueness": lambda: population.uniqueness(sizes, fraction),
    }
    for name in RISKS:
        if name in said and name in figures and (figure := figures[name]()) > said[name] + 1e-6:
            yield f"{name}={figure:.3f}, asked {said[name]}"
    if "k_map" in said and worst < population.k_map_rows(said["k_map"], fraction):
        yield f"k_map={said['k_map']}: a class of {worst}"
    gain, cost = said.get("no_attack", (0.0, 1.0))
    if gain * population.journalist(worst, fraction) >= cost:
        yield f"an attack brings {gain * population.journalist(worst, fraction):.2f} and costs {cost}"


def _tied(case: Case, joined: Rows, shown: Rows, quasi: Sequence[str]) -> Iterator[str]:
    """So many people share all that the rows with one pseudonym show, and keep the promises about values."""
    names = {(original["person"], row["person"]) for original, row in zip(joined, shown, strict=True)}
    if any(len({pair[side] for pair in names}) != len(names) for side in (0, 1)):
        yield "a pseudonym stands for two people, or a person has two"
    if any(person is not None and person == pseudonym for person, pseudonym in names):
        yield "a pseudonym is the name itself"
    alike = trajectories(joined, "person", quasi)
    fewest = min((len({row["person"] for row in rows}) for rows in alike), default=math.inf)
    if fewest < case.settings["trajectory_k"]:
        yield f"a trajectory of {fewest}, trajectory_k={case.settings['trajectory_k']}"
    for fault in _values(case, alike, by_person=True):
        yield f"among people of one trajectory {fault}"


def _mapped(case: Case, found: list[list[oracle.Row]], hidden: int) -> Iterator[str]:
    """Every class fits so many people of the population, and so does what is hidden."""
    fitting, rest = oracle.fitting(found, _everybody(case), case.settings["quasi"], case.trees)
    fewest = min([*fitting, *([rest] if hidden else [])], default=math.inf)
    if fewest < case.settings["k_map"]:
        yield f"a class fits {fewest} people, k_map={case.settings['k_map']}"


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
    chance, fits = oracle.chances(found, hidden, _everybody(case), said["quasi"], case.trees)
    loose = said.get("known_absence") == "allowed"
    for likely, fitting in zip(chance, fits, strict=True):
        least = low if fitting or not loose else 0.0
        if not least - 1e-9 <= likely <= high + 1e-9:
            yield f"presence {likely:.3f} of a person, asked [{low}, {high}]"
            return


def _everybody(case: Case) -> list[oracle.Row]:
    return [
        {name: _word(person[name]) if name in case.trees else person[name] for name in case.settings["quasi"]}
        for person in case.population or ()
    ]


def shrunk(case: Case, folder: Path) -> Case:
    """Take away rows, settings and files as long as something is still wrong."""

    def wrong(tried: Case) -> bool:
        return bool(tried.rows) and bool(check_case(tried, folder)[1])

    for tried in (replace(case, format=None), replace(case, source="polars"), replace(case, database=None)):
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
        *RISKS,
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
