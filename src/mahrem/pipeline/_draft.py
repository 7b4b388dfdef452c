"""From arrays to what will be published: classes, cells, columns. Not yet verified, so never handed out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.engines import Local
from mahrem.errors import InvalidParameter
from mahrem.models import PrivacyModel
from mahrem.partition import METHODS, Admission, Partition, Partitioner
from mahrem.pipeline._prepare import Prepared
from mahrem.recode import Recoding, Whole, default_recoding, render
from mahrem.release import Policy
from mahrem.table import Cells, Values, pseudonyms, read_key
from mahrem.types import Labels, Sizes

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
    replaced: Mapping[str, list[pl.Series]] = field(
        repr=False
    )  # column of the source -> what stands in its place

    @property
    def sizes(self) -> Sizes:
        """Published rows in each class of the partition."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.partition.classes)

    @property
    def quasi(self) -> list[str]:
        """Published columns that together make a class."""
        return [series.name for name in self.policy.quasi for series in self.replaced[name]]

    @property
    def columns(self) -> list[str]:
        """All published columns in their order."""
        kept = (name for name in self.prepared.source.columns if name not in self.prepared.leave_out)
        return [
            shown
            for name in kept
            for shown in ([s.name for s in self.replaced[name]] if name in self.replaced else [name])
        ]

    def table(self) -> Any:
        """Put the published table together, in the kind of frame the source was."""
        return self.prepared.source.rebuild(self.replaced, self.prepared.leave_out, self.prepared.keep)


def draft(prepared: Prepared, policy: Policy) -> Draft:
    """Partition, recode, and render what each row shows."""
    partition = _partition(prepared, policy)
    labels = np.full(prepared.rows, -1, np.int64)
    labels[~prepared.suppress] = partition.labels[: prepared.taking_part]
    recodings: dict[str, Recoding] = {
        axis.name: Whole()
        if axis.name in policy.suppress
        else default_recoding(axis, bounds=policy.bounds, step=policy.grid.get(axis.name))
        for axis in prepared.axes
    }
    cells = {
        axis.name: recodings[axis.name](axis, partition.labels, partition.classes) for axis in prepared.axes
    }
    replaced = {name: render(shown, labels, policy.cells, name) for name, shown in cells.items()}
    replaced |= _hidden_values(prepared)
    replaced |= _pseudonyms(prepared, policy)
    _refuse_clashes(prepared, replaced)
    return Draft(
        prepared=prepared,
        policy=policy,
        labels=labels,
        partition=partition,
        recodings=recodings,
        cells=cells,
        replaced=replaced,
    )


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
    return Local().partition(_method(policy), prepared.points(), prepared.absent(), admits)


def _method(policy: Policy) -> Partitioner:
    name = check.one_of(tuple(METHODS), method=policy.method)
    return METHODS[name](strict=policy.strategy == "strict")


def _hidden_values(prepared: Prepared) -> dict[str, list[pl.Series]]:
    """A suppressed row must not show its sensitive values either: nothing hides it."""
    if not prepared.suppress.any():
        return {}
    frame = prepared.source.take(list(prepared.values)).filter(pl.Series(prepared.keep))
    nothing = pl.Series(prepared.suppress)
    return {
        series.name: [
            pl.select(
                pl.when(~nothing).then(series).otherwise(pl.lit("*") if series.dtype == pl.String else None)
            )
            .to_series()
            .alias(series.name)
        ]
        for series in frame
    }


def _pseudonyms(prepared: Prepared, policy: Policy) -> dict[str, list[pl.Series]]:
    made = {}
    for name, said in policy.pseudonym.items():
        key = said if isinstance(said, bytes) else read_key(Path(said))
        made[name] = [pseudonyms(prepared.source.take([name])[name].filter(pl.Series(prepared.keep)), key)]
    return made


def _refuse_clashes(prepared: Prepared, replaced: Mapping[str, list[pl.Series]]) -> None:
    staying = {
        name for name in prepared.source.columns if name not in replaced and name not in prepared.leave_out
    }
    for name, shown in replaced.items():
        for series in shown:
            if series.name in staying:
                raise InvalidParameter(
                    f"cells: column {name!r} would be published as {series.name!r}, which exists already"
                )
