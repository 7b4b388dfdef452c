"""From arrays to what will be published: classes, cells, columns. Not yet verified, so never handed out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mahrem.disclosed import published
from mahrem.drafts._method import (
    chosen_method,
    refuse_for_hidden_cells,
    refuse_for_levels,
    refuse_without_levels,
)
from mahrem.drafts._prepare import Prepared
from mahrem.drafts._rewritten import RewrittenSource
from mahrem.drafts._steps import Choice
from mahrem.errors import InvalidParameter, spelled
from mahrem.metrics import ClassLosses, class_losses
from mahrem.partition import METHODS, Levels, Partition
from mahrem.recode import Form, Recoding, first_cells, render, shown_names, with_more
from mahrem.release import BY_RECIPE
from mahrem.release.decisions import BOUNDING, Policy, recoding_of
from mahrem.table import FORMATS, Axis, Cells, Leaves, Words, as_polars
from mahrem.table.cells import text_where_needed
from mahrem.table.formats import LabelledFiles
from mahrem.table.reading import pruned
from mahrem.table.writing import refuse_unwritable
from mahrem.threads import in_parallel
from mahrem.types import Codes, Labels, Mask, Rows, Sizes
from mahrem.verify import SUPPRESSED, Claims
from mahrem.words import Note, warn_of

if TYPE_CHECKING:
    from mahrem.table import Hierarchy
    from mahrem.verify import CellBounds


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A release that nobody has checked yet."""

    prepared: Prepared
    policy: Policy
    method: str  # as asked for, or as chosen for "auto"
    method_reason: Note | None  # why, when it was chosen
    labels: Labels = field(repr=False)  # (published rows,) -1 = suppressed
    partition: Partition
    recodings: Mapping[str, Recoding]
    cells: Mapping[str, Cells] = field(repr=False)
    beside: Mapping[str, pl.Series] = field(repr=False)  # columns rewritten by row: pseudonyms, hidden values
    trees: Mapping[str, Hierarchy] = field(repr=False)  # given for quasi-identifiers: where losses count
    notes: tuple[Note, ...] = ()  # what the report must say about how it was made
    starred: bool = False  # the last class is that of rows which a method suppressed and which keep values

    @cached_property
    def sizes(self) -> Sizes:
        """Published rows in each class of the partition."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.partition.classes)

    @cached_property
    def losses(self) -> ClassLosses:
        """What classes lose by what they show."""
        return class_losses(self.sizes, self.cells, self.trees)

    @property
    def hidden(self) -> Mask:
        """Rows that show nothing: they miss values, or the method suppressed them."""
        return self.labels < 0

    def without_starred(self) -> Draft:
        """Give the draft as if suppressed rows were in no class."""
        if not self.starred:
            return self
        last = self.partition.classes - 1
        labels, of_all = (np.where(each == last, -1, each) for each in (self.labels, self.partition.labels))
        return replace(
            self,
            labels=labels,
            partition=Partition(labels=of_all, classes=last, how=self.partition.how),
            cells={name: first_cells(cells, last) for name, cells in self.cells.items()},
            starred=False,
        )

    @property
    def subjects(self) -> Codes | None:
        """The person behind each published row; nobody behind a suppressed one."""
        people = self.prepared.subjects
        if people is None:
            return None
        behind = np.full(self.prepared.rows, -1, np.int32)
        behind[~self.prepared.suppress] = people[: self.prepared.taking_part]
        return np.where(self.hidden, -1, behind).astype(np.int32)

    @property
    def claims(self) -> Claims:
        """What the published table will promise."""
        return Claims(
            quasi=self.quasi,
            promises=self.prepared.promises,
            sensitive={name: self.prepared.columns[name] for name in self.prepared.values},
            linked=tuple(self.policy.pseudonym),
            decimal=self.policy.decimal,
            trees={
                axis.name: axis.domain.hierarchy
                for axis in self.prepared.axes
                if isinstance(axis.domain, Leaves) and self._labelled(axis.name)
            },
        )

    def _labelled(self, name: str) -> bool:
        """Say whether cells show labels of a tree that was given or learnt; other trees are of ranges."""
        return self.prepared.columns[name].hierarchy is not None or self.prepared.automatic is not None

    @property
    def judged_columns(self) -> list[str]:
        """Published columns that the promises speak of, and those that were made coarser."""
        rewritten = (name for name in self.prepared.rewritten if name not in self.prepared.values)
        names = [*self.quasi, *self.prepared.values, *self.policy.pseudonym, *rewritten, *self.shifted]
        names += self.policy.redact
        return list(dict.fromkeys(names))

    @property
    def shifted(self) -> list[str]:
        """Published columns that show dates as they were moved, and no cells of them."""
        moved = self.prepared.source.moved if isinstance(self.prepared.source, RewrittenSource) else ()
        hidden = {*self.prepared.leave_out, *self.prepared.rewritten, *self.policy.quasi}
        return [name for name in moved if name not in hidden]

    @property
    def cell_bounds(self) -> dict[str, CellBounds]:
        """How fine and how coarse cells of quasi-identifiers are said to be; a middle has no width."""
        if (
            self.form == "midpoint" or self.method == BY_RECIPE
        ):  # a recipe's cells were checked when it was made
            return {}
        bounds = {}
        for axis in self.prepared.axes:
            name, settings = axis.name, ("round", "prefix", *BOUNDING)
            steps = {
                key: getattr(self.policy, key)[name] for key in settings if name in getattr(self.policy, key)
            }
            if steps:
                from mahrem.verify import CellBounds

                column = self.prepared.columns[name]
                codes = axis.domain.labels if isinstance(axis.domain, Words) else ()
                longest = max(map(len, codes), default=0)
                bounds[name] = CellBounds(
                    kind=column.kind, steps=steps, hierarchy=column.hierarchy, longest=longest
                )
        return bounds

    @property
    def form(self) -> Form:
        """How cells are rendered; a centroid is a point already."""
        return "midpoint" if self.policy.cells == "centroid" else self.policy.cells

    def shown_as(self, name: str) -> list[str]:
        """Give the published columns that stand in a quasi-identifier's place."""
        return shown_names(self.cells[name], self.form, name)

    @property
    def quasi(self) -> list[str]:
        """Published columns that together make a class."""
        return [shown for name in self.policy.quasi for shown in self.shown_as(name)]

    @property
    def columns(self) -> list[str]:
        """All published columns in their order."""
        kept = self.kept_columns
        return [shown for name in kept for shown in (self.shown_as(name) if name in self.cells else [name])]

    @property
    def kept_columns(self) -> list[str]:
        """Columns of the source that are published, in their order."""
        return [name for name in self.prepared.source.columns if name not in self.prepared.leave_out]

    def table(self) -> Any:
        """Put the published table together, in the kind of frame the source was, rows in their order."""
        replaced = self._rendered(None) | {name: [series] for name, series in self.beside.items()}
        return self.prepared.source.rebuild(replaced, self.prepared.leave_out, self.prepared.keep)

    def table_for_file(self) -> tuple[pl.DataFrame, Rows | None]:
        """Put the published table together as polars, and say in which order rows now come.

        Rows are put in order by what they publish, unless the policy keeps the order they came in (None): the
        order tells nothing that the rows do not.
        """
        rest, order = self.rest_for_file()
        shown = self._rendered(order)
        table = pl.DataFrame(
            [s for name in self.kept_columns for s in (shown[name] if name in shown else [rest[name]])]
        )
        if FORMATS[self.policy.format].spreadsheets:
            hidden = self.hidden if order is None else self.hidden[order]
            refuse_unwritable(table.schema, self.policy.format)
            return starred(text_where_needed(table), hidden), order
        pruned_ones = (pruned(table[name]) for name, kind in table.schema.items() if kind == pl.Enum)
        return self._as_held(table.with_columns(pruned_ones), order), order

    def _as_held(self, table: pl.DataFrame, order: Rows | None) -> pl.DataFrame:
        """Let a format make text of columns that it cannot hold; rows that show nothing say so there."""
        files = FORMATS[self.policy.format].load()
        if not isinstance(files, LabelledFiles):
            return table
        held = files.as_held(table)
        texts = [name for name, kind in held.schema.items() if kind == pl.String]
        new = [name for name in texts if table.schema[name] != pl.String]
        hidden = self.hidden if order is None else self.hidden[order]
        return held.with_columns(starred(held.select(new), hidden))

    def rest_for_file(self) -> tuple[pl.DataFrame, Rows | None]:
        """Put the columns together that are no cells of classes, and say in which order rows now come."""
        written = (*self.cells, *self.beside)
        rest = as_polars(
            self.prepared.source.rebuild({}, (*self.prepared.leave_out, *written), self.prepared.keep)
        )
        order = None if self.policy.shuffle is False else self._order(rest)
        if order is not None:
            # A reader leaves columns in chunks; looking rows up in one piece is ten times quicker.
            rest = pl.DataFrame(
                in_parallel(
                    lambda column: column.rechunk().gather(order), rest.get_columns(), rows=len(order)
                )
            )
        beside = (s if order is None else s.gather(order) for s in self.beside.values())
        return pl.DataFrame([*rest, *beside]), order

    def _order(self, rest: pl.DataFrame) -> Rows:
        """Order rows by hashes of what they publish; those that publish the same are alike anyway."""
        every = np.arange(self.partition.classes)
        shown = [series for name in self.cells for series in render(self.cells[name], every, self.form, name)]
        classes = np.append(pl.DataFrame(shown).hash_rows(seed=0).to_numpy(), np.uint64(0))
        plain = [series for series in (*rest, *self.beside.values()) if not _is_nested(series.dtype)]
        keys = pl.DataFrame(
            [pl.Series("", classes[self.labels]), *(s.alias(str(i)) for i, s in enumerate(plain))]
        )
        return keys.hash_rows(seed=0).arg_sort().to_numpy()

    def judged(self) -> pl.DataFrame:
        """Put together only what promises speak of: cells as published, sensitive columns, pseudonyms."""
        shown = [series for rendered in self._rendered(None).values() for series in rendered]
        shown += [self.beside[name] for name in self.policy.pseudonym]
        if not self.prepared.values:  # a table without columns would have no rows to keep
            return pl.DataFrame(shown)
        sensitive = self.prepared.source.take(list(self.prepared.values)).filter(
            pl.Series(self.prepared.keep)
        )
        return pl.DataFrame([*shown, *(self.beside.get(series.name, series) for series in sensitive)])

    def _rendered(self, order: Rows | None) -> dict[str, list[pl.Series]]:
        labels = self.labels if order is None else self.labels[order]
        names = list(self.cells)
        shown = in_parallel(
            lambda name: render(self.cells[name], labels, self.form, name), names, rows=len(labels)
        )
        return dict(zip(names, shown, strict=True))


