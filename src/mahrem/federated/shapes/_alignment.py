"""Which rows of several tables are about the same people: found from keyed hashes of their ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.wire import Words
from mahrem.table.columns import pseudonyms
from mahrem.types import Integers


@dataclass(frozen=True)
class HashedIds:
    """One party's ids under the parties' key, in an order that says nothing about its table."""

    words: Words  # (n, 2) 128 bits of each id, rising
    rows: Integers  # (n,) which row of the table each is
    missing: int  # rows without an id


@dataclass(frozen=True)
class AlignedRows:
    """Which of each party's hashes are there in every party, and how many are not."""

    places: Mapping[str, Integers]  # (rows,) by party, in an order common to all
    alone: Mapping[str, int]  # ids by party that some other party does not have

    @property
    def rows(self) -> int:
        """How many rows all parties have."""
        return len(next(iter(self.places.values()), ()))


def normalise_ids(ids: pl.Series) -> pl.Series:
    """Write ids the same way everywhere: Unicode NFKC, small letters, single spaces; empty ones are missing.

    Numbers count as they are written, so that 7, 7.0 and "7" are one person; "007" is another.

    Example:
        >>> normalise_ids(pl.Series("id", [" Ada  L.", "ada l.", ""])).to_list()
        ['ada l.', 'ada l.', None]
    """
    if ids.dtype.is_float() or ids.dtype.is_nested():
        return ids  # written (floats) or refused (nested) where they are hashed
    text = ids.cast(pl.String).str.normalize("NFKC").str.to_lowercase()
    text = text.str.replace_all(r"\s+", " ").str.strip_chars()
    return text.replace("", None)


def hash_ids(ids: pl.Series, key: bytes) -> HashedIds:
    """Hash the ids of a table under a key (HMAC-SHA256, 128 bits), sorted by hash.

    Guarantees:
        - The hashes do not depend on the order of the rows.
        - Without the key nobody can say whose hash one is, nor try names out.

    Raises:
        InvalidInput: If an id is there twice; the message says how many.

    Example:
        >>> hashed = hash_ids(pl.Series("id", ["b", "a", None]), bytes(16))
        >>> hashed.words.shape, sorted(hashed.rows.tolist()), hashed.missing
        ((2, 2), [0, 1], 1)
    """
    shown = pseudonyms(normalise_ids(ids), key)
    rows = np.flatnonzero(shown.is_not_null().to_numpy())
    text = "".join(shown.drop_nulls().to_list())
    words = np.frombuffer(bytes.fromhex(text), ">u8").astype(np.uint64).reshape(-1, 2)
    order = np.lexsort((words[:, 1], words[:, 0]))
    words, rows = words[order], rows[order]
    twice = int((words[1:] == words[:-1]).all(axis=1).sum()) if len(words) else 0
    if twice:
        raise InvalidInput(
            f"ids={twice} stand there more than once (after small letters and single spaces); each person "
            "needs one row"
        )
    return HashedIds(words, rows, int(shown.null_count()))


def align_ids(hashes: Mapping[str, Words], least: int = 1) -> AlignedRows:
    """Find the ids that every party has; whoever does this needs no key and sees hashes only.

    Args:
        hashes: ``(n, 2)`` by party, each once.
        least: Fewer rows in common than this are an error.

    Guarantees:
        - Row ``i`` of every party's places has the same hash; no hash is left out that all have.
        - The result does not depend on the order of anybody's rows, but for the places themselves.

    Raises:
        InvalidInput: If somebody's hashes are none, or one is there twice.
        Infeasible: If fewer than ``least`` rows align.

    Example:
        >>> one = np.array([[1, 1], [2, 2], [5, 5]], np.uint64)
        >>> alignment = align_ids({"a": one, "b": one[[2, 0]]})
        >>> alignment.places["a"].tolist(), alignment.places["b"].tolist(), dict(alignment.alone)
        ([0, 2], [1, 0], {'a': 1, 'b': 0})
    """
    frames = {name: _frame(name, words) for name, words in hashes.items()}
    if not frames:
        raise InvalidInput("parties=0: nobody to align")
    common: pl.DataFrame | None = None
    for frame in frames.values():
        keys = frame.select("high", "low")
        common = keys if common is None else common.join(keys, on=["high", "low"], how="inner")
    if common is None or common.height < least:
        rows = 0 if common is None else common.height
        counts = ", ".join(f"{name}: {frame.height} ids" for name, frame in sorted(frames.items())[:5])
        raise Infeasible(
            f"rows={rows} are there in every party, at least {least} are needed ({counts}); do all parties "
            "write ids the same way and use the same key?",
            reached=rows,
        )
    ordered = common.sort("high", "low")
    places = {
        name: ordered.join(frame, on=["high", "low"], how="left", maintain_order="left")["place"]
        .cast(pl.Int64)
        .to_numpy()
        for name, frame in frames.items()
    }
    return AlignedRows(places, {name: frame.height - ordered.height for name, frame in frames.items()})


def _frame(name: str, words: object) -> pl.DataFrame:
    if not isinstance(words, np.ndarray) or words.dtype != np.uint64 or words.shape[1:] != (2,):
        raise InvalidInput(f"party={name!r} sent no hashes of ids")
    frame = pl.DataFrame({"high": words[:, 0], "low": words[:, 1], "place": np.arange(len(words))})
    if frame.select("high", "low").n_unique() < frame.height:
        raise InvalidInput(f"party={name!r} sent an id more than once")
    return frame
