"""From arrays to what will be published: classes, cells, columns. Not yet verified, so never handed out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mahrem.engines import Local, in_parallel
from mahrem.models import PrivacyModel
from mahrem.partition import Admission, Partition, Partitioner, build_method
from mahrem.pipeline._prepare import Prepared
from mahrem.recode import Recoding, Whole, default_recoding, render
from mahrem.release import Policy
from mahrem.table import Axis, Cells, Leaves, Values, Words, as_polars, pseudonyms, read_key
from mahrem.types import Labels, Rows, Sizes
from mahrem.verify import SUPPRESSED

__all__ = ["Draft", "draft"]


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A release that nobody has checked yet."""

    prepared: Prepared
    policy: Policy
    labels: Labels = field(repr=False)  # (published rows,) -1 = suppressed
    partition: Partition
    recodings: Mapping[str, Recoding]
    cells: Mapping[str, Cells] = field(repr=False)
    beside: Mapping[str, pl.Series] = field(repr=False)  # columns rewritten by row: pseudonyms, hidden values

    @property
    def sizes(self) -> Sizes:
        """Published rows in each class of the partition."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.partition.classes)

    def shown_as(self, name: str) -> list[str]:
        """Give the published columns that stand in a quasi-identifier's place."""
        return [series.name for series in render(self.cells[name], self.labels[:0], self.policy.cells, name)]

    @property
    def quasi(self) -> list[str]:
        """Published columns that together make a class."""
        return [shown for name in self.policy.quasi for shown in self.shown_as(name)]

    @property
    def columns(self) -> list[str]:
        """All published columns in their order."""
        kept = (name for name in self.prepared.source.columns if name not in self.prepared.leave_out)
        return [shown for name in kept for shown in (self.shown_as(name) if name in self.cells else [name])]

    def table(self) -> Any:
        """Put the published table together, in the kind of frame the source was, rows in their order."""
        replaced = self._rendered(None) | {name: [series] for name, series in self.beside.items()}
        return self.prepared.source.rebuild(replaced, self.prepared.leave_out, self.prepared.keep)

    def table_for_file(self, order: Rows | None) -> pl.DataFrame:
        """Put the published table together as polars, rows in the given order."""
        written = (*self.cells, *self.beside)
        rest = as_polars(
            self.prepared.source.rebuild({}, (*self.prepared.leave_out, *written), self.prepared.keep)
        )
        if order is not None:
            # A reader leaves columns in chunks; looking rows up in one piece is ten times quicker.
            rest = pl.DataFrame(
                in_parallel(lambda column: column.rechunk().gather(order), rest.get_columns())
            )
        shown = self._rendered(order)
        shown |= {name: [s if order is None else s.gather(order)] for name, s in self.beside.items()}
        kept = (name for name in self.prepared.source.columns if name not in self.prepared.leave_out)
        return pl.DataFrame([s for name in kept for s in (shown[name] if name in shown else [rest[name]])])

    def _rendered(self, order: Rows | None) -> dict[str, list[pl.Series]]:
        labels = self.labels if order is None else self.labels[order]
        names = list(self.cells)
        shown = in_parallel(lambda name: render(self.cells[name], labels, self.policy.cells, name), names)
        return dict(zip(names, shown, strict=True))


def draft(prepared: Prepared, policy: Policy) -> Draft:
    """Partition, recode, and render what each row shows."""
    partition = _partition(prepared, policy)
    labels = np.full(prepared.rows, -1, np.int64)
    labels[~prepared.suppress] = partition.labels[: prepared.taking_part]
    recodings = {axis.name: _recoding(axis, policy) for axis in prepared.axes}
    cells = in_parallel(
        lambda axis: recodings[axis.name](axis, partition.labels, partition.classes), prepared.axes
    )
    return Draft(
        prepared=prepared,
        policy=policy,
        labels=labels,
        partition=partition,
        recodings=recodings,
        cells={axis.name: shown for axis, shown in zip(prepared.axes, cells, strict=True)},
        beside=_hidden_values(prepared) | _pseudonyms(prepared, policy),
    )


def _recoding(axis: Axis, policy: Policy) -> Recoding:
    if axis.name in policy.suppress:
        return Whole()
    return default_recoding(axis, bounds=policy.bounds, step=policy.grid.get(axis.name))


def _partition(prepared: Prepared, policy: Policy) -> Partition:
    promises: list[tuple[PrivacyModel, Values | None]] = []
    for promise in policy.promises():
        if promise.model.name == "delta-presence":
            promises.append((promise.model, prepared.membership()))
        else:
            promises.append((promise.model, prepared.values[promise.column] if promise.column else None))
    admits = Admission(
        tuple(promises), len(prepared.axes[0].positions), subjects=prepared.subjects, members=prepared.members
    )
    return Local().partition(_method(prepared, policy), prepared.points(), prepared.absent(), admits)


def _method(prepared: Prepared, policy: Policy) -> Partitioner:
    unordered = [
        place
        for place, axis in enumerate(prepared.axes)
        if isinstance(axis.domain, Leaves) or (isinstance(axis.domain, Words) and not axis.domain.ordered)
    ]
    return build_method(
        policy.method,
        strict=policy.strategy == "strict",
        seed=policy.seed,
        categorical=tuple(unordered),
        options=policy.options,
    )


def _hidden_values(prepared: Prepared) -> dict[str, pl.Series]:
    """A suppressed row must not show its sensitive values either: nothing hides it."""
    if not prepared.suppress.any():
        return {}
    nothing = pl.Series(prepared.suppress)
    found = {}
    for series in prepared.source.take(list(prepared.values)).filter(pl.Series(prepared.keep)):
        star = pl.Series([SUPPRESSED if series.dtype == pl.String else None], dtype=series.dtype)
        found[series.name] = series.zip_with(~nothing, star.new_from_index(0, len(series)))
    return found


def _pseudonyms(prepared: Prepared, policy: Policy) -> dict[str, pl.Series]:
    made = {}
    for name, said in policy.pseudonym.items():
        key = said if isinstance(said, bytes) else read_key(Path(said))
        made[name] = pseudonyms(prepared.source.take([name])[name].filter(pl.Series(prepared.keep)), key)
    return made
