"""From a distributed source and a policy to a task for the cluster."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem import check
from mahrem.contents import Contents, TableSketch, look_into
from mahrem.errors import InvalidParameter, spelled
from mahrem.models import Promise
from mahrem.partition import METHODS, Partitioner, Repaired
from mahrem.partition.mosaic import Repair
from mahrem.recode import Recoding
from mahrem.release import refuse_giving_away
from mahrem.release.decisions import (
    Policy,
    coarsened_by_row,
    method_of,
    pricing_of,
    recoding_of,
    roles_of,
)
from mahrem.settings import settings_of
from mahrem.spark._cluster import Spark
from mahrem.spark._contents import sketch_on_spark
from mahrem.spark._draft import ClusterDraft
from mahrem.spark._encode import EncodedTable, encode_on_spark
from mahrem.spark._frame import PlacedColumn, column, position
from mahrem.spark._judge import promised_columns
from mahrem.spark._rows import ClusterRows, rows_taking_part
from mahrem.spark._source import open_on_spark
from mahrem.spark._task import Task
from mahrem.table import EVERY, FORMATS, Leaves, Words
from mahrem.table.cells import SUPPRESSED
from mahrem.words import Note

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SOME = 10_000  # rows that tell where values are heaped


def prepare_on_spark(engine: Spark, source: object, policy: Policy, cleanup: ExitStack) -> ClusterDraft:
    """Read what the policy names and find out kinds, domains and values."""
    opened = open_on_spark(engine.session, source, policy)
    names, original = tuple(opened.frame.columns), policy

    def look() -> tuple[TableSketch, Contents]:
        sketch = sketch_on_spark(opened.frame, names, original)
        return sketch, look_into(sketch, region=original.region)

    policy = original.for_columns(names, look)
    promises = policy.promises()
    leave_out = roles_of(names, policy)
    published = [name for name in names if name not in leave_out]
    rows = rows_taking_part(_silenced(opened.frame, policy), policy, published)
    _refuse_giving_away(rows, policy, published)
    encoded = encode_on_spark(rows.part, policy.of_silenced(), promises)
    carried = tuple(rows.published.get(name, name) for name in published if name not in policy.quasi)
    encoded = replace(encoded, frame=_needed(encoded, carried))
    if encoded.joined or opened.costly:
        kept = encoded.frame.persist()
        cleanup.callback(kept.unpersist)
        encoded = replace(encoded, frame=kept)
    method, reason = policy.method, None
    if method == "auto":
        method, reason = "mondrian", Note("choice.cluster")
    recodings = _recodings(encoded, policy)
    task = Task(
        quasi=encoded.quasi,
        promises=promised_columns(promises, encoded.coded),
        method=built_method(policy, method, encoded.quasi, promises),
        recodings=recodings,
        carried=carried,
        shuffled=True,
        pricing=tuple(
            pricing_of(placed.axis(np.zeros(0)), policy, recoding)
            for placed, recoding in zip(encoded.quasi, recodings, strict=True)
        ),
    )
    return ClusterDraft(
        policy=policy,
        promises=promises,
        method=method,
        reason=reason,
        label=opened.label,
        source_columns=names,
        leave_out=leave_out,
        taken=rows,
        encoded=encoded,
        task=task,
    )


def _silenced(frame: DataFrame, policy: Policy) -> DataFrame:
    """Give a table whose columns that show nothing hold nothing, as :meth:`Policy.silenced` does."""
    from pyspark.sql import functions

    if not policy.suppress:
        return frame  # Spark Connect takes no empty set of columns
    return frame.withColumns({name: functions.lit(SUPPRESSED) for name in policy.suppress})


def built_method(
    policy: Policy, name: str, quasi: Sequence[PlacedColumn], promises: Sequence[Promise]
) -> Partitioner:
    """Build what workers run inside their parts."""
    method = method_of(
        policy,
        name,
        [placed.domain for placed in quasi],
        # Drawn here and not by workers: work that is done again must come out the same.
        seed=secrets.randbits(62) if policy.seed is None else policy.seed,
    )
    if not policy.repair:
        return method
    blind = any(promise.column is not None for promise in promises)
    return Repaired(method, Repair(blind=blind))


def _refuse_giving_away(rows: ClusterRows, policy: Policy, published: Sequence[str]) -> None:
    """Look at every row that is published, and refuse what gives people away."""
    if EVERY in policy.accept:
        return
    known = [*policy.quasi, *policy.sensitive]
    names = [*known, *(name for name in published if name not in known)]
    shown = rows.part if rows.hidden is None else rows.part.unionByName(rows.hidden)
    declared = (*known, *policy.insensitive)
    refuse_giving_away(sketch_on_spark(shown, names, policy), policy, named=declared)


def _needed(encoded: EncodedTable, carried: tuple[str, ...]) -> DataFrame:
    """Give the columns that go on: nobody keeps or moves identifiers, or values that have a number."""
    numbers = [placed.column for placed in encoded.quasi]
    numbers += [read.column for readings in encoded.coded.values() for read in readings]
    return encoded.frame.select(*(column(name) for name in dict.fromkeys([*carried, *numbers])))


def refuse_on_spark(policy: Policy) -> None:
    """Say at once what a cluster cannot do."""
    for name, known in settings_of(Policy).items():
        if not known.on_spark and not known.is_default(getattr(policy, name)):
            raise InvalidParameter(
                f"{name} is not for engine='spark'; engine='local' does it: "
                f"leave out {spelled('engine', 'spark')}"
            )
    by_row = next(iter(coarsened_by_row(policy).items()), None)
    if by_row is not None:
        raise InvalidParameter(
            f"{next(iter(by_row[1]))}.{by_row[0]}: engine='spark' makes quasi-identifiers coarser; "
            f"engine='local' does it for any column: leave out {spelled('engine', 'spark')}"
        )
    if policy.method != "auto" and not METHODS[check.one_of(METHODS, method=policy.method)].on_spark:
        raise InvalidParameter(
            f"method={policy.method!r} needs the whole table in one place: engine='local' does it; on Spark "
            f"choose one of {', '.join(name for name, method in METHODS.items() if method.on_spark)}"
        )
    if policy.method == "u-mondrian" and policy.options.get("cut") == "cells":
        raise InvalidParameter("option cut='cells' of u-mondrian: engine='spark' does it for mondrian")
    if policy.cells != "text":
        raise InvalidParameter(
            f"cells={policy.cells!r}: engine='spark' writes text; engine='local' the others"
        )
    if not FORMATS[policy.format].on_spark:
        possible = ", ".join(name for name, known in FORMATS.items() if known.on_spark)
        raise InvalidParameter(f"format={policy.format!r}: engine='spark' writes {possible}")
    if policy.shuffle is False:
        raise InvalidParameter("shuffle=False: rows on a cluster have no order to keep")


def _recodings(encoded: EncodedTable, policy: Policy) -> tuple[Recoding, ...]:
    """Choose how columns are written; some rows tell where values are heaped on lines of the grid."""
    ranged = [quasi for quasi in encoded.quasi if not isinstance(quasi.domain, Words | Leaves)]
    some: dict[str, Any] = {}
    if ranged and policy.bounds == "grid":
        asked = [position(quasi).alias(f"p{place}") for place, quasi in enumerate(ranged)]
        table = encoded.frame.select(*asked).limit(_SOME).toArrow()
        some = {
            quasi.name: table.column(place).to_numpy().astype(np.float64)
            for place, quasi in enumerate(ranged)
        }
    return tuple(
        recoding_of(quasi.axis(some.get(quasi.name, np.zeros(0))), policy, None) for quasi in encoded.quasi
    )
