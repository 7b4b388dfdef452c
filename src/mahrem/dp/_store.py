"""The file of a ledger: lines that can only be added, each sealed with a key and chained to the one before.

Who writes holds an exclusive lock, reads all lines, decides, appends one line and syncs it to disk before the
lock is let go. A line cut short by a crash was never synced, so nothing was released for it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mahrem.dp._mark import check_mark, set_mark
from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed, Tampered
from mahrem.files import given_key, make_key, write_whole
from mahrem.words import Note, warn_of

FORMAT = "mahrem-ledger-1"
START = "0" * 64


@dataclass(frozen=True)
class Record:
    """One line."""

    sequence: int
    time: str
    kind: str
    body: Mapping[str, Any]
    seal: str


def key_path(path: Path) -> Path:
    """Say where the key of a ledger lies: beside it, readable by its owner alone."""
    return path.with_name(path.name + ".key")


def create_store(path: Path, kind: str, make: Callable[[bytes], Mapping[str, object]]) -> Store:
    """Make a new ledger with its first line; never overwrites."""
    if path.exists():
        raise InvalidParameter(f"ledger={path.name!r} is there already; a ledger is never written over")
    if key_path(path).exists():
        raise InvalidParameter(
            f"ledger={path.name!r}: its key is there without it; put the ledger back if there was one, else "
            f"remove {key_path(path).name!r}"
        )
    key = make_key(key_path(path))
    try:
        line = _line(key, 0, kind, make(key), START)
        write_whole(path, line, new=True, durable=True)
    except BaseException as error:
        key_path(path).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OutputFailed(f"ledger={path.name!r} could not be written ({error.strerror})") from None
        raise
    return Store(path, key)


def open_store(path: Path) -> Store:
    """Open a ledger that is there."""
    if not path.is_file():
        raise InvalidInput(f"ledger={path.name!r} does not exist; make one with: mahrem ledger new")
    key, exposed = given_key(key_path(path))
    if exposed:
        values = {"ledger": path.name, "key": key_path(path).name}
        warn_of(Note("warning.ledger_key_open", values), stacklevel=3)
    return Store(path, key)


class Store:
    """Reads and appends; everything read has been checked against the key."""

    def __init__(self, path: Path, key: bytes) -> None:
        self.path = path
        self.key = key
        self._seen: tuple[bytes, tuple[Record, ...]] = (b"", ())  # lines that were checked before

    def records(self) -> list[Record]:
        """Read and check all lines."""
        with self._locked(shared=True) as stream:
            records, _ = self._read(stream.read())
        return records

    def append(self, kind: str, decide: Callable[[list[Record]], Mapping[str, object]]) -> Record:
        """Add one line; ``decide`` sees all others under the lock and may refuse by raising.

        Guarantees:
            - When this returns, the line is on disk.
            - Between what ``decide`` saw and the new line nobody else wrote.
        """
        with self._locked(shared=False) as stream:
            records, whole = self._read(stream.read())
            body = decide(records)
            line = _line(self.key, len(records), kind, body, records[-1].seal)
            try:
                stream.truncate(whole)  # a line cut short by a crash; nothing was released for it
                stream.seek(whole)
                stream.write(line)
                stream.flush()
                os.fsync(stream.fileno())
            except OSError as error:
                raise OutputFailed(
                    f"ledger={self.path.name!r} could not be written ({error.strerror}); nothing was released"
                ) from None
            record = _parse(line)
            set_mark(self.key, record.sequence, record.seal)
        return record

    def _read(self, content: bytes) -> tuple[list[Record], int]:
        whole = content.rfind(b"\n") + 1
        known, checked = self._seen
        if not content.startswith(known):
            known, checked = b"", ()
        records = list(checked)
        previous = records[-1].seal if records else START
        fresh = content[len(known) : whole].splitlines(keepends=True)
        for number, line in enumerate(fresh, start=len(records)):
            record = _checked(line, self.key, number, previous)
            if record is None:
                raise Tampered(
                    f"ledger={self.path.name!r}: line {number + 1} is not what was written; it was edited, "
                    f"or lines were removed or put in another order"
                )
            records.append(record)
            previous = record.seal
        if not records:
            raise Tampered(f"ledger={self.path.name!r} has lost its first line")
        check_mark(self.key, [record.seal for record in records], self.path.name)
        self._seen = (content[:whole], tuple(records))
        return records, whole

    @contextmanager
    def _locked(self, *, shared: bool) -> Iterator[Any]:
        try:
            import fcntl
        except ImportError:
            raise InvalidParameter("a ledger needs file locks as Linux and macOS have them") from None
        try:
            with self.path.open("rb" if shared else "r+b") as stream:
                fcntl.flock(stream, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
                if os.fstat(stream.fileno()).st_ino != self.path.stat().st_ino:
                    raise Tampered(f"ledger={self.path.name!r} was exchanged for another file just now")
                yield stream
        except OutputFailed:
            raise
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InvalidInput(f"ledger={self.path.name!r} cannot be opened ({reason})") from None


def _line(key: bytes, sequence: int, kind: str, body: Mapping[str, object], previous: str) -> bytes:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    content = {"format": FORMAT, "sequence": sequence, "time": now, "kind": kind, "body": body}
    return _written({**content, "seal": _seal(key, content, previous)}) + b"\n"


def _seal(key: bytes, content: Mapping[str, object], previous: str) -> str:
    return hmac.new(key, previous.encode() + _written(content), hashlib.sha256).hexdigest()


def _written(content: Mapping[str, object]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _parse(line: bytes) -> Record:
    record = json.loads(line)
    return Record(record["sequence"], record["time"], record["kind"], record["body"], record["seal"])


def _checked(line: bytes, key: bytes, number: int, previous: str) -> Record | None:
    """Read one line; None if it is not the one that was written there."""
    try:
        record = json.loads(line)
        seal = record.pop("seal")
        true = _seal(key, record, previous)
        same = record["format"] == FORMAT and record["sequence"] == number and isinstance(seal, str)
        if (
            not same
            or not hmac.compare_digest(seal, true)
            or _written({**record, "seal": seal}) + b"\n" != line
        ):
            return None
        return _parse(line)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
