"""Draw the report of a release again: in another language, or with a newer page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mahrem import check
from mahrem.disclosed import paid
from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed, in_our_words, spelled
from mahrem.files import write_whole
from mahrem.release.folders import (
    check_hashes,
    difference,
    is_signed,
    named_folder,
    replace_page,
    source_of,
)
from mahrem.report import Report, differences_page, print_pdf, render_html
from mahrem.words import LANGUAGES

if TYPE_CHECKING:
    from mahrem.dp import Ledger


def data_sheet(ledger: str | Path | Ledger) -> dict[str, Any]:
    """Give everything that may be published about a ledger."""
    from mahrem.dp import Ledger

    book = Ledger.of(ledger)
    return book.data_sheet()


@in_our_words
def redraw(
    release: str | Path,
    *,
    language: str | None = None,
    output: str | Path | None = None,
    ledger: str | Path | Ledger | None = None,
    source: bool = False,
) -> Path:
    """Draw ``report.html`` again from ``report.json``; the data are not touched.

    Args:
        release: A release folder; everything in it is compared with its hashes first.
        language: One of :data:`LANGUAGES`; the policy's own if None.
        output: Write the page there, as a PDF if its name ends in ``.pdf``; else it replaces the one in the
            folder, and its hash follows.
        ledger: A privacy ledger (or its path) whose data sheet becomes a section of the page.
        source: Name the table it was made from and its fingerprint, as the record of this machine has them:
            for your own files, so only with ``output``.

    Guarantees:
        - Nothing is drawn from a folder that is not what was released.

    Raises:
        Tampered: If the folder has no hashes or holds anything but what was released.
    """
    folder = named_folder(release)
    if folder is None:
        raise InvalidInput(f"release={Path(release).name!r} is not a folder")
    if language is not None:
        check.one_of(LANGUAGES, language=language)
    check_hashes(folder)
    if source and output is None:
        raise InvalidParameter(
            "the source is named on a page of your own, not in the release: say where it goes "
            f"({spelled('output', 'PAGE')})"
        )
    if output is None and is_signed(folder):
        raise InvalidParameter(
            f"release={folder.name!r} is signed: another page would break that; "
            f"write it elsewhere ({spelled('output', 'PAGE')})"
        )
    report = _read_report(folder)
    if ledger is not None:
        report = replace(report, privacy_ledger=paid(data_sheet(ledger)))
    if source:
        known = source_of(folder)
        report = replace(
            report, source=known.get("source"), source_fingerprint=known.get("source_fingerprint")
        )
    own = report.settings.get("language", "en")
    page = render_html(report, language or own)
    return replace_page(folder, "report.html", page) if output is None else _write_page(page, Path(output))


@in_our_words
def redraw_two(
    first: str | Path, second: str | Path, *, output: str | Path, language: str = "en"
) -> dict[str, Any]:
    """Draw two releases side by side as one page: their verdicts, and where they differ.

    Args:
        first: A release folder; everything in it is compared with its hashes first. So is the ``second``.
        second: The other one.
        output: Where the page goes; a PDF if its name ends in ``.pdf``.
        language: One of :data:`LANGUAGES`.

    Returns:
        By part and name what differs: the value in the first and in the second.

    Raises:
        Tampered: If a file of one is not what was released.
    """
    check.one_of(LANGUAGES, language=language)
    changed = difference(first, second)
    names = [Path(folder).resolve().name for folder in (first, second)]
    if names[0] == names[1]:
        names = [f"{number} · {name}" for number, name in enumerate(names, start=1)]
    reports = dict(zip(names, (_read_report(Path(folder)) for folder in (first, second)), strict=True))
    _write_page(differences_page(reports, changed, language), Path(output))
    return changed


def _read_report(folder: Path) -> Report:
    try:
        return Report.read(json.loads((folder / "report.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise InvalidInput(f"release={folder.name!r} has no report.json that can be read") from error


def _write_page(page: str, output: Path) -> Path:
    """Write a page where somebody wants it; as a PDF if its name says so."""
    content = print_pdf(page) if output.suffix.lower() == ".pdf" else page
    try:
        write_whole(output, content, private=False)
    except OSError as error:
        raise OutputFailed(f"output={output.name!r} cannot be written: {error.strerror}") from error
    return output
