"""How far each ledger had come, and for which data, kept outside of it on this machine.

An old copy put back in its place is noticed, and so is a second ledger for data that have paid from another.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from mahrem.arrays.sketching import RowSketch
from mahrem.errors import Tampered
from mahrem.files import private_key, state_folder, write_whole
from mahrem.table.cells.alone import plain_alone
from mahrem.words import Note, warn_of

KEPT = 1 << 12  # hashes of rows kept for one ledger
UNLIKELY = 64  # different rows from which two tables are known without names; fewer may agree by chance
SAME = 0.5  # share of the rows of the smaller table from which two are taken for the same data


def _folder() -> Path:
    return state_folder() / "ledgers"


def _path(key: bytes) -> Path:
    return _folder() / (hmac.new(key, b"mark", hashlib.sha256).hexdigest()[:32] + ".json")


def note_place(key: bytes, place: str) -> bool:
    """Note which data a new ledger is for; says whether another one has already spent from them."""
    listing = _folder() / "places" / hashlib.sha256(place.encode()).hexdigest()[:32]
    spent = False
    with suppress(OSError, ValueError):
        listing.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with listing.open("a+", encoding="ascii") as stream:
            stream.seek(0)
            spent = any((_folder() / name).exists() for name in stream.read().split())
            stream.write(f"{_path(key).name}\n")
    return spent


def note_rows(key: bytes, rows: pl.LazyFrame) -> bool:
    """Note the rows a new ledger is for; says whether another one has already spent from most of them.

    Args:
        key: Of the new ledger.
        rows: The table, in whatever form it came: the same rows as CSV, Parquet or a frame are the same, and
            so are they where columns have other names and another order.
    """
    try:
        mine = private_key()
    except OSError:  # no place to remember anything: that is said where the ledger's mark is set
        return False
    schema = rows.collect_schema()
    cells = [plain_alone(name, schema[name]).fill_null("\x00") for name in sorted(schema.names())]
    named = rows.select(pl.concat_str(cells, separator="\x1f")).collect().to_series()
    nameless = rows.select(pl.concat_list(cells).list.sort().list.join("\x1f")).collect().to_series()
    known = {"rows": (named, sorted(schema.names()), 1), "cells": (nameless, [str(len(cells))], UNLIKELY)}
    spent = False
    for kind, (texts, about, least) in known.items():
        tag = hmac.new(mine, "\x1f".join([kind, *about]).encode(), hashlib.sha256).hexdigest()[:16]
        sketch = RowSketch.of([texts], kind.encode() + mine, kept=KEPT)
        if sketch.rows >= least:
            with suppress(OSError, ValueError):
                spent |= _remember(sketch, tag, _path(key).stem)
    return spent


def _remember(sketch: RowSketch, tag: str, ledger: str) -> bool:
    """Keep the sketch of a ledger; says whether another ledger with most of these rows has spent."""
    folder, spent = _folder() / "rows", False
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for path in folder.glob(f"{tag}-*"):
        count, _, content = path.read_bytes().partition(b"\n")
        before = RowSketch.read(int(count), content)
        same = sketch.overlap(before) >= SAME * max(1, min(sketch.rows, before.rows))
        spent = spent or (same and (_folder() / f"{path.name.partition('-')[2]}.json").exists())
    write_whole(folder / f"{tag}-{ledger}", str(sketch.rows).encode() + b"\n" + sketch.as_bytes())
    return spent


def set_mark(key: bytes, sequence: int, seal: str) -> None:
    """Note the newest line; where there is no place for it, old copies would go unnoticed, which is said."""
    path = _path(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, json.dumps({"sequence": sequence, "seal": seal}))
    except OSError as error:
        warn_of(Note("warning.ledger_unmarked", {"reason": error.strerror}), stacklevel=5)


def check_mark(key: bytes, seals: Sequence[str], name: str) -> None:
    """Refuse a ledger that lacks a line it once had."""
    try:
        mark = json.loads(_path(key).read_text(encoding="ascii"))
        sequence, seal = int(mark["sequence"]), str(mark["seal"])
    except (OSError, ValueError, KeyError, TypeError):
        return  # another machine, or a mark cut short: the chain of seals still holds
    if sequence >= len(seals) or seals[sequence] != seal:
        raise Tampered(
            f"ledger={name!r} is older than it was: {len(seals)} lines, but {sequence + 1} were written; "
            f"an earlier copy was put back, and its budget would be spent twice"
        )
