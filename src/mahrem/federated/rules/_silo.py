"""A client: a table that stays where it is, and answers in counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mahrem.arrays.mining import Bits, count_sets, eclat_sets, first_correct, first_match, pack_bits
from mahrem.errors import InvalidInput, MahremError
from mahrem.federated.rules._one_shot import without_few
from mahrem.federated.wire import Message
from mahrem.learning.rules import (
    CbaSettings,
    Items,
    RuleList,
    as_cells,
    cba,
    learn_items,
    least_rows,
    number_classes,
)
from mahrem.types import Codes, Integers

RulesProtection = Callable[[RuleList], RuleList]


@dataclass(frozen=True)
class ItemTable:
    """A client's rows as items, classes and bits."""

    columns: tuple[pl.Series, ...] = field(repr=False)
    target: pl.Series = field(repr=False)
    items: Items = field(repr=False)
    codes: Codes = field(repr=False)
    classes: tuple[str, ...]
    labels: Integers = field(repr=False)  # (n,) number of each row's class

    @cached_property
    def bits(self) -> Bits:
        """Who shows which item, by class."""
        return pack_bits(self.codes, len(self.items), self.labels, len(self.classes))

    @cached_property
    def number(self) -> Mapping[tuple[int, str], int]:
        """The number of each pair of column and cell."""
        return {pair: item for item, pair in enumerate(self.items.pairs())}

    @classmethod
    def read(cls, frame: Any, target: str) -> ItemTable:
        """Read a frame; rows without a class are left out."""
        cells = as_cells(frame)
        if target not in cells.columns:
            raise InvalidInput(f"target={target!r} is not a column of this table")
        if cells[target].null_count():
            cells = cells.filter(pl.col(target).is_not_null())
        labels = cells.get_column(target)
        columns = tuple(column for column in cells.get_columns() if column.name != target)
        if not columns:
            raise InvalidInput("columns=0: a table needs at least one besides the target")
        names, codes_of_class = number_classes(labels)
        items, codes = learn_items(columns)
        return cls(columns, labels, items, codes, tuple(names), codes_of_class)

    def refuse_columns(self, asked: Sequence[str]) -> None:
        """Refuse a question about other columns than these.

        Raises:
            InvalidInput: If it is one.
        """
        columns = list(self.items.columns)
        if sorted(asked) != sorted(columns):
            raise InvalidInput(
                f"columns={len(columns)}: this table's columns are not the {len(asked)} of the run"
            )

    def chosen(
        self, bits: Bits, columns: list[str], places: list[int], cells: list[str], classes: list[str]
    ) -> tuple[Bits, Integers]:
        """Give bits of these rows with the run's items, and the run's number of each class here."""
        place = {name: number for number, name in enumerate(self.items.columns)}
        ours = [place[name] for name in columns]
        items = [
            self.number.get((ours[column], cell), -1) for column, cell in zip(places, cells, strict=True)
        ]
        number = {label: code for code, label in enumerate(classes)}
        known = [number.get(label, len(classes)) for label in self.classes]
        return bits.chosen(np.array(items, np.int64)), np.array(known, np.int64)


