"""The distribution of each column before and after."""

from __future__ import annotations

from mahrem.report import _pictures
from mahrem.report._report import Report
from mahrem.report._section import Figure, Section, UsualView
from mahrem.words import Catalogue

__all__ = ["SECTION"]

PICTURES = 24  # a page with more is not read


def draw(report: Report, words: Catalogue) -> UsualView | None:
    """Lay each column's distribution in the release over that in the source."""
    known = {name: column.distribution for name, column in report.columns.items() if column.distribution}
    if not known:
        return None
    shown = dict(list(known.items())[:PICTURES])
    figures = []
    for name, counts in shown.items():
        unknown = counts.get("unknown", (0, 0))
        note = words.say("picture.unknown_note", before=unknown[0], after=unknown[1]) if any(unknown) else ""
        caption = words.say("picture.column_short", column=name)
        figures.append(Figure(name, _pictures.before_and_after(name, counts, words), caption, note=note))
    floors = [counts["floor"] for counts in shown.values() if counts.get("floor")]
    return UsualView(
        intro=words.say("picture.column_caption"),
        figures=tuple(figures),
        notes=(words.say("picture.hidden_note", floor=floors[-1]),) if floors else (),
    )


SECTION = Section(name="pictures", place=40, draw=draw, needs=("columns",), part="pictures")
