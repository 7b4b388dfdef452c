"""What goes together: the strongest correlations before and after."""

from __future__ import annotations

from mahrem.report import _beside
from mahrem.report._report import Report
from mahrem.report._section import Figure, Section, UsualView, sides
from mahrem.words import Catalogue

__all__ = ["SECTION"]


def draw(report: Report, words: Catalogue) -> UsualView:
    """Lay correlations before and after side by side."""
    title = words.say("picture.relations_title")
    svg = _beside.correlations(report.relations or (), title, words)
    figure = Figure(title, svg, words.say("picture.relations_caption"), sides(words))
    return UsualView(intro=words.say("relations.intro"), figures=(figure,))


SECTION = Section(name="relations", place=50, draw=draw, needs=("relations",))