@dataclass
class RulesSilo:
    """A client of the rule protocols.

    Args:
        frame: Its table; never leaves.
        target: The column to predict.
        protect: Applied to the rules of one-shot du-CBA before they leave: noise, disguise.
        least_count: Counts leave in multiples of this, rounded down, and a class of fewer people is not
            named. So each count, sum and difference is known to within this only. The rounding of many
            unions of the same cells tells more: :class:`AgreedClient` answers those of one run and no others.

    Only what a question of a known kind asks for is answered: items and sets that are frequent here,
    counts of sets, counts of rows that rules cover, or the rules of a classifier.
    """

    open_kind: ClassVar[str] = "frequent"
    frame: Any = field(repr=False)
    target: str = "class"
    protect: RulesProtection | None = field(default=None, repr=False)
    least_count: int = 1
    _table: ItemTable | None = field(default=None, repr=False)
    _last: tuple[list[Any], Bits, Integers] | None = field(default=None, repr=False)

    @property
    def table(self) -> ItemTable:
        """The table as bits, read on first use."""
        if self._table is None:
            self._table = ItemTable.read(self.frame, self.target)
        return self._table

    def answer(self, message: Message) -> Message:
        """Answer one question.

        Raises:
            InvalidInput: If the question is not for a table of this schema, or is none.
        """
        asked = {"frequent": self._frequent, "rules": self._rules}.get(message.kind)
        if asked is not None:
            return message.reply(**asked(message.body))
        return message.reply(numbers=self.numbers(message.kind, message.body))

    def numbers(self, kind: str, body: Mapping[str, object]) -> Integers:
        """Give the counts that a question asks for, as one vector, in whole groups of people."""
        asked = {"counts": self._counts, "cover": self._cover}.get(kind)
        if asked is None:
            raise InvalidInput(f"kind={kind!r} is no question that a client answers")
        with readable(kind):
            return whole_groups(asked(body), self.least_count)

    def _frequent(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Give sets that are frequent here: by the partition property nothing frequent at all is missed."""
        table = self.table
        table.refuse_columns(body["columns"])
        minimum = max(least_rows(body["support"], table.bits.rows), self.least_count)
        most = table.codes.shape[1] if body["longest"] is None else body["longest"]
        sets, counts = eclat_sets(
            table.bits, table.items.place, minimum, min(most, table.codes.shape[1]), by_rule=body["by_rule"]
        )
        return self._name_sets(table, sets, counts, table.bits.totals(), body)

    def _name_sets(
        self, table: ItemTable, sets: Any, counts: Integers, rows: Integers, body: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Name frequent sets by columns and cells, and the classes that enough ``rows`` have."""
        cut = 0
        if body["most"] is not None and len(sets) > body["most"]:
            weight = counts.max(axis=1, initial=0) if body["by_rule"] else counts.sum(axis=1)
            cut = len(sets) - body["most"]
            sets = sets[np.sort(np.argsort(-weight, kind="stable")[: body["most"]])]
        used = np.unique(sets[sets >= 0])
        number = np.full(len(table.items) + 1, -1, np.int64)
        number[used] = np.arange(len(used))
        names = body["columns"]
        place = np.array([names.index(name) for name in table.items.columns], np.int64)
        return {
            "classes": self._named_classes(table, rows),
            "places": place[table.items.place[used]],
            "cells": [table.items.cells[item] for item in used.tolist()],
            "sets": number[sets],
            "cut": cut,
            "least": self.least_count,
        }

    def _asked(self, body: Mapping[str, Any]) -> tuple[Bits, Integers]:
        """Give the table with the run's items, and the run's number of each of our classes."""
        named = [body[name] for name in ("columns", "places", "cells", "classes")]
        if self._last is None or self._last[0] != named:  # rounds of a run ask about the same items
            self.table.refuse_columns(body["columns"])
            self._last = named, *self.table.chosen(self.table.bits, *named)
        return self._last[1:]

    def _counts(self, body: Mapping[str, Any]) -> Integers:
        """Count all rows, then those of each set, by class."""
        bits, number = self._asked(body)
        sets = read_sets(body["sets"], len(bits.items))
        counts = count_sets(bits, sets, ordered=True)  # quick if neighbours share items
        table = np.zeros((len(sets) + 1, len(body["classes"])), np.int64)
        known = number < len(body["classes"])
        table[0, number[known]] = bits.totals()[known]
        table[1:, number[known]] = counts[:, known]
        return table.ravel()

    def _cover(self, body: Mapping[str, Any]) -> Integers:
        bits, number = self._asked(body)
        left = read_sets(body["left"], len(bits.items))
        return cover_counts(bits, number, left, body["right"], body["sure"] > 0, len(body["classes"]))

    def _rules(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Train CBA here and give its rules."""
        self.table.refuse_columns(body["columns"])
        settings = CbaSettings(**body["settings"])
        rules = cba(pl.DataFrame(self.table.columns).select(body["columns"]), self.table.target, settings)
        rules = without_few(rules, self.least_count) if self.least_count > 1 else rules
        rules = self.protect(rules) if self.protect else rules
        return {"rules": self._without_rare(rules.bare()).to_json().encode()}

    def _named_classes(self, table: ItemTable, rows: Integers) -> list[str]:
        """Name the classes that enough people have; that somebody has a rare one is not told either."""
        least = max(1, self.least_count)
        return [name for name, many in zip(table.classes, rows.tolist(), strict=True) if many >= least]

    def _without_rare(self, rules: RuleList) -> RuleList:
        if self.least_count == 1 or not self.table.classes:
            return rules
        named = self._named_classes(self.table, self.table.bits.totals())
        commonest = self.table.classes[int(self.table.bits.totals().argmax())]
        default = rules.default if rules.default in named else commonest
        return replace(rules, classes=tuple(sorted({*named, default})), default=default)


@contextmanager
def readable(kind: str) -> Iterator[None]:
    """Say of a question that cannot be read that it is one."""
    try:
        yield
    except (KeyError, IndexError, ValueError, TypeError) as error:
        if isinstance(error, MahremError):
            raise
        raise InvalidInput(f"kind={kind!r}: the question cannot be read ({type(error).__name__})") from None


def whole_groups(counts: Integers, least: int) -> Integers:
    """Give counts in multiples of the least group that may be spoken of, rounded down.

    Rounded down they keep what counts have among each other: parts are no more than the whole.

    Example:
        >>> whole_groups(np.array([3, 104, 105]), 5)
        array([  0, 100, 105])
    """
    return counts if least == 1 else counts - counts % least


def read_sets(sets: Integers, items: int) -> Any:
    """Read the sets of a question about so many items.

    Raises:
        InvalidInput: If they name others.
    """
    if sets.ndim != 2 or (sets.size and not -1 <= int(sets.min()) <= int(sets.max()) < items):
        raise InvalidInput(f"items={items}: the question names items that it does not list")
    return np.ascontiguousarray(sets, np.int32)


def cover_counts(
    bits: Bits,
    number: Integers,
    left: Any,
    right: Integers,
    sure: Any,
    classes: int,
    owner: Integers | None = None,
    owners: int = 1,
) -> Integers:
    """Count what a client's rows say about a list of rules of which some are sure to be kept.

    Args:
        bits: The rows.
        number: ``(classes here,)`` the run's number of each class; ``classes`` for one the run leaves out.
        left: ``(m, longest)`` left sides, best rule first.
        right: ``(m,)`` their classes.
        sure: ``(m,)`` rules that are kept for certain.
        classes: How many classes the run has.
        owner: ``(n,)`` whose row each is, where they are counted for several clients at once.
        owners: How many clients there are.

    Returns:
        One vector, or one for each of several clients: ``(m,)`` rows whose first right rule this is and that
        no sure rule before it takes, then ``(m + 1, classes)`` rows by class whose first rule it is, the last
        line for those without a rule.
    """
    rules = len(left)
    target = number[np.searchsorted(bits.starts, bits.place >> 6, side="right") - 1]
    at = np.full(classes + 1, len(number), np.int32)  # class of the run -> class here; one beyond for none
    at[number] = np.arange(len(number), dtype=np.int32)
    starts = np.append(bits.starts, bits.starts[-1])
    padded = Bits(bits.items, bits.everyone, starts, bits.place)
    matched = first_match(padded, left)
    correct = first_correct(padded, left, at[right])
    free = correct < rules
    if sure.any():
        which = np.flatnonzero(sure)
        taken = np.append(which, rules)[first_match(padded, np.ascontiguousarray(left[which]))]
        free &= taken >= correct
    whose = np.zeros(len(matched), np.int64) if owner is None else owner
    possible = np.bincount(whose[free] * rules + correct[free], minlength=owners * rules)
    counted = target < classes
    line = (rules + 1) * classes
    covered = np.bincount(
        whose[counted] * line + matched[counted].astype(np.int64) * classes + target[counted],
        minlength=owners * line,
    )
    both = np.hstack([possible.reshape(owners, rules), covered.reshape(owners, line)])
    return both[0] if owner is None else both
