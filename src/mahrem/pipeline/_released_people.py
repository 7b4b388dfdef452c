"""Who is in a release, kept for the next one: two releases of the same people tell more than each says."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from mahrem.pipeline._draft import Draft
from mahrem.release import told_apart_by, watch_people
from mahrem.table import Source

__all__ = ["remember_people"]


def remember_people(draft: Draft, output: Path) -> None:
    """Warn if these people were released before, and keep their fingerprints for the next time."""
    policy, source = draft.policy, draft.prepared.source
    if _only_invented(source):
        return
    names, by_name = told_apart_by(
        policy.subject, (*policy.identifier, *policy.pseudonym), policy.quasi, source.columns
    )
    people, keep = source.take(names), draft.prepared.keep
    watch_people(people if keep.all() else people.filter(pl.Series(keep)), output, by_name=by_name)


def _only_invented(source: Source) -> bool:
    """Say whether a table lists the demo's patients: what is told of people who do not exist harms nobody."""
    if "name" not in source.columns:
        return False
    from mahrem.datasets import are_invented

    first = source.scan(["name"]).head(1).collect()["name"]  # one name finds out most tables
    return are_invented(first) and are_invented(source.take(["name"])["name"])
