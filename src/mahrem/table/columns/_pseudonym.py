"""Pseudonyms: a keyed hash in the place of an identifier, the same for the same person in every table."""

from __future__ import annotations

import hmac
from pathlib import Path

import polars as pl

from mahrem.errors import InvalidInput
from mahrem.files import check_key, given_key
from mahrem.words import Note, warn_of

SHOWN = 16  # bytes of the hash that are published


def read_key(path: Path) -> bytes:
    """Read a key of pseudonyms; one that others can read gets a ``PrivacyWarning``."""
    key, exposed = given_key(Path(path))
    if exposed:
        warn_of(Note("warning.key_open", {"file": Path(path).name}))
    return key


def pseudonyms(column: pl.Series, key: bytes) -> pl.Series:
    """Replace values by their keyed hash (HMAC-SHA256, 128 bits as hexadecimal text).

    Numbers count as they are written, so that 7, 7.0 and "7" are one person.

    Guarantees:
        - Equal values get equal pseudonyms, in every table that uses the same key; missing stays missing.
        - Without the key a pseudonym can be neither traced back nor made.

    References:
        Krawczyk, Bellare, Canetti: HMAC: keyed-hashing for message authentication, RFC 2104, 1997.

    Example:
        >>> pseudonyms(pl.Series("id", ["a", None, "a"]), bytes(16)).to_list()
        ['9615a95d4a336118c435b9cd54c5e864', None, '9615a95d4a336118c435b9cd54c5e864']
    """
    check_key("key", key)
    text = _written(column)
    distinct = text.drop_nulls().unique()
    hashes = [hmac.digest(key, value.encode(), "sha256")[:SHOWN].hex() for value in distinct]
    shown = text.replace_strict(
        distinct, pl.Series(hashes, dtype=pl.String), default=None, return_dtype=pl.String
    )
    return shown.alias(column.name)


def _written(column: pl.Series) -> pl.Series:
    """Write values as text; whole floats as whole numbers: pandas turns numbers with gaps into floats."""
    if column.dtype.is_nested() or isinstance(column.dtype, pl.Binary | pl.Object):
        raise InvalidInput(
            f"column={column.name!r} holds {column.dtype.base_type()} values and cannot be hashed"
        )
    if column.dtype.is_float():
        values = pl.col(column.name).fill_nan(None)
        whole = (values == values.round()) & (values.abs() < 2.0**53)
        written = pl.when(whole).then(values.cast(pl.Int64, strict=False).cast(pl.String))
        return column.to_frame().select(written.otherwise(values.cast(pl.String))).to_series()
    return column.cast(pl.String)
