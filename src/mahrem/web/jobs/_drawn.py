"""What a report says first, drawn where the job runs, once for each language; pages only read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mahrem.check import one_of
from mahrem.web._orders import Json

if TYPE_CHECKING:
    from mahrem.report import Report


BESIDE = ("pictures", "relations", "learning", "red_team")  # sections of two candidates side by side


def draw(folder: Path, report: Report) -> None:
    """Write the words and pictures of a report into the folder of a job."""
    from mahrem.files import write_whole
    from mahrem.report import summary_parts, to_json
    from mahrem.web.projects import make_private
    from mahrem.words import LANGUAGES

    make_private(folder)
    for language in LANGUAGES:
        write_whole(folder / _name(language), to_json(summary_parts(report, language)).encode())


def draw_beside(folder: Path, reports: Mapping[str, Report]) -> None:
    """Write what several reports show of their tables, each under its name, into the folder of a job."""
    from mahrem.files import write_whole
    from mahrem.report import summary_parts, to_json
    from mahrem.web.projects import make_private
    from mahrem.words import LANGUAGES

    make_private(folder)
    for language in LANGUAGES:
        parts = {name: summary_parts(report, language, only=BESIDE) for name, report in reports.items()}
        write_whole(folder / _name(language), to_json(parts).encode())


def drawn(folder: Path, language: str) -> Json | None:
    """Read the words and pictures of a job's report, if there are any."""
    try:
        parts: Json = json.loads((folder / _name(language)).read_bytes())
    except (OSError, json.JSONDecodeError):
        return None
    return parts


def report_in(kept: Path, language: str) -> str:
    """Give the report of a release; one in another language than it was made in is drawn once and kept.

    Args:
        kept: The ``report.json`` of the release.
        language: The language, or nothing for the one it was made in.
    """
    page = kept.with_name("report.html").read_text(encoding="utf-8")
    if not language or f'<html lang="{language}">' in page[:2000]:
        return page
    from mahrem.files import write_whole
    from mahrem.report import Report, render_html
    from mahrem.words import LANGUAGES

    one_of(LANGUAGES, language=language)  # it becomes part of a name
    other = kept.parent.with_name(f"report-{language}.html")
    if not other.is_file():
        write_whole(other, render_html(Report.read(json.loads(kept.read_bytes())), language).encode())
    return other.read_text(encoding="utf-8")


def _name(language: str) -> str:
    return f"drawn-{language}.json"
