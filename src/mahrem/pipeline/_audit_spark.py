"""An audit on a cluster: the same verdict, from counts that workers make."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import polars as pl

from mahrem import check
from mahrem.engines import ClusterVerdict, verify_on_spark
from mahrem.engines._spark_frame import column
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.metrics import published_loss
from mahrem.models import KAnonymity, Promise
from mahrem.pipeline._on_spark import cluster
from mahrem.pipeline._prepare import column_of, hierarchy_of
from mahrem.pipeline._risk import risk_of
from mahrem.pipeline._spark_encode import MOST_VALUES
from mahrem.pipeline._spark_rows import cleaned_on_spark
from mahrem.pipeline._spark_source import open_on_spark, restored
from mahrem.pipeline._spark_watch import watched
from mahrem.pipeline._summary import promises_of
from mahrem.release import Policy
from mahrem.report import class_size_bins
from mahrem.table import Column, Role
from mahrem.verify import SUPPRESSED

__all__ = ["audit_on_spark"]


def audit_on_spark(
    source: object,
    policy: Policy,
    *,
    threshold: float,
    hides: bool,
    progress: Callable[[str], None] | None,
) -> dict[str, Any]:
    """Check promises on a distributed table; rows stay where they are.

    Args:
        source: As for :func:`mahrem.audit`, or a Spark DataFrame.
        policy: Columns and promises.
        threshold: A row is at risk when its risk is above this.
        hides: Rows that show nothing were meant to.
        progress: Called with the name of each stage as it begins.
    """
    for said in ("population", "delta_presence", "subject"):
        if getattr(policy, said) is not None:
            raise InvalidParameter(f"{said} is not for engine='spark'; engine='local' does it")
    with cluster(source, policy) as engine, ExitStack() as cleanup:
        step = cleanup.enter_context(watched(engine.session, progress))
        step("reading")
        opened = open_on_spark(engine.session, _place(source), policy)
        names = [*policy.quasi, *policy.sensitive]
        check.columns_exist(names, opened.frame.columns)
        kinds = dict(opened.frame.dtypes)
        known = [cleaned_on_spark(name, kinds[name], policy.null).alias(name) for name in names]
        table = restored(opened.frame.select(*known))
        table = table.persist() if opened.costly else table
        cleanup.callback(table.unpersist)
        promises = policy.promises() or (Promise(KAnonymity(1), None),)
        judged = [name for name in policy.sensitive if any(one.column == name for one in promises)]
        sensitive = {name: _column(table, name, policy) for name in judged}
        step("verifying")
        verdict = verify_on_spark(
            table,
            quasi=list(policy.quasi),
            promises=promises,
            sensitive=sensitive,
            decimal=policy.decimal,
            hides=hides or bool(policy.sensitive),  # without one, all stars may be a class as well
            nulls_hide=hides,
        )
        return _report(verdict, policy, opened.label, threshold)


def _place(source: object) -> object:
    """Give a release's folder of parts by its path."""
    return os.fspath(source) if isinstance(source, os.PathLike) else source


def _column(table: Any, name: str, policy: Policy) -> Column:
    """Say what a sensitive column is, from its different values."""
    told = table.select(column(name).alias("value")).distinct().limit(MOST_VALUES + 1).toArrow()
    if told.num_rows > MOST_VALUES:
        raise InvalidInput(
            f"column={name!r} has more than {MOST_VALUES} different values: too many for a cluster's driver"
        )
    values = pl.Series(name, pl.from_arrow(told["value"].combine_chunks()))
    shown = values.filter(values != SUPPRESSED) if values.dtype == pl.String else values
    trees = {one: hierarchy_of(one, said) for one, said in policy.hierarchy.items()}
    return column_of(policy, shown, Role.SENSITIVE, trees)[0]


def _report(verdict: ClusterVerdict, policy: Policy, label: str, threshold: float) -> dict[str, Any]:
    hidden = pl.DataFrame({"cell": [SUPPRESSED], "rows": [verdict.suppressed]})
    utility, columns = published_loss(
        {name: pl.concat([tally, hidden]) for name, tally in verdict.tallies.items()},
        sizes=verdict.sizes,
        rows=verdict.rows,
        suppressed=verdict.suppressed,
        k=policy.k or 1,
        weights=policy.weights or None,
        hierarchies={
            name: hierarchy_of(name, said) for name, said in policy.hierarchy.items() if name in policy.quasi
        },
    )
    return {
        "holds": verdict.holds,
        "promises": promises_of(verdict.outcomes),
        "utility": utility.as_dict(),
        "columns": columns,
        "risk": risk_of(verdict.people, threshold=threshold, fraction=policy.fraction),
        "class_sizes": class_size_bins(verdict.sizes),
        "rows": verdict.rows,
        "source": label,
        "method": None,
        "engine": {"name": "spark"},
        "seconds": 0.0,
        "warnings": [],
    }