def draft(prepared: Prepared, policy: Policy) -> Draft:
    """Partition, recode, and render what each row shows."""
    name, reason, options = chosen_method(prepared, policy)
    full_domain = METHODS[name].full_domain
    if full_domain:
        refuse_for_levels(policy, name)
        from mahrem.drafts._full_domain import with_levels

        prepared = with_levels(prepared)
    else:
        refuse_without_levels(policy, name)
    if METHODS[name].hides:
        refuse_for_hidden_cells(policy, name)
    ready = prepared
    choice = Choice(
        ready, policy, name, options, lambda partition: _drawn(ready, policy, name, reason, partition)
    )
    new = choice.draft()
    double = [name for name, times in Counter(new.columns).items() if times > 1]
    if double:
        raise InvalidParameter(f"column={double[0]!r} would be published twice; rename the original")
    return replace(new, beside=beside(prepared, policy, new.labels < 0))


def _drawn(
    prepared: Prepared, policy: Policy, method: str, reason: Note | None, partition: Partition
) -> Draft:
    """Recode the classes of a partition."""
    if prepared.automatic is not None and not METHODS[method].full_domain:
        from mahrem.release.decisions import best_groups

        axes = best_groups(
            prepared.automatic, prepared.axes, partition.labels, partition.classes, prepared.taking_part
        )
        prepared = replace(prepared, axes=axes)
    labels = np.full(prepared.rows, -1, np.int64)
    labels[~prepared.suppress] = partition.labels[: prepared.taking_part]
    levels = partition.how.levels if isinstance(partition.how, Levels) else (None,) * len(prepared.axes)

    def recode(place: int) -> tuple[Recoding, Cells]:
        axis = prepared.axes[place]
        recoding = _recoding_for(axis, policy, method, levels[place])
        return recoding, recoding(axis, partition.labels, partition.classes)

    recoded = in_parallel(recode, range(len(prepared.axes)), rows=prepared.rows)
    cells = [shown for _, shown in recoded]
    left_out = int((partition.labels[: prepared.taking_part] < 0).sum())
    starred = left_out > 0 and policy.suppressed == "keep-sensitive"
    if starred:
        partition, cells = _with_starred_class(partition, cells, prepared.axes)
        labels[~prepared.suppress] = partition.labels[: prepared.taking_part]
    return Draft(
        prepared=prepared,
        policy=policy,
        method=method,
        method_reason=reason,
        labels=labels,
        partition=partition,
        recodings={axis.name: how for axis, (how, _) in zip(prepared.axes, recoded, strict=True)},
        cells={axis.name: shown for axis, shown in zip(prepared.axes, cells, strict=True)},
        beside={},
        trees=given_trees(prepared, policy),
        notes=(Note("warning.starred", {"rows": published(left_out)}),) if starred else (),
        starred=starred,
    )


