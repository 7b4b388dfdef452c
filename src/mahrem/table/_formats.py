"""The formats a table is written in: what others ask of one before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["FORMATS", "FileFormat", "Format"]

Format: TypeAlias = Literal["csv", "tsv", "parquet", "arrow", "xlsx"]  # for type checkers: the names below


@dataclass(frozen=True)
class FileFormat:
    """A kind of file."""

    media: str  # as the web calls it
    spreadsheets: bool = False  # they open it: text that could be a formula is disarmed
    on_spark: bool = False  # a cluster writes it, in parts


FORMATS: Mapping[str, FileFormat] = {
    "csv": FileFormat("text/csv; charset=utf-8", spreadsheets=True, on_spark=True),
    "tsv": FileFormat("text/tab-separated-values; charset=utf-8", spreadsheets=True, on_spark=True),
    "parquet": FileFormat("application/vnd.apache.parquet", on_spark=True),
    "arrow": FileFormat("application/vnd.apache.arrow.file"),
    "xlsx": FileFormat(
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", spreadsheets=True
    ),
}
