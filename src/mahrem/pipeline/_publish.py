"""Check a draft on what is really published, and only then let it go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from mahrem import arrays
from mahrem.errors import GuaranteeBroken, Infeasible
from mahrem.pipeline._draft import Draft
from mahrem.table import exported_names, open_source, write_table
from mahrem.types import Rows
from mahrem.verify import Verdict, verify

__all__ = ["checked_file", "checked_frame"]


def checked_frame(draft: Draft, table: object) -> Verdict:
    """Verify a table in memory, in the very frame the caller will get."""
    shown = open_source(table)
    return _check(draft, shown.scan([*draft.quasi, *draft.prepared.values]), shown.columns, order=None)


def checked_file(draft: Draft, folder: Path) -> Verdict:
    """Write the data file, shuffled unless told not to, read it back, and verify what it says."""
    policy = draft.policy
    order = None if policy.shuffle is False else arrays.shuffled(draft.prepared.rows)
    path = folder / f"data.{policy.format}"
    write_table(draft.table_for_file(order), path, policy.format)
    published = _scan(path)
    names = published.collect_schema().names()
    if names != exported_names(draft.columns, policy.format):
        raise GuaranteeBroken(
            f"the file has {len(names)} columns that are not the {len(draft.columns)} to be published"
        )
    renamed = published.rename(dict(zip(names, draft.columns, strict=True)))
    wanted = renamed.select([*draft.quasi, *draft.prepared.values]).collect()  # read once, from the file
    return _check(draft, wanted.lazy(), draft.columns, order)


def _check(draft: Draft, table: pl.LazyFrame, columns: Sequence[str], order: Rows | None) -> Verdict:
    prepared = draft.prepared
    subjects = None
    if prepared.subjects is not None:
        subjects = np.full(prepared.rows, -1, np.int32)
        subjects[~prepared.suppress] = prepared.subjects[: prepared.taking_part]
        subjects = subjects if order is None else subjects[order]
    verdict = verify(
        table,
        quasi=draft.quasi,
        promises=draft.policy.promises(),
        sensitive={name: prepared.columns[name] for name in prepared.values},
        subjects=subjects,
        suppressed=prepared.suppress if order is None else prepared.suppress[order],
        population=prepared.population,
    )
    if list(columns) != draft.columns:
        raise GuaranteeBroken("the published table does not have the columns it should have")
    if verdict.rows != prepared.rows:
        raise GuaranteeBroken(f"rows={verdict.rows} were published of {prepared.rows}")
    if verdict.suppressed != prepared.suppress.sum():
        raise GuaranteeBroken("a row that should show nothing shows something")
    broken = {outcome.model: outcome for outcome in verdict.outcomes if not outcome.holds}
    if "delta-presence" in broken:
        message = (
            "delta-presence cannot be reached: cells of different classes overlap; publish words as sets"
        )
        raise Infeasible(message, reached=broken["delta-presence"].reached)
    if broken:
        raise GuaranteeBroken(f"the published table does not keep {', '.join(broken)}; please report this")
    return verdict


def _scan(path: Path) -> pl.LazyFrame:
    """Read a published file without any of our own readers."""
    match path.suffix:
        case ".parquet":
            return pl.scan_parquet(path, glob=False)
        case ".arrow":
            return pl.scan_ipc(path, glob=False)
        case ".tsv":
            return pl.scan_csv(path, infer_schema=False, separator="\t", glob=False)
        case _:
            return pl.scan_csv(path, infer_schema=False, glob=False)