def _recoding_for(axis: Axis, policy: Policy, method: str, level: int | None) -> Recoding:
    """Give how a column is written by a method."""
    if not METHODS[method].hides:
        return recoding_of(axis, policy, level)
    from mahrem.recode import Kept

    # All of a class share the value that is shown: there is no extreme to hide behind a grid.
    alone = policy if axis.name in policy.grid else replace(policy, bounds="exact")
    return Kept(recoding_of(axis, alone, level))


def starred(table: pl.DataFrame, hidden: Mask) -> pl.DataFrame:
    """In text, a row that shows nothing says so in every column: an empty cell would be missing."""
    if not hidden.any():
        return table
    star = pl.lit(SUPPRESSED)
    return table.select(
        pl.when(pl.Series(hidden)).then(star).otherwise(column.cast(pl.String)).alias(column.name)
        for column in table
    )


def _is_nested(kind: pl.DataType) -> bool:
    return kind.is_nested() or kind == pl.Object


def given_trees(prepared: Prepared, policy: Policy) -> dict[str, Hierarchy]:
    """Give the trees that were declared for quasi-identifiers; those that were made of the data are not."""
    trees = {name: prepared.columns[name].hierarchy for name in policy.quasi}
    return {name: tree for name, tree in trees.items() if tree is not None}


