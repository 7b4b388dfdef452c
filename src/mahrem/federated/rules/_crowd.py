"""Many tables of a simulation, counted in one go: each client gets its part of what one pass finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem.arrays.mining import Bits, count_sets, pack_bits
from mahrem.federated.rules._silo import ItemTable, RulesSilo, cover_counts, read_sets, whole_groups
from mahrem.federated.wire import Message
from mahrem.learning.rules import as_cells, least_rows
from mahrem.types import Integers

AT_ONCE = 512  # sets that are counted at once: wide counts of so many stay near the processor


@dataclass
class RulesCrowd:
    """All clients' rows as one table of bits, a class at a time and within it a client at a time.

    One question goes to all clients in turn. The first one that is asked counts for everybody.

    Args:
        table: All rows, in the order of the clients.
        client: ``(n,)`` whose row each is.
        clients: How many there are.
        names: What they are called, where they answer together (:class:`Household`).
        least_count: See :class:`RulesSilo`.

    Guarantees:
        - Each client's answers are those of a :class:`RulesSilo` with its rows.
    """

    table: ItemTable = field(repr=False)
    client: Integers = field(repr=False)
    clients: int
    names: tuple[str, ...] = field(default=(), repr=False)
    least_count: int = 1
    _named: list[Any] | None = field(default=None, repr=False)
    _chosen: tuple[Bits, Integers] | None = field(default=None, repr=False)
    _asked: tuple[Any, ...] = field(default=(), repr=False)
    _answer: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        classes = len(self.table.classes)
        group = self.table.labels * self.clients + self.client
        self.bits = pack_bits(self.table.codes, len(self.table.items), group, classes * self.clients)
        self.items = self._by_client(count_sets(self.bits, _singles(len(self.table.items))))
        self.rows = self._by_client(self.bits.totals()[None])[0]  # (classes, clients)
        self.shown = {
            True: self.items.max(axis=1, initial=0),
            False: self.items.sum(axis=1),
        }  # by rule, or not

    @classmethod
    def of(
        cls, frames: Mapping[str, pl.DataFrame], target: str, least_count: int = 1
    ) -> dict[str, CrowdSilo]:
        """Give the clients of some tables that have the same columns."""
        whole = as_cells(pl.concat(frames.values(), rechunk=True))  # many chunks are read slowly
        owner = np.repeat(np.arange(len(frames)), [frame.height for frame in frames.values()])
        kept = whole[target].is_not_null().to_numpy()
        table = ItemTable.read(whole, target)
        crowd = cls(table, owner[kept], len(frames), tuple(frames), least_count)
        return {
            name: CrowdSilo(frame, target, least_count=least_count, crowd=crowd, number=number)
            for number, (name, frame) in enumerate(frames.items())
        }

    def _by_client(self, counts: Integers) -> Integers:
        return counts.reshape(len(counts), len(self.table.classes), self.clients)

    def _once(self, kind: str, body: Mapping[str, object], parts: tuple[Any, ...]) -> bool:
        """Say whether a question is new; those after it in turn are not."""
        self._items_of(body)
        kind_before, *before = self._asked or ("",)
        same = kind == kind_before and all(
            old is new or np.array_equal(old, new) for old, new in zip(before, parts, strict=True)
        )
        self._asked = (kind, *parts)
        return not same

    def answer_together(self, message: Message, nodes: Sequence[str]) -> Message | None:
        """Answer for all clients in one message: numbers are ``(length, clients)``."""
        body = message.body
        if tuple(nodes) != self.names:
            return None
        if message.kind == "frequent":
            plain = body["longest"] == 1 and body["most"] is None
            return message.reply(**self._frequent(body)) if plain else None
        asked = {"counts": self._counts, "cover": self._cover}.get(message.kind)
        if asked is None:
            return None
        numbers = whole_groups(asked(body), self.least_count)
        return message.reply(numbers=numbers)

    def _frequent(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Name cells that are frequent somewhere, and at whom."""
        self.table.refuse_columns(body["columns"])
        rows = self.rows.sum(axis=0)
        least = {many: least_rows(body["support"], many) for many in set(rows.tolist())}
        minimum = np.maximum([least[many] for many in rows.tolist()], max(1, self.least_count))
        named = self.shown[bool(body["by_rule"])] >= minimum
        used = np.flatnonzero(named.any(axis=1))
        place = np.array([body["columns"].index(name) for name in self.table.items.columns], np.int64)
        return {
            "classes": list(self.table.classes),
            "has": (self.rows >= max(1, self.least_count)).astype(np.int8),
            "places": place[self.table.items.place[used]],
            "cells": [self.table.items.cells[item] for item in used.tolist()],
            "named": named[used].astype(np.int8),
            "least": self.least_count,
        }

    def _counts(self, body: Mapping[str, Any]) -> Integers:
        """Give ``(numbers, clients)`` what :meth:`counts` gives by client, in narrow numbers."""
        bits, number = self._items_of(body)
        sets = read_sets(body["sets"], len(bits.items))
        classes = len(body["classes"])
        narrow = np.min_scalar_type(int(self.rows.max(initial=0)))
        counts = np.zeros((len(sets) + 1, classes, self.clients), narrow)
        known = number < classes
        counts[0, number[known]] = self.rows[known]
        for at in range(0, len(sets), AT_ONCE):
            part = self._by_client(count_sets(bits, sets[at : at + AT_ONCE], ordered=True))
            for label in np.flatnonzero(known).tolist():
                counts[1 + at : 1 + at + AT_ONCE, number[label]] = part[:, label]
        return counts.reshape(-1, self.clients)

    def _cover(self, body: Mapping[str, object]) -> Integers:
        return np.ascontiguousarray(self.cover(body).T)

    def _items_of(self, body: Mapping[str, Any]) -> tuple[Bits, Integers]:
        """Give the table with the items and classes of a question; rounds of a run ask about the same."""
        named = [body[name] for name in ("columns", "places", "cells", "classes")]
        if self._named != named or self._chosen is None:
            self.table.refuse_columns(named[0])
            self._named, self._chosen = named, self.table.chosen(self.bits, *named)
            self._asked = ()
        return self._chosen

    def counts(self, body: Mapping[str, Any]) -> Integers:
        """Give ``(clients, sets + 1, classes)`` counts, those of all rows first."""
        if self._once("counts", body, (body["sets"],)) and self._chosen is not None:
            bits, number = self._chosen
            sets = read_sets(body["sets"], len(bits.items))
            counts = self._by_client(count_sets(bits, sets, ordered=True))
            known = number < len(body["classes"])
            table = np.zeros((self.clients, len(sets) + 1, len(body["classes"])), np.int32)
            table[:, 0, number[known]] = self.rows.T[:, known]
            for label in np.flatnonzero(known).tolist():
                table[:, 1:, number[label]] = counts[:, label].T
            self._answer = table
        return np.asarray(self._answer)

    def cover(self, body: Mapping[str, Any]) -> Integers:
        """Give ``(clients, numbers)`` what :func:`cover_counts` says of each client's rows."""
        parts = body["left"], body["right"], body["sure"]
        if self._once("cover", body, parts) and self._chosen is not None:
            bits, number = self._chosen
            by_class = Bits(bits.items, bits.everyone, bits.starts[:: self.clients], bits.place)
            left = read_sets(parts[0], len(bits.items))
            self._answer = cover_counts(
                by_class,
                number,
                left,
                parts[1],
                parts[2] > 0,
                len(body["classes"]),
                self.client,
                self.clients,
            )
        return np.asarray(self._answer)


