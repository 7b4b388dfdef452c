"""Tables that are published with cells hidden or changed: opened by roles, written, read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from mahrem import check
from mahrem.disclosed import unmarked
from mahrem.errors import GuaranteeBroken
from mahrem.pipeline.masking._settings import masking_settings
from mahrem.pipeline.releasing import read_back
from mahrem.release import refuse_giving_away
from mahrem.release.decisions import Policy, reading_of, roles_of
from mahrem.release.folders import record_run, staged_release
from mahrem.report import to_json
from mahrem.table import FORMATS, open_source
from mahrem.table.cells import text_where_needed
from mahrem.table.cells.formulas import restore_cells
from mahrem.table.writing import exported_names, write_table


@dataclass(frozen=True, kw_only=True)
class MaskedSource:
    """The columns that will be published, as they came."""

    table: pl.DataFrame = field(repr=False)
    policy: Policy
    left_out: tuple[str, ...]
    beside: pl.DataFrame = field(repr=False)  # columns that are looked at and not published


@dataclass(frozen=True, kw_only=True)
class MaskedRelease:
    """A table with cells hidden or changed, and what may be said about it.

    Attributes:
        table: What is published; rows in their order, which a file does not keep.
        report: What ``report.json`` says; all of it may be published.
        folder: Where the release lies; None if nothing was written.
    """

    table: pl.DataFrame = field(repr=False)
    report: Mapping[str, Any] = field(repr=False)
    folder: Path | None = None


def open_masked(
    source: object,
    settings: Mapping[str, object],
    *,
    to_publish: bool = True,
    looks_at: Sequence[str] = (),
) -> MaskedSource:
    """Read a table and the roles of its columns; what is to be published passes the gate.

    Columns that are only looked at are read beside it, where they are not published.
    """
    check.unknown_keys(settings, tuple(masking_settings()), where="setting")
    policy = Policy.of(settings)
    opened = open_source(source, reading_of(policy))
    left_out = roles_of(opened.columns, policy)
    table = opened.take([name for name in opened.columns if name not in left_out])
    if to_publish:
        named = (*policy.quasi, *policy.sensitive, *policy.insensitive)
        refuse_giving_away(table, policy, named=named)
    beside = opened.take([name for name in dict.fromkeys(looks_at) if name in left_out])
    return MaskedSource(table=table, policy=policy, left_out=left_out, beside=beside)


def publish_masked(
    table: pl.DataFrame,
    report: Mapping[str, object],
    opened: MaskedSource,
    *,
    output: str | Path | None,
    force: bool,
    verified: Callable[[pl.DataFrame], None],
) -> MaskedRelease:
    """Check a table, or the file it was written to, and hand it out.

    Args:
        table: What will be published.
        report: What is said about it; every number says why it may be.
        opened: Where it came from.
        output: The folder to make; None for the table alone.
        force: Replace an earlier release.
        verified: Raises if what it is given does not keep what was promised.
    """
    return publish_made(lambda: (table, report), opened.policy, output=output, force=force, verified=verified)


def publish_made(
    make: Callable[[], tuple[pl.DataFrame, Mapping[str, Any]]],
    policy: Policy,
    *,
    output: str | Path | None,
    force: bool,
    verified: Callable[[pl.DataFrame], None],
) -> MaskedRelease:
    """Publish as :func:`publish_masked` a table that is only made once its folder is known to be free."""
    if output is None:
        table, notes = _with_roles(*make(), policy)
        verified(table)
        return MaskedRelease(table=table, report=notes)
    folder, kind = Path(output), policy.format
    with staged_release(folder, force=force) as stage:
        table, notes = _with_roles(*make(), policy)
        path = stage / f"data.{kind}"
        ordered = table[table.hash_rows(seed=0).arg_sort()]  # the order of rows tells what the rows do not
        spreadsheets = FORMATS[kind].spreadsheets
        write_table(text_where_needed(ordered) if spreadsheets else ordered, path, kind)
        back = read_back(path, table.columns, kind).collect()
        verified(restore_cells(back.lazy()).collect() if spreadsheets else back)
        if policy.k is not None:
            about = {"mahrem": {"version": version("mahrem")}, **policy.public()}
            (stage / "policy.toml").write_text(tomli_w.dumps(about), encoding="utf-8")
        (stage / "report.json").write_text(to_json(notes), encoding="utf-8")
    record_run(folder, None, {"method": notes["method"], "rows": table.height})
    return MaskedRelease(table=table, report=notes, folder=folder)


def _with_roles(
    table: pl.DataFrame, report: Mapping[str, Any], policy: Policy
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Say what the published columns are beside a report; a number without a reason is refused."""
    place = unmarked(report)
    if place is not None:
        raise GuaranteeBroken(f"the report says {place!r} without a reason why it may")
    return table, {"mahrem": version("mahrem"), **_roles(table, policy), **report}


def _roles(table: pl.DataFrame, policy: Policy) -> dict[str, Any]:
    roles = dict.fromkeys(policy.quasi, "quasi") | dict.fromkeys(policy.sensitive, "sensitive")
    return {
        "columns": {name: {"role": roles.get(name, "insensitive")} for name in table.columns},
        "published": {
            "quasi": exported_names(list(policy.quasi), policy.format),
            "sensitive": exported_names(list(policy.sensitive), policy.format),
        },
    }
