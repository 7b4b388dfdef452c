"""The promises of any distributed table, checked where its rows lie."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

import polars as pl

from mahrem import check
from mahrem.contents import TableSketch, sketch_table
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.models import KAnonymity, Promise
from mahrem.release.decisions import Policy, column_of, hierarchies_of
from mahrem.spark._cluster import open_cluster
from mahrem.spark._contents import sketch_on_spark
from mahrem.spark._encode import MOST_VALUES
from mahrem.spark._frame import column
from mahrem.spark._rows import clean_on_spark
from mahrem.spark._source import open_on_spark, restore_text
from mahrem.spark._verify import ClusterVerdict, verify_on_spark
from mahrem.spark._watch import watch_tasks
from mahrem.table import EVERY, Column, Role
from mahrem.verify import SUPPRESSED, Claims
from mahrem.words import Note

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def audit_on_spark(
    source: object, policy: Policy, *, hides: bool, restores: bool, progress: Callable[[Note], None] | None
) -> tuple[ClusterVerdict, str, TableSketch]:
    """Check promises on a distributed table; rows stay where they are.

    Args:
        source: As for :func:`mahrem.audit`, or a Spark DataFrame.
        policy: Columns and promises.
        hides: Rows that show nothing were meant to.
        restores: Apostrophes before formulas are ours and are taken away.
        progress: Called with the name of each stage as it begins.

    Returns:
        The verdict, what the source is called in messages, and a sketch of all that it shows.
    """
    for name in ("population", "delta_presence", "subject"):
        if getattr(policy, name) is not None:
            raise InvalidParameter(f"{name} is not for engine='spark'; engine='local' does it")
    with open_cluster(source, policy) as engine, ExitStack() as cleanup:
        step = cleanup.enter_context(watch_tasks(engine.session, progress))
        step(Note("stage.reading"))
        # A release's folder of parts goes by its path.
        place = os.fspath(source) if isinstance(source, os.PathLike) else source
        opened = open_on_spark(engine.session, place, policy)
        names = [*policy.quasi, *policy.sensitive]
        check.columns_exist(names, opened.frame.columns)
        kinds = dict(opened.frame.dtypes)
        known = [clean_on_spark(name, kinds[name], policy.null).alias(name) for name in names]
        table = opened.frame.select(*known)
        table = restore_text(table) if restores else table
        table = table.persist() if opened.costly else table
        cleanup.callback(table.unpersist)
        promises = policy.promises() or (Promise(KAnonymity(1), None),)
        judged = {promise.column for promise in promises}
        claims = Claims(
            quasi=policy.quasi,
            promises=promises,
            sensitive={name: _column(table, name, policy) for name in policy.sensitive if name in judged},
            decimal=policy.decimal,
        )
        step(Note("stage.verifying"))
        hides_all = hides or bool(policy.sensitive)  # without one, all stars may be a class as well
        verdict = verify_on_spark(table, claims, hides=hides_all, nulls_hide=hides)
        return verdict, opened.label, _sketch(opened.frame, policy, restores=restores)


def _sketch(frame: DataFrame, policy: Policy, *, restores: bool) -> TableSketch:
    """Look into all columns but those somebody accepted."""
    plain = [
        name
        for name, kind in frame.dtypes
        if not {name, EVERY} & {*policy.accept} and not kind.startswith(("array", "map", "struct"))
    ]
    if not plain:
        return sketch_table(pl.DataFrame())
    shown = frame.select(*map(column, plain))
    return sketch_on_spark(restore_text(shown) if restores else shown, plain, policy)


def _column(table: DataFrame, name: str, policy: Policy) -> Column:
    """Say what a sensitive column is, from its different values."""
    distinct = table.select(column(name).alias("value")).distinct().limit(MOST_VALUES + 1).toArrow()
    if distinct.num_rows > MOST_VALUES:
        raise InvalidInput(
            f"column={name!r} has more than {MOST_VALUES} different values: too many for a cluster's driver"
        )
    values = pl.Series(name, pl.from_arrow(distinct["value"].combine_chunks()))
    shown = values.filter(values != SUPPRESSED) if values.dtype == pl.String else values
    return column_of(policy, shown, Role.SENSITIVE, hierarchies_of(policy))[0]
