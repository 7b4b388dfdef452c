"""How a release was made."""

from __future__ import annotations

from collections.abc import Iterator

from mahrem.report._report import Report
from mahrem.report._section import FactsView, Section, ValueRow, write_value
from mahrem.words import Catalogue, Note

__all__ = ["SECTION"]


def draw(report: Report, words: Catalogue) -> FactsView | None:
    """List method, time and settings."""
    rows = [ValueRow(name=words.say(f"made.{key}"), value=value) for key, value in _facts(report, words)]
    rows += [ValueRow(name=name, value=write_value(value, words)) for name, value in report.settings.items()]
    return FactsView(rows=tuple(rows)) if rows else None


def _facts(report: Report, words: Catalogue) -> Iterator[tuple[str, str]]:
    reason = words.tell(Note.read(report.method_note, report.method_reason or ""))
    facts = {
        "source": report.source,
        "method": ": ".join(text for text in (report.method, reason) if text),
        "created": report.created,
        "version": report.mahrem,
    }
    yield from ((key, text) for key, text in facts.items() if text)
    missing = report.missing
    if missing is not None and missing.policy:
        policy = words["missing"].get(missing.policy, missing.policy)
        counts = words.say("missing.counts", dropped=missing.dropped, suppressed=missing.suppressed)
        yield "missing", f"{policy}; {counts}"
    if report.seconds is not None:
        yield "seconds", words.say("word.seconds", number=report.seconds)


SECTION = Section(name="made", place=130, draw=draw, part="facts")
