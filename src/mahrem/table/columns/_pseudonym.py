"""Pseudonyms: a keyed hash in the place of an identifier, the same for the same person in every table."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import warnings
from pathlib import Path

import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed, PrivacyWarning

SHORTEST = 16  # bytes of a key
SHOWN = 16  # bytes of the hash that are published


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
    if len(key) < SHORTEST:
        raise InvalidParameter(f"key has {len(key)} bytes; it must have at least {SHORTEST}")
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


def read_key(path: Path) -> bytes:
    """Read the key for :func:`pseudonyms`; a file that others can read gets a ``PrivacyWarning``."""
    try:
        with Path(path).open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            key = stream.read()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        raise InvalidParameter(
            f"key file={Path(path).name!r} cannot be read ({reason}); make one with make_key"
        ) from None
    if len(key) < SHORTEST:
        raise InvalidParameter(
            f"key file={Path(path).name!r} has {len(key)} bytes; it needs at least {SHORTEST}"
        )
    if os.name == "posix" and mode & (stat.S_IRGRP | stat.S_IROTH):
        warnings.warn(
            f"key file={Path(path).name!r} can be read by others, who could then make the same pseudonyms; "
            f"use chmod 600",
            PrivacyWarning,
            stacklevel=2,
        )
    return key


def make_key(path: Path) -> bytes:
    """Make a random key of 32 bytes in a new file that only its owner can read; never overwrites."""
    key = secrets.token_bytes(32)
    name = Path(path).name
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as stream:  # noqa: PTH123 - the descriptor is private from birth
            stream.write(key)
    except FileExistsError:
        raise InvalidParameter(
            f"key file={name!r} is already there; a lost key cannot be made again"
        ) from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        raise OutputFailed(f"key file={name!r} could not be written ({reason})") from None
    return key
