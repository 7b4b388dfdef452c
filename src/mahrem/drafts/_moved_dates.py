"""Dates on other days: each person's are moved by so many days as a key says, intervals stay."""

from __future__ import annotations

import hmac
from pathlib import Path

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter, spelled
from mahrem.release.decisions import Policy, roles_of
from mahrem.table import Kind, Source, read_kind
from mahrem.table.cells import as_text, moments_of_text
from mahrem.table.cells.zones import within_calendar
from mahrem.table.columns import pseudonyms, read_key
from mahrem.types import Integers

_PURPOSE = b"mahrem: days that dates of a person are moved by"


def moved_dates(source: Source, policy: Policy) -> dict[str, pl.Series]:
    """Move all dates that are published.

    Guarantees:
        - All dates of a person move by one number of whole days, from 1 to ``shift_days`` either way: days
          between them stay, within a table and across tables with the same key.
        - Without the key nobody knows the number; it stands nowhere.

    Raises:
        InvalidParameter: If nobody says whose rows they are, or there is no date.
    """
    if policy.shift_days is None:
        return {}
    if policy.shift_dates is None:
        raise InvalidParameter(
            f"shift_days={policy.shift_days} needs the key that says how far: "
            f"{spelled('shift_dates', 'KEYFILE')}"
        )
    if policy.subject is None:
        raise InvalidParameter(
            f"shift_dates moves the dates of each person; say whose rows they are: "
            f"{spelled('subject', 'COL')}"
        )
    shown = [
        name for name in source.columns if name not in (*roles_of(source.columns, policy), policy.subject)
    ]
    taken = source.take([*shown, policy.subject])
    dates = {name: read for name in shown if (read := _dates(taken[name], policy)) is not None}
    if not dates:
        raise InvalidParameter("shift_dates would do nothing: no published column has dates")
    days = offsets(taken[policy.subject], policy.shift_dates, policy.shift_days)
    return {name: _moved(taken[name], moments, days) for name, moments in dates.items()}


def offsets(people: pl.Series, key: object, most: int) -> Integers:
    """Give the days that each row moves, the same for equal people; never 0, never more than ``most``.

    Example:
        >>> offsets(pl.Series(["a", "b", "a"]), bytes(16), 182).tolist()
        [-38, -125, -38]
    """
    held = key if isinstance(key, bytes) else read_key(Path(str(key)))
    own = hmac.digest(held, _PURPOSE, "sha256")
    # Rows without a person count as one person.
    hashed = pseudonyms(people, own).fill_null(hmac.digest(own, b"", "sha256")[:16].hex())
    distinct = hashed.unique()
    drawn = [int(text, 16) % (2 * most) for text in distinct]
    days = [place - most if place < most else place - most + 1 for place in drawn]
    moves: Integers = hashed.replace_strict(distinct, pl.Series(days, dtype=pl.Int64)).to_numpy()
    return moves


def _dates(series: pl.Series, policy: Policy) -> pl.Series | None:
    """Read a column of days or moments; None for any other."""
    declared = policy.kind.get(series.name)
    if series.name in policy.hierarchy or declared not in (None, Kind.DATE):
        return None
    kind, read = read_kind(series, decimal=policy.decimal)
    if kind is not Kind.DATE:
        return None
    return moments_of_text(read) if read.dtype == pl.String else read


def _moved(series: pl.Series, moments: pl.Series, days: Integers) -> pl.Series:
    """Move days or moments; what came as text goes as ISO text."""
    span = pl.Series(days.astype(np.int64)).cast(pl.Int64)
    moved = pl.DataFrame({"at": moments, "days": span}).select(pl.col("at") + pl.duration(days="days"))["at"]
    if not within_calendar(moved).fill_null(value=True).all():
        raise InvalidInput(
            f"column={series.name!r} has dates near the end of the calendar that cannot be moved; "
            f"make them missing"
        )
    moved = moved.cast(moments.dtype)
    return (as_text(moved) if series.dtype == pl.String else moved.cast(series.dtype)).alias(series.name)
