"""Exact du-CBA: the classifier CBA would learn from all clients' rows together, from counts alone."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from mahrem import check
from mahrem.arrays.mining import ItemMatrix
from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.rules._candidates import Outlook, check_sets, next_levels, union
from mahrem.federated.rules._coverage import cover_together
from mahrem.federated.sums import Adder, PlainSum
from mahrem.federated.wire import Message, MessageGrid, ask_all, ask_together
from mahrem.learning.rules import CbaSettings, ClassRules, Items, RuleList, class_rules, cut_list, least_rows
from mahrem.types import Floats, Integers, Mask

if TYPE_CHECKING:
    from mahrem.federated.rules._plan import RulesPlan

Candidates: TypeAlias = Literal["levels", "partition"]
_GROUPED = "counts are sent in multiples of {}, rounded down"
LARGEST_COUNT = 1 << 33  # rows of one class; a sum of more could go round 64 bits and come out small


@dataclass(frozen=True, kw_only=True)
class ExactSettings:
    """How exact du-CBA is run.

    - ``candidates``: ``levels`` asks each client once for the items that are frequent there, then counts
      sets of two, three ... items over all clients, several sizes at once while they are few. ``partition``
      asks for all sets that are frequent at a client and counts their union at once: fewest rounds, but the
      union explodes where clients are small or differ, and the server learns what is frequent where.
    - ``most``: a client names at most so many sets; those it leaves out may make the model inexact.
    - ``least_count``: what the clients' own minimum count is; above 1 the model is not exact.
    - ``recount``: where single counts are hidden and a client is lost after it was counted, count again
      without it. The difference of the two sums is then that client's counts; so the run stops unless asked.
    - ``least_clients``: fewer than this and there is no model.
    """

    cba: CbaSettings = field(default_factory=CbaSettings)
    candidates: Candidates = "levels"
    most: int | None = None
    least_count: int = 1
    recount: bool = False
    least_clients: int = 1

    def __post_init__(self) -> None:
        check.one_of(get_args(Candidates), candidates=self.candidates)
        check.at_least(1, least_clients=check.whole(least_clients=self.least_clients))
        check.at_least(1, least_count=check.whole(least_count=self.least_count))
        if self.most is not None:
            check.at_least(1, most=check.whole(most=self.most))

    @property
    def least(self) -> int:
        """The least clients of a run."""
        return self.least_clients


@dataclass(frozen=True)
class RulesResult:
    """A federated model and how it came about."""

    model: RuleList
    exact: bool  # equals CBA on the pooled rows of ``nodes``
    why: tuple[str, ...]  # why it may not
    nodes: tuple[str, ...]  # whose rows are in it
    left_out: Mapping[str, str]  # the others, and why
    rounds: Mapping[str, int]  # questions of each kind
    candidates: int  # sets that were counted


@dataclass
class _Run:
    """One run of the protocol: who is still in it, and what everybody agreed on."""

    grid: MessageGrid
    columns: tuple[str, ...]
    settings: ExactSettings | RulesPlan
    adder: Adder
    nodes: list[str]
    agreed: frozenset[str] = frozenset()  # classes; any where there are none
    left_out: dict[str, str] = field(default_factory=dict)
    rounds: dict[str, int] = field(default_factory=dict)
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    classes: list[str] = field(default_factory=list)
    pairs: list[tuple[int, str]] = field(default_factory=list)
    why: list[str] = field(default_factory=list)
    summed: bool = False  # a sum over exactly these clients is known
    totals: Integers | None = None  # all rows by class, once they are counted

    def question(self, kind: str, body: Mapping[str, object]) -> Message:
        self.rounds[kind] = self.rounds.get(kind, 0) + 1
        return Message(kind, self.name, sum(self.rounds.values()), body)

    def shared(self, **body: Any) -> dict[str, Any]:
        places, cells = [place for place, _ in self.pairs], [cell for _, cell in self.pairs]
        return {
            "columns": list(self.columns),
            "classes": self.classes,
            "places": places,
            "cells": cells,
            **body,
        }

    def take_classes(self, named: Iterable[str]) -> None:
        """Take the classes that clients have, as far as they were agreed on.

        Raises:
            Infeasible: If there are none.
        """
        known = set(named)
        self.classes = sorted(known & self.agreed if self.agreed else known)
        if not self.classes:
            raise Infeasible(f"clients={len(self.nodes)}: none of them has a row with a class", reached=0)
        if len(self.classes) < len(known):
            self.why.append("rows of classes that were not agreed on are left out")

    def leave_out(self, failures: Mapping[str, str]) -> None:
        self.left_out.update(failures)
        self.nodes = [node for node in self.nodes if node not in failures]
        if len(self.nodes) < self.settings.least or not self.nodes:
            reasons = "; ".join(f"{node}: {why}" for node, why in sorted(self.left_out.items())[:3])
            raise Infeasible(
                f"clients={len(self.nodes)}: at least {max(1, self.settings.least)} must stay to the "
                f"end; left out {len(self.left_out)} ({reasons})",
                reached=len(self.nodes),
            )

    def add(self, kind: str, body: Mapping[str, object], classes: int, rows: int) -> Integers:
        """Ask for counts and add them up; raises :class:`_Fewer` if one that was counted is lost."""
        length = rows * classes if kind == "counts" else rows + (rows + 1) * classes
        summed = self.adder(
            self.grid,
            self.nodes,
            self.question(kind, body),
            _Faults(kind, length, classes, self.totals),
        )
        lost = set(self.nodes) - set(summed.nodes)
        self.leave_out({node: summed.failures.get(node, "no answer in time") for node in lost})
        if lost and self.summed:
            if self.adder.hides and not self.settings.recount:
                raise Infeasible(
                    f"clients={len(self.nodes)}: {len(lost)} were lost after they had been counted; a sum "
                    f"without them would tell their counts; allow it with recount=True or start again later",
                    reached=len(self.nodes),
                )
            self.summed = False
            raise _Fewer
        self.summed = True
        return summed.total


class _Fewer(Exception):
    """A client was lost; what was counted with it is not what the others count."""


@dataclass(frozen=True)
class _Faults:
    """What can be wrong with counts: their number, a sign, or more rows than there are."""

    kind: str
    length: int
    classes: int
    totals: Integers | None

    def __call__(self, numbers: Integers) -> str | None:
        return self.of_many(numbers[None])[0]

    def of_many(self, numbers: Integers) -> list[str | None]:
        """See :class:`FaultOfMany`."""
        if numbers.shape[1:] != (self.length,):
            return [f"numbers={numbers[0].size}: {self.length} were asked for"] * len(numbers)
        reasons: list[str | None] = [None] * len(numbers)
        faults = [self._beyond(numbers)]
        if numbers.dtype.kind == "i":  # narrow numbers without a sign can be neither
            most: Mask = np.asarray((numbers[:, : self.classes] > LARGEST_COUNT).any(axis=1))
            below: Mask = np.asarray(numbers.min(axis=1, initial=0) < 0)
            faults += [(most, "more rows than there are people"), (below, "a count is below 0")]
        for wrong, why in faults:  # the last that is wrong is told
            for client in np.flatnonzero(wrong).tolist():
                reasons[client] = why
        return reasons

    def _beyond(self, numbers: Integers) -> tuple[Mask, str]:
        """Say whose sets have more rows than the table, or whose rules cover more than all have."""
        clients, classes = len(numbers), self.classes
        if self.kind == "counts":
            rows, beyond = numbers[:, :classes], np.zeros(clients, np.bool_)
            for label in range(classes):  # a class at a time: long rows of numbers are compared quickly
                beyond |= (numbers[:, classes + label :: classes] > rows[:, label, None]).any(axis=1)
            return beyond, "a set has more rows than the table"
        why = "rules cover more rows than all tables have"
        if self.totals is None:
            return np.zeros(clients, np.bool_), why
        rules = (self.length - classes) // (classes + 1)
        held = np.minimum(numbers.astype(np.int64), LARGEST_COUNT)  # so that no sum goes round 64 bits
        covered = np.array([held[:, rules + label :: classes].sum(axis=1) for label in range(classes)]).T
        right = held[:, :rules].sum(axis=1)
        too_many = (covered > self.totals).any(axis=1) | (right > int(self.totals.sum()))
        return np.asarray(too_many), why


def learn_exact(
    grid: MessageGrid,
    columns: Sequence[str],
    settings: ExactSettings | RulesPlan | None = None,
    *,
    adder: Adder | None = None,
    classes: Sequence[str] = (),
) -> RulesResult:
    """Learn CBA over many tables that stay where they are.

    Round one asks for sets that are frequent at some client (one that is frequent in all rows is frequent in
    at least one part of them), round two for counts of their union; a few more find which rules are kept
    (:func:`cover_together`). A client that is lost in the first round is left out; one that is lost later
    makes the others count again without it. A client that comes late waits for the next run.

    Args:
        grid: The clients.
        columns: The columns of all tables, without the target; their order breaks ties.
        settings: See :class:`ExactSettings`; a plan that was agreed on will do.
        adder: How counts are added: :class:`PlainSum`, :class:`MaskedSum`, :class:`EncryptedSum`.
        classes: Those that were agreed on; rows of others are left out, whoever names them. Any by default.

    Guarantees:
        - With ``exact`` in the result the model equals :func:`mahrem.learning.rules.cba` on the pooled
          rows of its clients, rule for rule.
        - Nothing but names of columns, classes and frequent cells, and counts, leaves a client.

    Raises:
        Infeasible: If fewer than ``least_clients`` stay to the end, or none has a row.

    References:
        Savasere, Omiecinski, Navathe: An efficient algorithm for mining association rules, 1995 (Partition).
        Agrawal, Shafer: Parallel mining of association rules, 1996 (Count Distribution).
    """
    chosen = settings or ExactSettings()
    run = _Run(grid, tuple(columns), chosen, adder or PlainSum(), grid.nodes(), frozenset(classes))
    run.leave_out({})
    first = _candidates(run)
    while True:
        try:
            sets, counts, totals = _counted(run, first)  # fewer clients may have other frequent sets
            model = _model(run, sets, counts, totals)
        except _Fewer:
            continue
        return RulesResult(
            model, not run.why, tuple(run.why), tuple(run.nodes), run.left_out, run.rounds, len(sets)
        )


def _candidates(run: _Run) -> ItemMatrix:
    """Ask what is frequent where; gives the union, in the order of columns and cells."""
    cba = run.settings.cba
    levels = run.settings.candidates == "levels"
    body = {
        "columns": list(run.columns),
        "support": cba.support,
        "longest": 1 if levels else cba.longest,
        "by_rule": cba.support_of == "rule",
        "most": run.settings.most,
    }
    question = run.question("frequent", body)
    together = ask_together(run.grid, run.nodes, question)
    if together is not None:
        return _named_together(run, together.body)
    answers, failures = ask_all(run.grid, run.nodes, question)
    parts: list[tuple[Integers, list[tuple[int, str]]]] = []
    classes: set[str] = set()
    cut, least = 0, run.settings.least_count
    for node, reply in answers.items():
        try:
            sent = reply.body
            pairs = list(zip(sent["places"].tolist(), map(str, sent["cells"]), strict=True))
            sets, named = sent["sets"], set(map(str, sent["classes"]))
            omitted, own = int(sent["cut"]), int(sent["least"])
            longest = 1 if levels else cba.longest or len(run.columns)
            check_sets(sets, sent["places"], len(run.columns), longest)
        except (KeyError, ValueError, TypeError, AttributeError, InvalidInput):
            failures[node] = "frequent sets that cannot be read"
            continue
        parts.append((sets, pairs))
        classes |= named
        cut += max(0, omitted)
        least = max(least, own)
    run.leave_out(failures)
    run.take_classes(classes)
    if least > 1:
        run.why.append(_GROUPED.format(least))
    if cut:
        run.why.append(f"clients left out {cut} of their frequent sets")
    run.pairs = sorted({pair for _, pairs in parts for pair in pairs})
    return union(parts, run.pairs)


def _named_together(run: _Run, sent: Mapping[str, Any]) -> ItemMatrix:
    """Read what clients of one process named in one answer, single cells."""
    try:
        named, has = (np.atleast_2d(sent[name]).max(axis=1, initial=0).tolist() for name in ("named", "has"))
        places, cells, names = sent["places"].tolist(), map(str, sent["cells"]), map(str, sent["classes"])
        check_sets(np.arange(len(named))[:, None], sent["places"].astype(np.int64), len(run.columns), 1)
        pairs = [(place, cell) for place, cell, there in zip(places, cells, named, strict=True) if there]
        classes = [name for name, there in zip(names, has, strict=True) if there]
        least = max(run.settings.least_count, int(sent["least"]))
    except (KeyError, ValueError, TypeError, AttributeError):
        raise InvalidInput("frequent sets that cannot be read") from None
    run.take_classes(classes)
    if least > 1:
        run.why.append(_GROUPED.format(least))
    run.pairs = sorted(pairs)
    return np.arange(len(pairs), dtype=np.int32)[:, None] if pairs else np.empty((0, 0), np.int32)


def _counted(run: _Run, sets: ItemMatrix) -> tuple[ItemMatrix, Integers, Integers]:
    """Count candidates over all clients; gives the sets that are frequent, their counts, and all rows."""
    settings = run.settings.cba
    levels: list[tuple[ItemMatrix, Integers]] = []
    outlook: Outlook | None = None
    asked = sets
    while True:
        counts, totals = _ask_counts(run, asked)
        shown = counts.sum(axis=1)
        weight = counts.max(axis=1, initial=0) if settings.support_of == "rule" else shown
        frequent = weight >= least_rows(settings.support, int(totals.sum()))
        levels.append((asked[frequent], counts[frequent]))
        if run.settings.candidates == "partition":
            break
        onward = frequent if settings.prune else frequent & (counts.max(axis=1, initial=0) < shown)
        outlook = outlook or _outlook(run, asked, shown / max(1, int(totals.sum())))
        asked = next_levels(asked[onward], outlook)  # nothing behind pure sets
        if len(asked) == 0:
            break
    width = max(held.shape[1] for held, _ in levels)
    whole = [np.pad(held, ((0, 0), (0, width - held.shape[1])), constant_values=-1) for held, _ in levels]
    return np.concatenate(whole), np.concatenate([counts for _, counts in levels]), totals


def _outlook(run: _Run, single: ItemMatrix, shares: Floats) -> Outlook:
    """Say how far to look ahead, by the shares of single cells."""
    of_items = np.zeros(len(run.pairs))
    of_items[single.ravel()] = shares
    place = np.array([column for column, _ in run.pairs], np.int32)
    settings = run.settings.cba
    return Outlook(place, of_items, settings.support, settings.longest or len(run.columns))


def _ask_counts(run: _Run, sets: ItemMatrix) -> tuple[Integers, Integers]:
    """Ask all clients for counts; gives those of the sets, and all rows by class."""
    classes = len(run.classes)
    order = np.lexsort(sets.T[::-1]) if sets.shape[1] else np.arange(len(sets))  # neighbours share items
    table = run.add("counts", run.shared(sets=sets[order]), classes, len(sets) + 1).reshape(-1, classes)
    run.totals = table[0]
    if table[0].sum() == 0:
        raise Infeasible(f"clients={len(run.nodes)}: none of them has a row", reached=0)
    counts = np.empty((len(sets), classes), np.int64)
    counts[order] = table[1:]
    return counts, table[0]


def _model(run: _Run, sets: ItemMatrix, counts: Integers, totals: Integers) -> RuleList:
    settings = run.settings.cba
    ranked = class_rules(
        sets,
        counts,
        confidence=settings.confidence,
        minimum=settings.least_rule(int(totals.sum())),
        prune=settings.prune,
        lean=True,
    )
    classes = len(run.classes)

    def ask(left: ItemMatrix, right: Integers, sure: Integers) -> Integers:
        return run.add("cover", run.shared(left=left, right=right, sure=sure), classes, len(left))

    kept, covered = cover_together(ask, ranked, classes)
    items = Items(
        run.columns,
        np.array([place for place, _ in run.pairs], np.int32),
        tuple(cell for _, cell in run.pairs),
    )
    there = totals > 0  # a class that only left-out clients have is no class of the model
    if there.all():
        return cut_list(ranked, kept, covered, totals, items, run.classes, cut=settings.cut)
    number = np.cumsum(there) - 1
    fewer = ClassRules(ranked.left, number[ranked.right].astype(np.int32), ranked.counts[:, there])
    names = [label for label, seen in zip(run.classes, there.tolist(), strict=True) if seen]
    return cut_list(fewer, kept, covered[:, there], totals[there], items, names, cut=settings.cut)
