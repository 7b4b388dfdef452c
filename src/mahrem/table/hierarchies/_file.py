"""Hierarchy files in ARX's CSV form: no header, one row per leaf, its ancestors bottom-up, the last ``*``."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from mahrem.errors import InvalidInput
from mahrem.table.hierarchies._hierarchy import ROOT, Hierarchy


def read_hierarchy(
    path: str | Path, *, delimiter: str | None = None, encoding: str = "utf-8-sig"
) -> Hierarchy:
    """Read a hierarchy in ARX's CSV form: no header, one row per leaf, ancestors bottom-up.

    Rows may be ragged: a short row's last label stands for the levels above it, up to the root. Empty cells
    at the end of a row are taken for such raggedness.

    Args:
        path: The file.
        delimiter: What stands between cells; without it ``;`` or ``,``, as the first row suggests.
        encoding: The file's encoding.
    """
    name = f"hierarchy={str(path)!r}"
    try:
        with Path(path).open(encoding=encoding, newline="") as file:  # a value may hold any line end
            text = file.read()
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, LookupError) as error:
        raise InvalidInput(f"{name} is not text in encoding={encoding!r}") from error
    try:
        rows = _rows(text, delimiter or _delimiter(text))
    except csv.Error as error:
        raise InvalidInput(f"{name} is not CSV: a quote is not closed or stands in a wrong place") from error
    return Hierarchy.from_rows([_trimmed(row) for row in rows], name=name)


def _rows(text: str, delimiter: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    return [row for row in reader if any(map(str.strip, row))]


def _delimiter(text: str) -> str:
    """Choose by the first row: the mark that stands outside quotes; of both, the one before a last ``*``."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    bare = re.sub(r'"[^"]*("|$)', "", first)
    if ";" not in bare:
        return ","
    return "," if re.search(rf",\s*{re.escape(ROOT)}\s*$", bare) else ";"


def _trimmed(row: list[str]) -> list[str]:
    """Let go of blanks, and of empty cells at the end: spreadsheets fill short rows with them."""
    cells = [cell.strip() for cell in row]
    last = max(place for place, cell in enumerate(cells) if cell)
    return cells[: last + 1]