def _with_starred_class(
    partition: Partition, cells: Sequence[Cells], axes: Sequence[Axis]
) -> tuple[Partition, list[Cells]]:
    """Make rows that a method suppressed, and people around them, a class whose cells all say nothing.

    They keep their other columns, so they are published like any class, and every promise is about them.
    """
    from mahrem.recode import Whole

    starred = Partition(
        labels=np.where(partition.labels < 0, partition.classes, partition.labels),
        classes=partition.classes + 1,
        how=partition.how,
    )
    nothing = [Whole()(axis, starred.labels, 1) for axis in axes]
    return starred, [with_more(shown, more) for shown, more in zip(cells, nothing, strict=True)]


def beside(prepared: Prepared, policy: Policy, suppressed: Mask) -> dict[str, pl.Series]:
    """Rewrite columns row by row: keyed pseudonyms, and nothing at all where a row is suppressed."""
    named = _pseudonyms(prepared, policy)
    if not suppressed.any():
        return named
    shown = as_polars(
        prepared.source.rebuild({}, (*prepared.leave_out, *policy.quasi, *policy.pseudonym), prepared.keep)
    )
    keep = pl.Series(~suppressed)
    hidden = {}
    for series in map(_with_a_star, [*shown, *named.values()]):
        kind = series.dtype
        words = isinstance(kind, pl.String | pl.Categorical | pl.Enum)
        star = pl.Series([SUPPRESSED if words else None], dtype=kind)
        hidden[series.name] = pruned(series.zip_with(keep, star.new_from_index(0, len(series))))
    return hidden


def _with_a_star(series: pl.Series) -> pl.Series:
    """Give a list of words a word for nothing, so that a row that shows nothing says so there too."""
    kind = series.dtype
    if not isinstance(kind, pl.Enum) or SUPPRESSED in kind.categories:
        return series
    return series.cast(pl.Enum([*kind.categories, SUPPRESSED]))


def _pseudonyms(prepared: Prepared, policy: Policy) -> dict[str, pl.Series]:
    if not policy.pseudonym:
        return {}
    from mahrem.table.columns import pseudonyms, read_key

    named = {}
    for name, given in policy.pseudonym.items():
        key = given if isinstance(given, bytes) else read_key(Path(given))
        named[name] = pseudonyms(prepared.source.take([name])[name].filter(pl.Series(prepared.keep)), key)
        if policy.trajectory_k is None and named[name].drop_nulls().is_duplicated().any():
            values = {"column": name, "setting": spelled("trajectory_k")}
            warn_of(Note("warning.pseudonym_ties", values))
    return named
