"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import polars as pl

from mahrem.errors import OutputFailed

_NUMBER = re.compile(r"\(os error (\d+)\)")  # how polars passes on what the system said


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
        raise OutputFailed(
            f"file={path.name!r} could not be written ({_reason(error)}); nothing is left of it"
        ) from None


def _reason(error: BaseException) -> str:
    """Give the system's own words; those of a library might hold a value."""
    number = getattr(error, "errno", None)
    if number is None and (noted := _NUMBER.search(str(error))):
        number = int(noted.group(1))
    return os.strerror(number) if number else type(error).__name__
