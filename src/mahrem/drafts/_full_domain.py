"""What methods are told that lift whole columns: trees of all columns, weights, and a target to be learnt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from mahrem import check
from mahrem.drafts._method import admission, options_in_time, partitioner_of, refuse_for_levels
from mahrem.drafts._prepare import Prepared
from mahrem.errors import InvalidParameter
from mahrem.partition import METHODS
from mahrem.release.decisions import Policy
from mahrem.table import Values
from mahrem.table.cells import as_text
from mahrem.threads import in_parallel

if TYPE_CHECKING:
    from mahrem.partition.lattice import FullDomain, Search


def with_levels(prepared: Prepared) -> Prepared:
    """Give every column a hierarchy: the one that was given or learnt, or one made of its own domain."""
    from mahrem.table.columns import with_default_hierarchy

    axes = prepared.axes if prepared.automatic is None else prepared.automatic.climbed(prepared.axes)
    return replace(prepared, axes=tuple(in_parallel(with_default_hierarchy, axes, rows=prepared.rows)))


def objective_options(prepared: Prepared, policy: Policy, options: Mapping[str, Any]) -> dict[str, Any]:
    """Say a method's options with weights by column and the values of the target that was named.

    Raises:
        InvalidParameter: If a weight is 0, or the target is no column that could be learnt.
    """
    completed = dict(options)
    if "weights" in completed:
        raise InvalidParameter("weights are no option of a method; say how much a column counts: weights")
    weights = {name: policy.weights.get(name, 1.0) for name in (axis.name for axis in prepared.axes)}
    for name, weight in weights.items():
        check.above_zero(**{f"weights.{name} (of a method that lifts columns)": weight})
    if policy.weights:
        completed["weights"] = tuple(weights.values())
    if isinstance(completed.get("target"), str):
        completed["target"] = _target(prepared, completed["target"])
    if isinstance(completed.get("costs"), Mapping):
        completed["costs"] = _costs(prepared, completed["costs"])
    return completed


def _costs(prepared: Prepared, costs: Mapping[str, Any]) -> tuple[tuple[float, ...], ...]:
    """Put the costs of levels, by column, into the order of the columns."""
    names = [axis.name for axis in prepared.axes]
    check.unknown_keys(costs, names, where="costs")
    lacking = [name for name in names if name not in costs]
    if lacking:
        raise InvalidParameter(f"costs lacks {lacking[0]!r}: say what each of its levels costs")
    try:
        return tuple(tuple(float(cost) for cost in costs[name]) for name in names)
    except (TypeError, ValueError):
        raise InvalidParameter("costs must be numbers, one for each level of each column") from None


def _target(prepared: Prepared, name: str) -> Values:
    """Number the values of a column, those of the people around a table -1."""
    if name in {axis.name for axis in prepared.axes}:
        raise InvalidParameter(
            f"target={name!r} is a quasi-identifier: what is lifted cannot be learnt from itself; "
            f"name another column"
        )
    if name in prepared.values:
        return prepared.values[name]
    check.one_of(tuple(prepared.source.columns), target=name)
    part = prepared.keep.copy()
    part[prepared.keep] = ~prepared.suppress
    column = as_text(prepared.source.take([name])[name]).filter(pl.Series(part))
    codes = (column.rank("dense").cast(pl.Int32) - 1).fill_null(-1).to_numpy()
    others = np.full(len(prepared.axes[0].positions) - len(codes), -1, np.int32)
    return Values(name, np.concatenate([codes, others]).astype(np.int32), int(codes.max(initial=-1)) + 1)


def node_search(prepared: Prepared, policy: Policy) -> tuple[Prepared, FullDomain, Search]:
    """Get ready to judge nodes of a table's lattice under the promises of a policy.

    Raises:
        InvalidParameter: If something was said that levels of columns alone cannot keep.
    """
    name = check.one_of(
        [name for name, method in METHODS.items() if method.full_domain], method=policy.method
    )
    refuse_for_levels(policy, name)
    for setting in ("trajectory_k", "minimality_safe", "local"):
        if getattr(policy, setting):
            raise InvalidParameter(f"{setting} is about more than the levels of columns; leave it out here")
    if prepared.subjects is not None and any(promise.model.of_table for promise in prepared.promises):
        raise InvalidParameter("subject: promises about all classes together count rows here; leave one out")
    ready = with_levels(prepared)
    method = cast("FullDomain", partitioner_of(ready, policy, name, options_in_time(policy, name)))
    judge = admission(ready, keeps_sensitive=policy.suppressed == "keep-sensitive")
    return ready, method, method.prepare(ready.points(), judge)
