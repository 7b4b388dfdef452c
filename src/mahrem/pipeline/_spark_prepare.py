"""From a distributed source and a policy to a task for the cluster."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from mahrem import check
from mahrem.engines import Coded, Placed, Spark, Task
from mahrem.engines._spark_frame import column
from mahrem.errors import InvalidParameter, spelled
from mahrem.models import Promise
from mahrem.partition import METHODS, Partitioner, build_method
from mahrem.pipeline._draft import recoding_of
from mahrem.pipeline._prepare import roles_of
from mahrem.pipeline._spark_encode import Encoded, encode_on_spark
from mahrem.pipeline._spark_report import Made
from mahrem.pipeline._spark_rows import SparkRows, rows_of
from mahrem.pipeline._spark_source import ClusterTable, open_on_spark
from mahrem.release import Policy
from mahrem.table import FORMATS, Hierarchy, Leaves, Words

__all__ = ["Work", "prepared_on_spark", "refuse_on_spark"]

_KNOWN = (  # what a policy may say here; the rest needs all rows in one place
    *("quasi", "sensitive", "identifier", "insensitive", "rest", "kind", "order", "null", "missing"),
    *("hierarchy", "k", "models", "fraction", "method", "options", "strategy", "bounds", "grid", "top"),
    *("bottom", "suppress", "suppression_limit", "weights", "seed", "engine", "master", "delimiter"),
    *("encoding", "decimal", "query", "table", "format", "language", "look_for", "cells", "shuffle"),
)


@dataclass(frozen=True)
class Work:
    """A distributed table ready to be partitioned."""

    rows: SparkRows
    encoded: Encoded = field(repr=False)
    task: Task
    made: Made
    label: str

    @property
    def trees(self) -> dict[str, Hierarchy]:
        """The hierarchies of quasi-identifiers."""
        return {
            one.name: one.domain.hierarchy for one in self.encoded.quasi if isinstance(one.domain, Leaves)
        }


def prepared_on_spark(engine: Spark, source: object, policy: Policy, cleanup: ExitStack) -> Work:
    """Read what the policy names and find out kinds, domains and values."""
    opened: ClusterTable = open_on_spark(engine.session, source, policy)
    names = tuple(opened.frame.columns)
    said = policy.for_columns(names)
    leave_out = roles_of(names, said)
    published = [name for name in names if name not in leave_out]
    rows = rows_of(opened.frame, said, published)
    encoded = encode_on_spark(rows.part, said)
    carried = tuple(rows.published.get(name, name) for name in published if name not in said.quasi)
    encoded = replace(encoded, frame=_needed(encoded, carried))
    if encoded.joined or opened.costly:
        kept = encoded.frame.persist()
        cleanup.callback(kept.unpersist)
        encoded = replace(encoded, frame=kept)
    method, reason = (
        ("mondrian", "strict cuts are exact on a cluster")
        if said.method == "auto"
        else (
            said.method,
            None,
        )
    )
    recodings = tuple(recoding_of(one.axis(np.zeros(0)), said, None) for one in encoded.quasi)
    task = Task(
        quasi=encoded.quasi,
        promises=tuple((promise.model, _coded(promise, encoded)) for promise in said.promises()),
        method=_method(method, encoded.quasi, said),
        recodings=recodings,
        carried=carried,
        shuffled=True,
    )
    made = Made(
        policy=said,
        method=method,
        reason=reason,
        source_columns=names,
        columns=encoded.columns,
        leave_out=leave_out,
        quasi=encoded.quasi,
        incomplete=encoded.incomplete,
        recodings=recodings,
        rows_in=0,
        dropped=rows.dropped,
        suppressed=rows.suppressed,
        plans=(),
        jobs=None,
    )
    return Work(rows, encoded, task, made, opened.label)


def _needed(encoded: Encoded, carried: tuple[str, ...]) -> Any:
    """Give the columns that go on: nobody keeps or moves identifiers, or values that have a number."""
    numbers = [one.column for one in encoded.quasi] + [one.column for one in encoded.coded.values()]
    return encoded.frame.select(*(column(name) for name in dict.fromkeys([*carried, *numbers])))


def refuse_on_spark(policy: Policy) -> None:
    """Say at once what a cluster cannot do."""
    usual = Policy()
    for entry in fields(policy):
        said = getattr(policy, entry.name)
        if entry.name not in _KNOWN and said != getattr(usual, entry.name):
            raise InvalidParameter(
                f"{entry.name} is not for engine='spark'; engine='local' does it: "
                f"leave out {spelled('engine', 'spark')}"
            )
    if policy.method != "auto" and not METHODS[check.one_of(METHODS, method=policy.method)].on_spark:
        raise InvalidParameter(
            f"method={policy.method!r} needs the whole table in one place: engine='local' does it; on Spark "
            f"choose one of {', '.join(name for name, method in METHODS.items() if method.on_spark)}"
        )
    if policy.cells != "text":
        raise InvalidParameter(
            f"cells={policy.cells!r}: engine='spark' writes text; engine='local' the others"
        )
    if not FORMATS[policy.format].on_spark:
        possible = ", ".join(name for name, known in FORMATS.items() if known.on_spark)
        raise InvalidParameter(f"format={policy.format!r}: engine='spark' writes {possible}")
    if policy.shuffle is False:
        raise InvalidParameter("shuffle=False: rows on a cluster have no order to keep")


def _coded(promise: Promise, encoded: Encoded) -> Coded | None:
    return None if promise.column is None else encoded.coded[promise.column]


def _method(name: str, quasi: tuple[Placed, ...], policy: Policy) -> Partitioner:
    domains = [one.domain for one in quasi]
    return build_method(
        name,
        strict=policy.strategy == "strict",
        # Drawn here and not by workers: work that is done again must come out the same.
        seed=secrets.randbits(62) if policy.seed is None else policy.seed,
        categorical=tuple(
            place
            for place, domain in enumerate(domains)
            if isinstance(domain, Leaves) or (isinstance(domain, Words) and not domain.ordered)
        ),
        hierarchies=tuple(domain.hierarchy if isinstance(domain, Leaves) else None for domain in domains),
        options=dict(policy.options),
    )
