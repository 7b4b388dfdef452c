"""Figures about a synthetic table that read real rows: kept in a private folder, never in the release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from mahrem import check
from mahrem.check import extra
from mahrem.errors import InvalidParameter, OutputFailed
from mahrem.files import write_whole
from mahrem.learning.synthesis import COMPARED_ROWS, DeclaredDomain, SyntheticQuality
from mahrem.report import quality_page, to_json
from mahrem.table import Reading, open_source


@dataclass(frozen=True)
class QualityRequest:
    """Whether and where figures are wanted; refused before anything is spent if they cannot be kept."""

    wanted: bool
    folder: Path | None
    holdout: pl.DataFrame | None
    target: str | None

    @classmethod
    def of(
        cls,
        quality: bool | str | Path,  # noqa: FBT001 - the verb's own argument
        holdout: object | None,
        target: str | None,
        output: str | Path | None,
        *,
        reading: Reading,
        domain: DeclaredDomain,
    ) -> QualityRequest:
        """Read what the verb was told."""
        folder = None if isinstance(quality, bool) else Path(quality)
        if folder is not None:
            if output is not None and Path(output).resolve() in (folder.resolve(), *folder.resolve().parents):
                raise InvalidParameter("quality must lie outside the release folder: it reads real rows")
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise InvalidParameter(f"quality={folder.name!r} exists and is not an empty folder")
        wanted = bool(quality)
        if wanted and find_spec("sklearn") is None:
            raise extra("learning", needed_for="figures against real rows")
        if holdout is None:
            return cls(wanted, folder, None, target)
        if not wanted:
            raise InvalidParameter("holdout is only for quality figures; ask for them with quality")
        beside = replace(reading, query=None, table=None)  # the same form, but all of it
        return cls(wanted, folder, comparable_table(holdout, beside, domain), target)

    def refuse_few(self, *rows: int | None) -> None:
        """Refuse tables too small to be compared; None is not known yet."""
        for count in rows if self.wanted else ():
            if count is not None:
                check.at_least(COMPARED_ROWS, rows=count)


def comparable_table(source: object, reading: Reading, domain: DeclaredDomain) -> pl.DataFrame:
    """Read what is compared, with numbers as numbers: whoever gets it need not know how they were written."""
    held = open_source(source, reading).take(domain.names)
    numbers = domain.numbers(held, replace(reading, query=None, table=None))
    return held.with_columns(
        pl.Series(column.name, numbers[column.name], nan_to_null=True)
        for column in domain.columns
        if column.kind in {"whole", "number"}
    )


def write_quality(quality: SyntheticQuality, folder: Path, language: str) -> None:
    """Write the figures and a page in a language into a folder that only its owner may read."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        for name, text in (
            ("quality.json", to_json(quality.as_dict())),
            ("quality.html", quality_page(quality.as_dict(), language)),
        ):
            write_whole(folder / name, text)
    except OSError as error:
        raise OutputFailed(f"quality={folder.name!r} cannot be written: {error.strerror}") from error
