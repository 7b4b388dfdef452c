"""Figures about a synthetic table that read real rows: kept in a private folder, never in the release."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from mahrem.errors import InvalidParameter, OutputFailed
from mahrem.learning import SyntheticQuality
from mahrem.report import quality_page, to_json
from mahrem.table import open_source

__all__ = ["QualityRequest", "write_quality"]


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
    ) -> QualityRequest:
        """Read what the verb was told."""
        folder = None if isinstance(quality, bool) else Path(quality)
        if folder is not None:
            if output is not None and Path(output).resolve() in (folder.resolve(), *folder.resolve().parents):
                raise InvalidParameter("quality must lie outside the release folder: it reads real rows")
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise InvalidParameter(f"quality={folder.name!r} exists and is not an empty folder")
        wanted = bool(quality)
        if holdout is None:
            return cls(wanted, folder, None, target)
        if not wanted:
            raise InvalidParameter("holdout is only for quality figures; ask for them with quality")
        opened = open_source(holdout)
        return cls(wanted, folder, opened.take(opened.columns), target)


def write_quality(found: SyntheticQuality, folder: Path) -> None:
    """Write the figures and a page into a folder that only its owner may read."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        for name, text in (
            ("quality.json", to_json(found.as_dict())),
            ("quality.html", quality_page(found.as_dict())),
        ):
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputFailed(f"quality={folder.name!r} cannot be written: {error.strerror}") from error
