"""Quasi-identifiers whose cells may be no finer, or no coarser, than somebody said."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from mahrem.errors import Infeasible, InvalidParameter, spelled
from mahrem.partition import Admission, Admits, Partition
from mahrem.release.decisions import BOUNDING, Policy, least_step
from mahrem.table import Axis, Leaves, Moments, Numbers, Words
from mahrem.types import Integers, Rows

_STEPPED = ("grid", "round", "prefix", *BOUNDING)

Sort = Callable[[Rows | None, Admits], Partition]


def coarse_axis(axis: Axis, policy: Policy) -> Axis:
    """Put values that no cell may tell apart on one place; what the column cannot have is refused."""
    settings = [setting for setting in _STEPPED if axis.name in getattr(policy, setting)]
    if not settings:
        return axis
    _refuse_unfit(axis, policy, settings)
    least = least_step(policy, axis.name)
    if least is None:
        return axis
    setting, step = least
    if isinstance(axis.domain, Numbers | Moments):
        from mahrem.recode import block_begins

        begins = block_begins(axis.positions, axis.domain, step, centred=setting == "round")
        known = begins[~np.isnan(begins)]
        first, last = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        return replace(axis, positions=begins, domain=replace(axis.domain, low=first, high=last))
    kept = int(step) if setting == "prefix" else _kept(axis, step)
    return replace(axis, positions=_one_alike(axis, kept))


def _refuse_unfit(axis: Axis, policy: Policy, settings: Sequence[str]) -> None:
    """Refuse what the values of a column cannot have, or what other settings would leave unheard."""
    name, setting = axis.name, settings[0]
    if policy.cells == "centroid" or policy.automatic is not None:
        other = "automatic" if policy.automatic is not None else "cells='centroid'"
        raise InvalidParameter(f"{setting}.{name} would do nothing with {other}; leave one of them out")
    if setting == "grid" and policy.bounds == "exact":
        raise InvalidParameter(f"grid.{name} would do nothing with bounds='exact'; leave one of them out")
    for setting in settings:
        step = getattr(policy, setting)[name]
        match axis.domain:
            case Numbers():
                fits, form = not isinstance(step, str) and setting != "prefix", "numbers: a width"
            case Moments():
                fits = isinstance(step, str) and setting not in {"prefix", "round"}
                form = "dates: a step of the calendar, such as month"
            case Words(prefixes=True):
                longest = max(map(len, axis.domain.labels), default=0)
                fits = setting in {"prefix", "at_least", "at_most"} and _is_count(step, longest)
                form = f"codes: how many of {longest} characters"
            case Leaves(hierarchy):
                fits = setting in {"at_least", "at_most"} and _is_count(step, hierarchy.levels - 1)
                form = f"a hierarchy: one of its levels, at most {hierarchy.levels - 1}"
            case _:
                raise InvalidParameter(
                    f"{setting}.{name} is not for words; name their kind "
                    f"({spelled('kind', {name: 'code'})}), or give a hierarchy"
                )
        if not fits:
            raise InvalidParameter(
                f"{setting}.{name}={step!r} does not fit column={name!r}, which has {form}"
            )
    _refuse_crossing(axis, policy)


def _is_count(step: object, most: int) -> bool:
    return isinstance(step, int | float) and float(step).is_integer() and 1 <= step <= most


def _refuse_crossing(axis: Axis, policy: Policy) -> None:
    """Refuse steps of the calendar of which one does not lie within the other."""
    from mahrem.recode import nest

    most = policy.at_most.get(axis.name)
    for setting in ("at_least", "grid"):
        step = getattr(policy, setting).get(axis.name)
        if isinstance(step, str) and isinstance(most, str):
            if not nest(step, most):
                raise InvalidParameter(
                    f"{setting}.{axis.name}={step!r} must lie within at_most.{axis.name}={most!r}"
                )
        elif (
            step is not None and most is not None and isinstance(axis.domain, Words | Leaves) and step > most
        ):
            raise InvalidParameter(
                f"at_most.{axis.name}={most:g} must not be below at_least.{axis.name}={step:g}"
            )


def _kept(axis: Axis, hidden: float) -> int:
    """Give how many characters are left of codes, or the level of a hierarchy that is asked for."""
    if isinstance(axis.domain, Words):
        return max(map(len, axis.domain.labels), default=0) - int(hidden)
    return int(hidden)


def _one_alike(axis: Axis, kept: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Put every value on one of those that cells must not tell from it: of codes a long one, if there is."""
    if isinstance(axis.domain, Leaves):
        alike = axis.domain.hierarchy.nodes[kept]
    else:
        assert isinstance(axis.domain, Words)  # noqa: S101 - nothing else is left
        alike = pl.Series(axis.domain.labels, dtype=pl.String).str.slice(0, kept).rank("dense").to_numpy()
    # Neighbours are alike, and among codes a mere beginning stands before what goes on from it.
    _, behind, which = np.unique(alike[::-1], return_index=True, return_inverse=True)
    place = np.append((len(alike) - 1 - behind)[which.reshape(-1)[::-1]].astype(np.float64), np.nan)
    return place[np.where(np.isnan(axis.positions), -1, axis.positions).astype(np.int64)]


