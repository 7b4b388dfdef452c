"""Which data a ledger belongs to: a keyed hash of the place and of the content, never either itself."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from mahrem.errors import InvalidInput
from mahrem.table import Reading, open_source
from mahrem.table.reading import is_postgresql
from mahrem.words import Note, warn_of

_CHUNK = 1 << 22
_WHERE = {"host", "hostaddr", "port", "dbname", "service"}  # a URI may say its place behind the question mark


def fingerprint(source: object, reading: Reading, columns: Sequence[str], key: bytes) -> dict[str, Any]:
    """Note which data this is.

    Files are known by their content and by their place; databases by their place; frames by content.
    """
    place = place_of(source, reading)
    noted: dict[str, object] = {"columns": _keyed(key, "\0".join(columns).encode())}
    noted["place"] = None if place is None else _keyed(key, place.encode())
    noted["content"] = _content(source, reading, key)
    noted["state"] = _state(source, key)
    return noted


def refuse_other(
    noted: Mapping[str, Any], source: object, reading: Reading, columns: Sequence[str], key: bytes
) -> None:
    """Refuse a source that is not the one the ledger was made for.

    The content of a file at the same place may have changed: the people in it mostly have not, so the ledger
    goes on, and a warning says what that means.
    """
    other = InvalidInput(
        "ledger: it was made for other data; every data set has a ledger of its own, and the same people "
        "must not be asked under two"
    )
    if not hmac.compare_digest(noted["columns"], _keyed(key, "\0".join(columns).encode())):
        raise other
    place = place_of(source, reading)
    if place is not None and noted["place"] == _keyed(key, place.encode()):
        if noted["state"] == _state(source, key) or noted["content"] is None:
            return
        if noted["content"] != _content(source, reading, key):
            warn_of(Note("warning.file_changed"), stacklevel=3)
        return
    if noted["content"] is None or noted["content"] != _content(source, reading, key):
        raise other


def _keyed(key: bytes, content: bytes) -> str:
    return hmac.new(key, content, hashlib.sha256).hexdigest()


def place_of(source: object, reading: Reading) -> str | None:
    """Say where data lie; None for a frame, which lies nowhere."""
    asked = f"{reading.table or ''}\0{reading.query or ''}"
    if isinstance(source, str) and is_postgresql(source):
        parts = urlsplit(source)
        named = [pair for pair in parse_qsl(parts.query) if pair[0] in _WHERE]
        return f"postgresql\0{parts.hostname}\0{parts.port or 5432}\0{parts.path}\0{sorted(named)}\0{asked}"
    if isinstance(source, str | os.PathLike):
        return f"file\0{Path(os.fsdecode(source)).resolve()}\0{asked}"
    return None


def _state(source: object, key: bytes) -> str | None:
    """Give size and time of a file, keyed: a size in the open would tell how many rows there are."""
    if isinstance(source, str | os.PathLike) and not is_postgresql(source):
        status = Path(os.fsdecode(source)).stat()
        return _keyed(key, f"{status.st_size}\0{status.st_mtime_ns}".encode())
    return None


def _content(source: object, reading: Reading, key: bytes) -> str | None:
    if is_postgresql(source):
        return None
    asked = f"{reading.table or ''}\0{reading.query or ''}\0"  # a database file holds several tables
    digest = hmac.new(key, asked.encode(), hashlib.sha256)
    if isinstance(source, str | os.PathLike):
        with Path(os.fsdecode(source)).open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
        return digest.hexdigest()
    opened = open_source(source, reading)
    for name in opened.columns:
        column = opened.take([name])[name]
        digest.update(f"{name}\0{column.dtype}\0".encode())
        digest.update(column.to_frame().write_ipc(None).getbuffer())
    return digest.hexdigest()
