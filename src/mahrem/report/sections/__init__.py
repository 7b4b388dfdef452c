"""Sections of the report's page: what each shows, and the entries from which pages and tests are made.

An entry says where a section stands, which facts it needs and how it is drawn. Modules of this folder list
theirs as ``SECTIONS``; a new section is an entry in a module, new or old, and its words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from mahrem.report._report import Report
from mahrem.words import NOTHING, Catalogue

__all__ = [
    "FactsView",
    "Figure",
    "Section",
    "SidesRow",
    "UsualView",
    "ValueRow",
    "list_sections",
    "sides",
    "write_value",
]


@dataclass(frozen=True, kw_only=True)
class Section:
    """One section of the page.

    Attributes:
        name: Its name; its heading is ``section.<name>`` in the catalogues.
        place: Sections come in this order.
        draw: Gives what the template shows, in words of a language; None where there is nothing to say.
        needs: Facts of a report, by name, without which the section is left out.
        part: The template in ``templates/parts`` that shows it.
        first: What any page about a release shows, not the report alone.
        synthetic_heading: Above made-up rows its heading is ``section.<name>_synthetic``.
    """

    name: str
    place: int
    draw: Callable[[Report, Catalogue], Any]
    needs: tuple[str, ...] = ()
    part: str = "usual"
    first: bool = False
    synthetic_heading: bool = False

    def heading(self, report: Report, words: Catalogue) -> str:
        """Give what stands above the section."""
        made_up = "_synthetic" if self.synthetic_heading and report.synthesis else ""
        return words.say(f"section.{self.name}{made_up}")

    def view(self, report: Report, words: Catalogue) -> Any:
        """Draw the section, if the report has what it needs."""
        return self.draw(report, words) if all(getattr(report, fact) for fact in self.needs) else None


@dataclass(frozen=True)
class Figure:
    """A picture with its title, what it shows in words, and names of its two colours."""

    title: str
    svg: str
    caption: str
    key: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class SidesRow:
    """A figure before and after."""

    name: str
    meaning: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class ValueRow:
    """A figure and its value."""

    name: str
    value: str
    meaning: str = ""
    key: str = ""


@dataclass(frozen=True, kw_only=True)
class UsualView:
    """A sentence, pictures, figures before and after, notes."""

    intro: str
    figures: tuple[Figure, ...] = ()
    rows: tuple[SidesRow, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FactsView:
    """Facts, one a line."""

    rows: tuple[ValueRow, ...]
    intro: str = ""
    notes: tuple[str, ...] = ()


def sides(words: Catalogue) -> tuple[str, str]:
    """Name the two colours of most pictures."""
    return words.say("word.before"), words.say("word.after")


def write_value(value: object, words: Catalogue) -> str:
    """Write any value of a report for people."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return words.say("word.true" if value else "word.false")
    if isinstance(value, int | float):
        return words.number(value, 4)
    if isinstance(value, list | tuple):
        return ", ".join(write_value(entry, words) for entry in value) or words.say("word.nothing")
    if isinstance(value, dict):
        parts = (
            f"{key}: {write_value(entry, words)}" if entry not in ({}, ()) else str(key)
            for key, entry in value.items()
        )
        return "; ".join(parts) or words.say("word.nothing")
    return str(value)


@cache
def list_sections() -> tuple[Section, ...]:
    """Give all sections in the order of the page."""
    modules = (import_module(f"{__name__}.{inner.name}") for inner in iter_modules(__path__))
    sections = (section for module in modules for section in module.SECTIONS)
    return tuple(sorted(sections, key=lambda section: section.place))