def partition_in_blocks(
    sort: Sort, axes: Sequence[Axis], policy: Policy, judge: Admission, limit: float
) -> Partition:
    """Sort rows so that no class leaves the blocks of columns with bands or a greatest coarseness.

    Rows of bands that may not stand on their own are gathered and hide their band. Rows that could only be
    shown more coarsely than ``at_most`` allows are suppressed, up to ``limit``.

    Raises:
        Infeasible: If more rows than that would have to be.
    """
    bands, most = (_blocks(axes, getattr(policy, setting), policy) for setting in ("bands", "at_most"))
    if bands is None and most is None:
        return sort(None, judge)
    from mahrem.partition.judging import within_blocks

    def in_bands(rows: Rows | None, admits: Admits) -> Partition:
        if bands is None:
            return sort(rows, admits)
        every = np.arange(len(bands), dtype=np.int32) if rows is None else rows
        return within_blocks(
            lambda part, judges: sort(every[part], judges), _numbered(bands[every]), admits, gathered=True
        )

    if most is None:
        return in_bands(None, judge)
    partition = within_blocks(in_bands, most, judge, gathered=False)
    return _within_limit(partition, judge, policy, limit)


def _within_limit(partition: Partition, judge: Admission, policy: Policy, limit: float) -> Partition:
    """Suppress classes that do not keep the promise among those that are left, if so many may be."""
    from mahrem.partition.judging import rows_shown, standing_classes

    labels = partition.labels
    if (labels >= 0).all():
        return partition
    if (labels >= 0).any():
        stands = standing_classes(labels, partition.sizes, partition.sizes > 0, judge)
        labels = np.where(rows_shown(labels, stands), labels, -1)
    share = float((labels < 0).mean())
    if share > limit:
        names = ", ".join(policy.at_most)
        raise Infeasible(
            f"at_most of {names} cannot be kept: {share:.2f} of the rows would have to be suppressed; allow "
            f"wider cells, or so many suppressed rows: {spelled('suppression_limit', 0.05)}",
            reached=round(share, 2),
        )
    shown = np.unique(labels[labels >= 0])
    numbers = np.where(labels >= 0, np.searchsorted(shown, labels), -1)
    return Partition(labels=numbers, classes=len(shown))


def _blocks(axes: Sequence[Axis], names: Collection[str], policy: Policy) -> Integers | None:
    """Number the blocks that rows lie in, by all columns that have some; missing is a block of its own."""
    blocks = [_block_of(axis, policy) for axis in axes if axis.name in names]
    if not blocks:
        return None
    frame = pl.DataFrame({str(place): block for place, block in enumerate(blocks)})
    return _numbered(frame.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int64))


def _block_of(axis: Axis, policy: Policy) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    step = policy.at_most.get(axis.name, policy.bands.get(axis.name))
    assert step is not None  # noqa: S101 - only such columns are asked about
    if isinstance(axis.domain, Numbers | Moments):
        from mahrem.recode import block_begins

        return block_begins(axis.positions, axis.domain, step, centred=False)
    return _one_alike(axis, _kept(axis, float(step)))


def _numbered(blocks: Integers) -> Integers:
    return np.unique(blocks, return_inverse=True)[1].reshape(-1).astype(np.int64)
