"""Which columns single people out in the source."""

from __future__ import annotations

from mahrem.report import _beside
from mahrem.report._report import Report
from mahrem.report._section import Figure, Section, UsualView
from mahrem.words import Catalogue

__all__ = ["SECTION"]


def draw(report: Report, words: Catalogue) -> UsualView | None:
    """Say which sets of columns leave people alone."""
    singling = report.risk.unique_columns
    if singling is None:
        return None
    notes = [words.say("singling.sampled", rows=singling.rows)] if singling.sampled else []
    if not singling.complete:
        notes.append(words.say("singling.cut"))
    rows = [
        (words.names(entry.columns), [(entry.share, words.percent(entry.share))]) for entry in singling.sets
    ]
    title = words.say("picture.singling_title")
    caption = words.say("picture.singling_caption")
    figures = (Figure(title, _beside.shares(rows, title, words), caption),) if rows else ()
    intro = words.say("singling.intro" if rows else "singling.none", share=singling.share)
    return UsualView(intro=intro, figures=figures, notes=tuple(notes))


SECTION = Section(name="singling", place=80, draw=draw)
