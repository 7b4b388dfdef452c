"""A slow reader of published tables: the promises and the grammar of cells from their definitions alone.

It shares no code with mahrem. Tables are lists of rows, rows are dictionaries, a missing value is None.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

Row = Mapping[str, Any]
Trees = Mapping[str, Sequence[Sequence[str]]]  # of a column: each value and its ancestors
_CLOSE = 1e-6


def unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"')


def members(text: str) -> list[str | None]:
    """Read a set such as ``{flu, "a, b", }`` sign by sign."""
    found: list[str | None] = []
    place, end = 1, len(text) - 1
    while place <= end:
        while place < end and text[place] == " ":
            place += 1
        if text[place] == '"':
            start = place
            place += 1
            while text[place] != '"' or text[place + 1 : place + 2] == '"':
                place += 2 if text[place] == '"' else 1
            place += 1
            found.append(unquoted(text[start:place]))
        else:
            start = place
            while place < end and text[place] != ",":
                place += 1
            found.append(text[start:place].rstrip(" ") or None)
        while place < end and text[place] == " ":
            place += 1
        place += 1
    return found


def number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def same(text: str, value: object) -> bool:
    """Say whether a text is a value as a file would write it."""
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if isinstance(value, int | float):
        return number(text) == value
    if isinstance(value, date):
        other = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001
        return moment(text) == other
    return isinstance(value, str) and text.strip() == value.strip()  # blanks around a word do not count


def holds_value(cell: str | None, value: object, ancestors: Sequence[str] = ()) -> bool:
    """Say whether a published cell allows a value."""
    if cell == "*":
        return True
    if cell is None or cell == "":
        return value is None
    if cell.startswith("{") and cell.endswith("}") and cell not in ancestors:
        found = members(cell)
        if value is None:
            return None in found
        return any(member is not None and same(member, value) for member in found)
    if value is None:
        return False
    if cell in ancestors or (cell.startswith('"') and cell.endswith('"') and unquoted(cell) in ancestors):
        return True
    if ranged := re.fullmatch(r"\[([^\[\],]+), ([^\[\],]+)\]", cell):
        return _within(value, ranged[1], ranged[2])
    if quoted := re.fullmatch(r'("(?:[^"]|"")*")(\**)', cell):
        bare = unquoted(quoted[1])
        return str(value).startswith(bare) if quoted[2] else same(bare, value)
    if cell.endswith("*"):
        return str(value).startswith(cell.rstrip("*"))
    return same(cell, value)


def _within(value: object, low: str, high: str) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        ends = number(low), number(high)
        return None not in ends and ends[0] <= value <= ends[1]  # type: ignore[operator]
    if isinstance(value, date):
        moments = moment(low), moment(high)
        at = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001
        return None not in moments and moments[0] <= at <= moments[1]  # type: ignore[operator]
    return False


def meant(value: Any) -> Any:
    """What a reader takes a sensitive cell for: spellings of one word are one, words for nothing are none."""
    if not isinstance(value, str):
        return value
    signs = (sign for sign in unicodedata.normalize("NFKC", value) if unicodedata.category(sign) != "Cf")
    word = " ".join("".join(signs).casefold().split())
    return None if word in {"", "*", "?", "na", "n/a", "nan", "null"} else word


def classes(rows: Iterable[Row], quasi: Sequence[str]) -> list[list[Row]]:
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in quasi)].append(row)
    return list(groups.values())


# Promises: each takes the values of a class and of the whole table, and says whether it is kept.

Judge = Callable[[list[Any], list[Any]], bool]


def shares(values: Sequence[Any]) -> dict[Any, float]:
    return {value: times / len(values) for value, times in Counter(values).items()}


def distinct(least: float) -> Judge:
    return lambda inside, _: len(set(inside)) >= least


def entropy(least: float) -> Judge:
    def judge(inside: list[Any], _: list[Any]) -> bool:
        return math.exp(-sum(p * math.log(p) for p in shares(inside).values())) >= least - _CLOSE

    return judge


def grassberger(least: float) -> Judge:
    def psi(x: float) -> float:  # by its recurrence up to where the series is exact
        below = sum(1 / (x + step) for step in range(40))
        y = x + 40
        return math.log(y) - 1 / (2 * y) - 1 / (12 * y**2) + 1 / (120 * y**4) - below

    def part(n: int) -> float:
        return n * (psi(n) + (-1) ** n * (psi((n + 1) / 2) - psi(n / 2)) / 2)

    def judge(inside: list[Any], _: list[Any]) -> bool:
        counts = Counter(inside).values()
        mixed = math.exp(math.log(len(inside)) - sum(map(part, counts)) / len(inside))
        return min(mixed, len(counts)) >= least - _CLOSE

    return judge


def recursive(c: float, least: int) -> Judge:
    def judge(inside: list[Any], _: list[Any]) -> bool:
        counts = sorted(Counter(inside).values(), reverse=True)
        return counts[0] < c * sum(counts[least - 1 :])

    return judge


def equal_closeness(t: float) -> Judge:
    def judge(inside: list[Any], table: list[Any]) -> bool:
        p, q = shares(inside), shares(table)
        return sum(abs(p.get(value, 0) - share) for value, share in q.items()) / 2 <= t + _CLOSE

    return judge


def kl_closeness(t: float) -> Judge:
    def judge(inside: list[Any], table: list[Any]) -> bool:
        q = shares(table)
        return sum(p * math.log(p / q[value]) for value, p in shares(inside).items()) <= t + _CLOSE

    return judge


def ordered_closeness(t: float, order: Sequence[Any] | None) -> Judge:
    """Values in their order, one step apart; a missing one is the last."""

    def judge(inside: list[Any], table: list[Any]) -> bool:
        present = {value for value in [*table, *inside] if value is not None}
        steps: list[Any] = sorted(present) if order is None else list(order)
        steps += [None] * (None in table or None in inside)
        p, q, above, moved = shares(inside), shares(table), 0.0, 0.0
        for value in steps[:-1]:
            above += p.get(value, 0) - q.get(value, 0)
            moved += abs(above)
        return moved / max(len(steps) - 1, 1) <= t + _CLOSE

    return judge


def in_tree_order(rows: Sequence[Sequence[str]]) -> list[str]:
    """The leaves of a tree, those under one node side by side, nodes in the order in which they come."""
    first = [
        {tuple(row[level:]): place for place, row in reversed(list(enumerate(rows)))}
        for level in range(len(rows[0]))
    ]
    return [
        row[0]
        for row in sorted(
            rows, key=lambda row: [first[level][tuple(row[level:])] for level in range(len(row) - 1, -1, -1)]
        )
    ]


def hierarchical_closeness(t: float, rows: Sequence[Sequence[str]]) -> Judge:
    """At each level below the root, half of what the nodes differ by; the mean over the levels.

    A tree says ``*`` on top of its last column; a missing value has a branch of its own.
    """
    height = len(rows[0])

    def judge(inside: list[Any], table: list[Any]) -> bool:
        paths: dict[Any, Sequence[Any]] = {row[0]: row for row in rows}
        paths[None] = (None,) * height
        p, q, moved = shares(inside), shares(table), 0.0
        for level in range(height):
            differ: dict[Any, float] = defaultdict(float)
            for value in q.keys() | p.keys():  # of people, a class may say what the table then does not
                differ[tuple(paths[value][level:])] += p.get(value, 0) - q.get(value, 0)
            moved += sum(map(abs, differ.values())) / 2
        return moved / height <= t + _CLOSE

    return judge


def alpha(most: float) -> Judge:
    return lambda inside, _: max(shares(inside).values()) <= most + _CLOSE


def likeness(beta: float, *, enhanced: bool) -> Judge:
    def judge(inside: list[Any], table: list[Any]) -> bool:
        q = shares(table)
        bound = {value: min(beta, -math.log(share)) if enhanced else beta for value, share in q.items()}
        return all((p - q[value]) / q[value] <= bound[value] + _CLOSE for value, p in shares(inside).items())

    return judge


def disclosure(delta: float) -> Judge:
    def judge(inside: list[Any], table: list[Any]) -> bool:
        p = shares(inside)
        return all(
            value in p and abs(math.log(p[value] / q)) < delta + _CLOSE for value, q in shares(table).items()
        )

    return judge


def kept_by_all(found: list[list[Row]], column: str, judge: Judge) -> bool:
    """Judge all classes of a table, with cells without a value as a value of their own and without them."""

    def kept(values: Callable[[list[Row]], list[Any]]) -> bool:
        table = [value for rows in found for value in values(rows)]
        insides = [values(rows) for rows in found]
        return all(inside and judge(inside, table) for inside in insides)

    everything = kept(lambda rows: [row[column] for row in rows])
    return everything and kept(lambda rows: [row[column] for row in rows if row[column] is not None])


def fitting(
    found: list[list[Row]], people: Sequence[Row], quasi: Sequence[str], trees: Trees
) -> tuple[list[int], int]:
    """How many people each class fits, and how many no class fits; a class of stars is what fits nobody."""
    inside = [_inside(rows[0], people, quasi, trees) for rows in found if not _starred(rows[0], quasi)]
    rest = len(people) - len(set().union(*inside))
    return [*map(len, inside), *([rest] if len(inside) < len(found) else [])], rest


def _starred(cells: Row, quasi: Sequence[str]) -> bool:
    return all(cells[name] == "*" for name in quasi)


def _inside(cells: Row, people: Sequence[Row], quasi: Sequence[str], trees: Trees) -> set[int]:
    paths = {name: {row[0]: row for row in rows} for name, rows in trees.items()}
    return {
        place
        for place, person in enumerate(people)
        if all(
            holds_value(cells[name], person[name], paths.get(name, {}).get(person[name], ()))
            for name in quasi
        )
    }


def chances(
    found: list[list[Row]], hidden: int, population: Sequence[Row], quasi: Sequence[str], trees: Trees
) -> tuple[list[float], list[bool]]:
    """How likely each person is in the table, and whether a class shows something that fits them."""
    chance, fits = [0.0] * len(population), [False] * len(population)
    for rows in found:
        if _starred(rows[0], quasi):
            hidden += len(rows)
            continue
        inside = _inside(rows[0], population, quasi, trees)
        for person in inside:
            chance[person] += len(rows) / len(inside)
            fits[person] = True
    rest = fits.count(False)
    for person, fitting in enumerate(fits):
        if not fitting:
            chance[person] += min(hidden, rest) / rest
        elif hidden > rest:
            chance[person] += (hidden - rest) / (len(fits) - rest)
    return chance, fits
