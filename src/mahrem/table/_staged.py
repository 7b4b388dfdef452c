"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import polars as pl

from mahrem.errors import OutputFailed

__all__ = ["appearing"]


@contextmanager
def appearing(path: Path) -> Iterator[BinaryIO]:
    """Open a private file beside ``path`` that takes its name at the end, or vanishes."""
    temporary = path.with_name(f".{path.name[:200]}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "w+b", buffering=0) as stream:  # noqa: PTH123 - the descriptor is private from birth
                yield stream
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except (OSError, pl.exceptions.PolarsError) as error:
        if isinstance(error, OutputFailed):
            raise
        reason = (
            os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
        )
        raise OutputFailed(
            f"file={path.name!r} could not be written ({reason}); nothing is left of it"
        ) from None
