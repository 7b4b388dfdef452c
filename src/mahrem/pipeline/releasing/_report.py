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
from mahrem.release.folders import check_hashes, is_signed, named_folder, replace_page
from mahrem.report import Report, render_html
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
) -> Path:
    """Draw ``report.html`` again from ``report.json``; the data are not touched.

    Args:
        release: A release folder; everything in it is compared with its hashes first.
        language: One of :data:`LANGUAGES`; the policy's own if None.
        output: Write the page there; else it replaces the one in the folder, and its hash follows.
        ledger: A privacy ledger (or its path) whose data sheet becomes a section of the page.

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
    if output is None and is_signed(folder):
        raise InvalidParameter(
            f"release={folder.name!r} is signed: another page would break that; "
            f"write it elsewhere ({spelled('output', 'PAGE')})"
        )
    try:
        report = Report.read(json.loads((folder / "report.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise InvalidInput(f"release={folder.name!r} has no report.json that can be read") from error
    if ledger is not None:
        report = replace(report, privacy_ledger=paid(data_sheet(ledger)))
    own = report.settings.get("language", "en")
    page = render_html(report, language or own)
    if output is None:
        return replace_page(folder, "report.html", page)
    try:
        write_whole(Path(output), page, private=False)
    except OSError as error:
        raise OutputFailed(f"output={Path(output).name!r} cannot be written: {error.strerror}") from error
    return Path(output)
