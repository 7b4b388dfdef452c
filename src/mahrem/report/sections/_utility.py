"""How much was lost: figures of utility, sizes of groups, loss of each column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mahrem.report import _pictures
from mahrem.report._report import Report
from mahrem.report._section import Figure, Section, ValueRow
from mahrem.words import Catalogue

__all__ = ["SECTION"]

PICTURES = 24  # a picture with more columns is not read
_ORDER = (
    *("classes", "published_classes", "mean_class_size", "c_avg", "gcp", "gcp_sum", "iloss"),
    *("distortion", "dm", "suppressed"),
)


@dataclass(frozen=True, kw_only=True)
class UtilityView:
    """Pictures and figures."""

    intro: str
    figures: tuple[Figure, ...]
    rows: tuple[ValueRow, ...]


def draw(report: Report, words: Catalogue) -> UtilityView | None:
    """Say how dearly safety was paid for."""
    rows = tuple(
        ValueRow(
            name=words.say(f"utility.{key}", 0),
            key=key,
            value=words.number(report.utility[key]),
            meaning=words.say(f"utility.{key}", 1),
        )
        for key in _ORDER
        if report.utility.get(key) is not None
    )
    figures = tuple(
        Figure(words.say(f"picture.{key}_title"), svg, words.say(f"picture.{key}_caption"))
        for key, svg in _pictured(report, words)
    )
    if not (rows or figures):
        return None
    return UtilityView(intro=words.say("utility.intro"), figures=figures, rows=rows)


def _pictured(report: Report, words: Catalogue) -> Iterator[tuple[str, str]]:
    if report.class_sizes:
        yield "sizes", _pictures.class_sizes(report.class_sizes, words)
    losses = {
        name: column.gcp
        for name, column in report.columns.items()
        if column.role == "quasi" and column.gcp is not None
    }
    if losses:
        largest = sorted(losses.items(), key=lambda item: -item[1])[:PICTURES]
        yield "loss", _pictures.loss_per_column(dict(largest), words)


SECTION = Section(name="utility", place=30, draw=draw, part="utility", first=True)
