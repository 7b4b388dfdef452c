"""Promises about people with several rows, by trying choices: slow, and no code of mahrem.

A promise holds for people if it holds however one of their values is chosen for each of them, once in their
class and once in the table. All choices are too many: for every value those are tried that put as many people
as can be on it in the class and as few as can be in the table, the other way round, and some at random.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Judge = Callable[[list[Any], list[Any]], bool]
Held = dict[Hashable, set[Any]]  # of a person: the values they show
_AT_RANDOM = 8


def held_by(rows: Sequence[Row], person: str, column: str, *, without: bool) -> Held:
    """Say who shows what; ``without`` leaves out cells without a value."""
    held: defaultdict[Hashable, set[Any]] = defaultdict(set)
    for row in rows:
        if row[column] is not None or not without:
            held[row[person]].add(row[column])
    return dict(held)


def kept_for_people(found: list[list[Row]], person: str, column: str, judge: Judge) -> bool:
    """Judge all classes, with cells without a value as a value of their own and without them."""
    everybody = [row for rows in found for row in rows]
    for without in (False, True):
        table = held_by(everybody, person, column, without=without)
        for rows in found:
            inside = held_by(rows, person, column, without=without)
            if not inside or not all(judge(*choice) for choice in _choices(inside, table)):
                return False
    return True


def _choices(inside: Held, table: Held) -> Iterator[tuple[list[Any], list[Any]]]:
    yield _taken(inside, _commonest(inside)), _taken(table, _commonest(table))
    for value in {value for held in table.values() for value in held}:
        yield _pushed(inside, value, more=True), _pushed(table, value, more=False)
        yield _pushed(inside, value, more=False), _pushed(table, value, more=True)
    rng = random.Random(len(table))
    for _ in range(_AT_RANDOM):
        drawn = [[rng.choice(sorted(held, key=repr)) for held in side.values()] for side in (inside, table)]
        yield drawn[0], drawn[1]


def _commonest(held: Held) -> list[Any]:
    counts = Counter(value for values in held.values() for value in values)
    return [value for value, _ in sorted(counts.items(), key=lambda pair: (-pair[1], repr(pair[0])))]


def _taken(held: Held, order: list[Any]) -> list[Any]:
    """For everybody the first of their values in an order."""
    return [min(values, key=order.index) for values in held.values()]


def _pushed(held: Held, value: Any, *, more: bool) -> list[Any]:
    """Choose a value for whoever has it, or for nobody who has another."""
    order = [other for other in _commonest(held) if other != value]
    return _taken(held, [value, *order] if more else [*order, value])


def trajectories(rows: Sequence[Row], person: str, quasi: Sequence[str]) -> list[list[Row]]:
    """Give the rows of people who show the same as often: whoever knows all about one looks for these."""
    shown: defaultdict[Hashable, list[Row]] = defaultdict(list)
    for row in rows:
        if row[person] is not None:
            shown[row[person]].append(row)
    alike: defaultdict[Any, list[Row]] = defaultdict(list)
    for own in shown.values():
        cells = Counter(tuple(row[name] for name in quasi) for row in own)
        alike[frozenset(cells.items())] += own
    return list(alike.values())