def _singles(items: int) -> Any:
    return np.arange(items, dtype=np.int32)[:, None]


@dataclass
class CrowdSilo(RulesSilo):
    """A client whose rows are counted together with those of others in this process."""

    crowd: RulesCrowd = field(kw_only=True, repr=False)
    number: int = field(kw_only=True)

    @property
    def household(self) -> RulesCrowd | None:
        """Those who are counted together answer together, unless something is done to single answers."""
        same = self.protect is None and self.least_count == self.crowd.least_count
        return self.crowd if same else None

    def _frequent(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if body["longest"] != 1:
            return super()._frequent(body)
        crowd = self.crowd
        crowd.table.refuse_columns(body["columns"])
        counts, rows = crowd.items[:, :, self.number], crowd.rows[:, self.number]
        minimum = max(1, least_rows(body["support"], int(rows.sum())), self.least_count)
        frequent = np.flatnonzero(crowd.shown[bool(body["by_rule"])][:, self.number] >= minimum)
        sets = frequent[:, None] if len(frequent) else np.empty((0, 0), np.int64)
        return self._name_sets(crowd.table, sets, counts[frequent], rows, body)

    def _counts(self, body: Mapping[str, object]) -> Integers:
        return np.array(self.crowd.counts(body)[self.number].ravel())

    def _cover(self, body: Mapping[str, object]) -> Integers:
        return np.array(self.crowd.cover(body)[self.number])
