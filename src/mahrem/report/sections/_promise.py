"""What was promised, and what the published table makes of it."""

from __future__ import annotations

from dataclasses import dataclass

from mahrem.report._report import Report, ReportPromise
from mahrem.report._section import Section, write_value
from mahrem.words import Catalogue

__all__ = ["SECTION"]


@dataclass(frozen=True, kw_only=True)
class PromiseRow:
    """One promise in words."""

    model: str
    about: str
    meaning: str
    wanted: str
    reached: str
    holds: bool
    violations: str


@dataclass(frozen=True)
class PromiseView:
    """All promises."""

    intro: str
    rows: tuple[PromiseRow, ...]


def draw(report: Report, words: Catalogue) -> PromiseView:
    """Say what each promise means and how far it is kept."""
    intro = words.say("synthetic.promise" if report.synthesis else "promise.intro")
    return PromiseView(intro, tuple(_row(promise, words) for promise in report.promises))


def _row(promise: ReportPromise, words: Catalogue) -> PromiseRow:
    broken = {"classes": promise.violating_classes, "rows": promise.violating_rows}
    return PromiseRow(
        model=promise.model,
        about=words.say("word.about", column=promise.column) if promise.column else "",
        meaning=words["model"].get(promise.model, ""),
        wanted=write_value(promise.wanted, words),
        reached=write_value(promise.reached, words),
        holds=promise.holds,
        violations="" if promise.holds else words.say("promise.violations", **broken),
    )


SECTION = Section(name="promise", place=10, draw=draw, needs=("promises",), part="promise", first=True)
