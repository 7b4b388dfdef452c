"""Who is in the classes of a tile, and what they still need: counts follow records as they come and go."""

from __future__ import annotations

from mahrem.arrays._kernel import lean
from mahrem.arrays.growing._costs import Workbench
from mahrem.arrays.growing._promises import Promises, rows_missing

__all__ = ["enter", "keeps_after", "keeps_whoever", "missing_after", "missing_now", "remove"]


@lean
def _alike(bench: Workbench, group: int, record: int, absent: int) -> tuple[bool, int]:
    """Say whether a class has another row of a record's person, and as bits which columns that one tells."""
    person, other, known_columns = bench.person[record], False, 0
    one = bench.head[group]
    while one >= 0:
        if bench.person[one] == person and one != record and one != absent:  # noqa: PLR1714 - no sets here
            other = True
            for column in range(bench.code.shape[0]):
                if bench.code[column, one] >= 0:
                    known_columns |= 1 << column
        one = bench.after[one]
    return other, known_columns


@lean
def _count(bench: Workbench, group: int, record: int, absent: int, step: int, by_person: bool) -> None:  # noqa: FBT001
    """Count a record into a class (1) or out of it (-1); ``absent`` is taken for no member."""
    other, known_columns = False, 0
    if by_person:
        if bench.person[record] < 0:
            return
        other, known_columns = _alike(bench, group, record, absent)
    if not other:
        bench.people[group] += step
    for column in range(bench.code.shape[0]):
        value = bench.code[column, record]
        if value >= 0 and not (known_columns >> column) & 1:
            bench.hist[column, group, value] += step
            bench.holders[column, group] += step


@lean
def _forget_answers(bench: Workbench, group: int) -> None:
    many = bench.kinds[0] + 1
    bench.known[group, :many, :many] = -1
    bench.whoever[group] = -1


@lean
def enter(bench: Workbench, promises: Promises, record: int, group: int) -> None:
    """Put a record into a class; what its cells cost is not worked out."""
    _count(bench, group, record, -1, 1, len(promises.person) > 0)
    bench.label[record] = group
    bench.after[record] = bench.head[group]
    bench.head[group] = record
    bench.size[group] += 1
    _forget_answers(bench, group)


@lean
def remove(bench: Workbench, promises: Promises, record: int) -> None:
    """Take a record out of its class; what its cells cost is not worked out."""
    group = bench.label[record]
    previous, one = -1, bench.head[group]
    while one != record:
        previous, one = one, bench.after[one]
    if previous < 0:
        bench.head[group] = bench.after[record]
    else:
        bench.after[previous] = bench.after[record]
    bench.size[group] -= 1
    bench.label[record] = -1
    _count(bench, group, record, -1, -1, len(promises.person) > 0)
    _forget_answers(bench, group)


@lean
def missing_now(bench: Workbench, promises: Promises, group: int) -> int:
    """Say how many rows, at least, a class lacks until every promise holds."""
    missing = max(0, promises.least - bench.people[group])
    for one in range(len(promises.kind)):
        column = promises.column[one]
        lacking = rows_missing(
            promises,
            one,
            bench.hist[column, group],
            bench.value[column],
            bench.many[column],
            bench.holders[column, group],
            bench.scratch,
        )
        missing = max(missing, lacking)
    return int(missing)


@lean
def missing_after(bench: Workbench, promises: Promises, group: int, gone: int, come: int) -> int:
    """Say the same of a class without one record and with another; -1 = none."""
    by_person = len(promises.person) > 0
    if not by_person and len(promises.kind) == 0:
        return int(max(0, promises.least - bench.people[group] + (gone >= 0) - (come >= 0)))
    if gone >= 0:
        _count(bench, group, gone, -1, -1, by_person)
    if come >= 0:
        _count(bench, group, come, gone, 1, by_person)
    missing = missing_now(bench, promises, group)
    if come >= 0:
        _count(bench, group, come, gone, -1, by_person)
    if gone >= 0:
        _count(bench, group, gone, -1, 1, by_person)
    return int(missing)


@lean
def keeps_after(bench: Workbench, promises: Promises, group: int, gone: int, come: int) -> bool:
    """Say whether a class that keeps every promise still does so without one record and with another.

    Where combinations of values are few, an answer is remembered until the class changes.
    """
    if bench.kinds[0] == 0:
        return missing_after(bench, promises, group, gone, come) == 0
    left = bench.joint[gone] + 1 if gone >= 0 else 0
    right = bench.joint[come] + 1 if come >= 0 else 0
    if left == right and left > 0:
        return True
    if bench.known[group, left, right] < 0:
        bench.known[group, left, right] = missing_after(bench, promises, group, gone, come) == 0
    return bool(bench.known[group, left, right] == 1)


@lean
def keeps_whoever(bench: Workbench, promises: Promises, group: int, gone: int, come: int) -> bool:
    """Say whether a class still keeps every promise whichever member leaves and whoever comes instead.

    So the answer is about the class and the same for all its members: it does not tell whose value is which.
    Where combinations of values are many, only the one that comes is asked about.
    """
    if len(promises.kind) == 0:
        return keeps_after(bench, promises, group, gone, come)
    if bench.kinds[0] == 0:
        return _keeps_all(bench, promises, group, gone, come, 0)
    left, right = int(gone >= 0), int(come >= 0)
    if bench.whoever[group, left, right] < 0:
        kinds = bench.kinds[0] * right
        bench.whoever[group, left, right] = _keeps_all(bench, promises, group, gone, come, kinds)
    return bool(bench.whoever[group, left, right] == 1)


@lean
def _keeps_all(bench: Workbench, promises: Promises, group: int, gone: int, come: int, kinds: int) -> bool:
    """Ask for every member in place of the one that leaves, and each combination in place of what comes."""
    one = bench.head[group] if gone >= 0 else -1
    while True:
        for kind in range(max(1, kinds)):
            if not keeps_after(bench, promises, group, one, bench.example[kind] if kinds > 0 else come):
                return False
        if one >= 0:
            one = bench.after[one]
        if one < 0:
            return True
