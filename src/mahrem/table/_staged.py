"""Files of tables that appear whole or not at all, and what is said if they cannot."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import polars as pl

from mahrem import files
from mahrem.errors import OutputFailed

_NUMBER = re.compile(r"\(os error (\d+)\)")  # how polars passes on what the system said


@contextmanager
def appearing(path: Path) -> Iterator[BinaryIO]:
    """Open a private file beside ``path`` that takes its name at the end, or vanishes."""
    try:
        with files.appearing(path) as stream:
            yield stream
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
