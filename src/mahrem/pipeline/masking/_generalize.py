"""Tables of real rows with differential privacy: columns lifted by chosen levels, rows of a sample shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from mahrem import check
from mahrem.disclosed import paid, published
from mahrem.dp import Ledger, Relation, open_privately, refuse_one_value_twice
from mahrem.errors import GuaranteeBroken, InvalidParameter, in_our_words, spelled
from mahrem.files import refuse_short_key
from mahrem.pipeline.masking._masked import MaskedRelease, publish_made
from mahrem.pipeline.masking._private_levels import (
    LevelPlan,
    ShownClasses,
    level_nodes,
    level_scores,
    shown_classes,
)
from mahrem.pipeline.masking._settings import GeneralisationSettings, level_settings
from mahrem.release.decisions import Policy, hierarchies_of, reading_of
from mahrem.settings import split_settings
from mahrem.table import hold
from mahrem.table.cells.alone import place_alone, value_alone
from mahrem.types import Integers
from mahrem.verify import published_classes

if TYPE_CHECKING:
    from mahrem.pipeline.masking._keywords import GeneralisationKeywords
    from mahrem.table import Hierarchy, Reading

METHOD = "private-levels"


@in_our_words
def generalize(
    source: object,
    *,
    ledger: str | Path | Ledger,
    epsilon: float,
    delta: float,
    output: str | Path | None = None,
    force: bool = False,
    **settings: Unpack[GeneralisationKeywords],
) -> MaskedRelease:
    """Publish real rows with differential privacy: a sample, lifted to levels that were chosen privately.

    Only columns with a hierarchy are published, and hierarchies must be public: nothing of them may be read
    off the data. Rows with a value that a hierarchy does not know, or with none, are left out.

    Args:
        source: A frame, a file or a database: the one the ledger was made for.
        ledger: The ledger that pays, or its path; it must count rows that come or go.
        epsilon: What it may cost.
        delta: The same; far below 1/rows.
        output: Write a release folder there; without it the table is only checked in memory.
        force: Replace an earlier release under ``output``.
        **settings: Every name of :class:`~mahrem.pipeline.masking.GeneralisationKeywords`. ``hierarchy`` by
            column;
            ``weights``, columns whose detail is worth more; ``beta``, the chance of each row to be sampled;
            ``share``, the part of epsilon that chooses levels; how the source is read; ``format``.

    Guarantees:
        - ``(epsilon, delta)``-DP for tables that differ in one row; the spend is on disk before a value is
          looked at, and what cannot work is refused before it.
        - Every published row is a real one, made coarser; at least k rows look alike, checked on what is
          published by code that does not know how it was made.
        - How many rows were left out is not told.

    Raises:
        BudgetExceeded: If the ledger does not cover it; nothing was spent.

    References:
        Li, Qardaji, Su: On sampling, anonymization, and differential privacy, 2012.
        Bild, Kuhn, Prasser: SafePub: a truthful data anonymization algorithm with strong privacy guarantees,
        2018.

    Example:
        >>> import mahrem as mh
        >>> from mahrem.table import Hierarchy
        >>> people = pl.DataFrame({"town": ["ankara", "konya"] * 500})
        >>> towns = {"town": Hierarchy.from_rows([["ankara", "centre"], ["konya", "centre"]])}
        >>> ledger = mh.Ledger.temporary(epsilon=2, delta=1e-6)
        >>> made = mh.generalize(people, ledger=ledger, epsilon=2, delta=1e-6, hierarchy=towns)
        >>> set(made.table["town"]) <= {"ankara", "konya", "centre", "*"}
        True
    """
    chosen, rest = split_settings(GeneralisationSettings, settings)
    check.unknown_keys(rest, tuple(level_settings()), where="setting")
    policy = Policy.of(rest)
    book = Ledger.of(ledger)
    _refuse_ledger(book)
    plan = LevelPlan.of(epsilon, delta, rate=chosen.beta, share=chosen.share)
    work = _Work.of(policy, book, plan)
    if output is not None:
        refuse_short_key()  # before anybody pays
    run = _Run(work, hold(source), book.facts.read_as(reading_of(policy)))
    with book.cost_told():
        return publish_made(run.make, work.policy, output=output, force=force, verified=run.verify)


def _refuse_ledger(book: Ledger) -> None:
    if book.relation is not Relation.ADD_REMOVE:
        raise InvalidParameter(
            f"relation={str(book.relation)!r}: a sample hides rows that come or go; "
            f"make the ledger with relation='add-remove'"
        )
    if book.unit.subject is not None:
        raise InvalidParameter(
            f"subject={book.unit.subject!r}: a sample hides single rows, not people of several; "
            f"keep one row for each person, and make the ledger without subject"
        )


@dataclass(frozen=True)
class _Work:
    """What is public about a run."""

    policy: Policy
    book: Ledger
    plan: LevelPlan
    trees: Mapping[str, Hierarchy]

    @classmethod
    def of(cls, policy: Policy, book: Ledger, plan: LevelPlan) -> _Work:
        trees = hierarchies_of(policy)
        if not trees:
            raise InvalidParameter(
                f"hierarchy={{}}: only columns with a public hierarchy are published; "
                f"name some: {spelled('hierarchy', {'COL': 'FILE'})}"
            )
        strange = next((name for name in policy.weights if name not in trees), None)
        if strange is not None:
            raise InvalidParameter(f"weights.{strange}: column={strange!r} has no hierarchy")
        for name, weight in policy.weights.items():
            check.above_zero(**{f"weights.{name}": weight})
        for name, tree in trees.items():
            refuse_one_value_twice(name, tree.labels[0])
        level_nodes(list(trees.values()))
        named = Policy(quasi=tuple(trees), format=policy.format, weights=policy.weights)
        return cls(named, book, plan, trees)

    def pay_and_show(self, source: object, reading: Reading) -> ShownClasses:
        """Pay, and only then look at rows."""
        opened = open_privately(source, self.book.facts, reading)
        check.columns_exist(list(self.trees), opened.columns)
        self.book.refuse_other(source, reading, opened.columns)
        plan, trees = self.plan, list(self.trees.values())
        self.book.spend(
            plan.event,
            what=f"rows of a sample of {len(trees)} columns, lifted to levels",
            epsilon=plan.epsilon,
            delta=plan.delta,
        )
        leaves = _leaves(opened.take(list(self.trees)), self.trees)
        weights = [self.policy.weights.get(name, 1.0) for name in self.trees]
        place = plan.selection(level_scores(leaves, trees, plan.margin, weights))
        return shown_classes(leaves, trees, plan, level_nodes(trees)[place])

    def table(self, shown: ShownClasses) -> pl.DataFrame:
        """Write the classes as rows."""
        rows = np.repeat(np.arange(len(shown.sizes)), shown.sizes)
        nodes = np.array(shown.nodes, np.int64).reshape(len(shown.sizes), len(self.trees))
        return pl.DataFrame(
            {
                name: tree.cells(level).gather(nodes[rows, place]).cast(pl.String)
                for place, ((name, tree), level) in enumerate(
                    zip(self.trees.items(), shown.levels, strict=True)
                )
            }
        )

    def verify(self, table: pl.DataFrame, shown: ShownClasses) -> None:
        """Check what is published: so many rows look alike, and all cells are nodes of the levels."""
        if table.columns != list(self.trees) or table.height != sum(shown.sizes):
            raise GuaranteeBroken("the published table does not have the rows and columns it should have")
        if table.height and int(published_classes(table, table.columns)[1].min()) < self.plan.k:
            raise GuaranteeBroken("the published table shows a class of too few rows; please report this")
        for (name, tree), level in zip(self.trees.items(), shown.levels, strict=True):
            if not table[name].cast(pl.String).is_in(tree.cells(level).cast(pl.String).implode()).all():
                raise GuaranteeBroken(f"column={name!r} shows a cell of no node; please report this")

    def report(self, shown: ShownClasses, rows: int) -> dict[str, Any]:
        """Say how it was made; every figure is public or paid for."""
        plan = self.plan
        cost = f"ε = {plan.epsilon:g}, δ = {plan.delta:g}"
        levels = dict(zip(self.trees, shown.levels, strict=True))
        return {
            "holds": True,
            "promises_k": False,
            "promises": [{"model": "differential-privacy", "wanted": cost, "reached": cost, "holds": True}],
            "method": METHOD,
            "guarantee": f"({plan.epsilon:g}, {plan.delta:g})-differentially private for tables that differ "
            f"in one row more or less",
            "levels": paid(levels),
            "heights": published({name: tree.levels for name, tree in self.trees.items()}),
            "beta": published(plan.rate),
            "k": published(plan.k),
            "epsilon": published(plan.epsilon),
            "delta": published(plan.delta),
            "epsilon_of_levels": published(plan.levels_epsilon),
            "classes": paid(len(shown.sizes)),
            "rows": paid(rows),
            "privacy_ledger": paid(self.book.data_sheet()),
            "settings": published(self.policy.public()),
        }


@dataclass
class _Run:
    """One run: what was shown is kept, to be compared with what is published."""

    work: _Work
    source: object
    reading: Reading
    shown: ShownClasses | None = None

    def make(self) -> tuple[pl.DataFrame, dict[str, Any]]:
        """Pay, and make the table and its report."""
        self.shown = self.work.pay_and_show(self.source, self.reading)
        table = self.work.table(self.shown)
        return table, self.work.report(self.shown, table.height)

    def verify(self, table: pl.DataFrame) -> None:
        """Check what is published."""
        assert self.shown is not None  # noqa: S101 - it was made
        self.work.verify(table, self.shown)


def _leaves(table: pl.DataFrame, trees: Mapping[str, Hierarchy]) -> Integers:
    """Find the leaf of every cell by itself; rows with a cell that has none are left out."""
    places = [_places(table, name, tree) for name, tree in trees.items()]
    leaves = np.column_stack(places).astype(np.int64)
    return leaves[(leaves >= 0).all(axis=1)]


def _places(table: pl.DataFrame, name: str, tree: Hierarchy) -> Integers:
    kind, leaves = table.schema[name], tuple(tree.labels[0])
    place = place_alone(name, kind, leaves)  # a leaf in whatever spelling its column has
    written = place.replace_strict(dict(enumerate(leaves)), default=None, return_dtype=pl.String)
    text = table.select(pl.coalesce(written, value_alone(name, kind))).to_series()
    known = tree.find(text.unique().drop_nulls()).drop_nulls()
    codes = text.replace_strict(known["leaf"], known["code"], default=None, return_dtype=pl.Int64)
    return codes.fill_null(-1).to_numpy()
