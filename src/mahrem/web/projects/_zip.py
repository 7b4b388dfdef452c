"""Files as one archive that is made while it is sent: nothing goes to disk, little is held in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, cast

_CHUNK = 2**20


def zip_files(paths: Iterable[Path]) -> Iterator[bytes]:
    """Give the bytes of an archive that holds files under their own names."""
    sink = _Sink()
    with zipfile.ZipFile(cast("IO[bytes]", sink), "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in paths:
            with path.open("rb") as file, archive.open(path.name, "w", force_zip64=True) as member:
                while chunk := file.read(_CHUNK):
                    member.write(chunk)
                    yield sink.take()
            yield sink.take()
    yield sink.take()


class _Sink:
    """A file that can only be written to, and is emptied as it goes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Keep some bytes."""
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: nothing is held back."""

    def take(self) -> bytes:
        """Give what was written since the last time."""
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken
