"""What a kept promise does not mean."""

from __future__ import annotations

from dataclasses import dataclass

from mahrem.report._report import Report
from mahrem.report._section import Section
from mahrem.words import Catalogue

__all__ = ["SECTION"]


@dataclass(frozen=True)
class LimitsView:
    """Points to read before one relies on the table."""

    intro: str
    points: tuple[str, ...]


def draw(report: Report, words: Catalogue) -> LimitsView:
    """List the limits."""
    if report.synthesis:
        return LimitsView(words.say("synthetic.limits_intro"), tuple(words.find("synthetic.limits")))
    return LimitsView(words.say("limits.intro"), tuple(words.find("limits.items")))


SECTION = Section(name="limits", place=120, draw=draw, part="limits")
