"""Texts of one language: TOML tables whose braces are filled as the language writes figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

__all__ = ["NOTHING", "Catalogue", "braces"]

MOST_NAMES = 10
NOTHING = "\N{EN DASH}"  # stands where there is no figure


@dataclass(frozen=True)
class Catalogue:
    """Texts of one language and how it writes numbers."""

    language: str
    texts: Mapping[str, Any] = field(repr=False)

    def __getitem__(self, section: str) -> Any:
        return self.texts[section]

    @property
    def name(self) -> str:
        """What the language calls itself."""
        name: str = self.texts["format"]["name"]
        return name

    def find(self, code: str) -> Any:
        """Give the text, or the list of texts, of a code such as ``page.run.start``."""
        tables, _, key = code.rpartition(".")
        texts: Any = self.texts
        for table in tables.split(".") if tables else ():
            texts = texts[table]
        return texts[key]

    def say(self, code: str, part: int | None = None, /, **values: object) -> str:
        """Say what a code stands for, with its braces filled; ``part`` names one of several texts.

        A brace may say how its value is written: ``{share:percent}``, ``{seconds:1}`` (places after the
        point). Other numbers are written with three places at most, lists as names, notes in the language.
        """
        text = self.find(code)
        return _Filled(self).vformat(text if part is None else text[part], (), values)

    def tell(self, text: str) -> str:
        """Say a note in the language; any other text stays as it is."""
        from mahrem.words._notes import Note

        return self.say(text.code, **text.values) if isinstance(text, Note) else text

    def number(self, value: float | None, digits: int = 3) -> str:
        """Write a number with ``digits`` significant places after the point at most; whole ones without."""
        if value is None or not math.isfinite(value):
            return NOTHING
        marks = self.texts["format"]
        text = f"{value:,.{digits}f}" if abs(value) < 1e15 else f"{value:.6g}"
        if "." in text and "e" not in text:
            text = text.rstrip("0").rstrip(".")
        return text.translate(str.maketrans({",": marks["thousands"], ".": marks["decimal"]}))

    def percent(self, share: float | None) -> str:
        """Write a share of one as a percentage; one that is not nothing is never written as 0 %."""
        if share is None or not math.isfinite(share):
            return NOTHING
        amount = 100.0 * share
        small = 0 < amount < 0.1
        text: str = self.texts["format"]["percent"].format(number=self.number(0.1 if small else amount, 1))
        return f"< {text}" if small else text

    def names(self, names: Sequence[str]) -> str:
        """Join names as a list in words; many are cut short."""
        if len(names) > MOST_NAMES:
            return f"{', '.join(names[:MOST_NAMES])} … ({self.number(len(names))})"
        if len(names) < 2:
            return "".join(names)
        joined: str = self.texts["format"]["and"].format(first=", ".join(names[:-1]), last=names[-1])
        return joined


class _Filled(Formatter):
    """Fills braces as a language writes figures."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def format_field(self, value: Any, format_spec: str) -> str:
        catalogue = self._catalogue
        if format_spec == "percent":
            return catalogue.percent(value)
        if isinstance(value, str):
            return catalogue.tell(value)
        if value is None or isinstance(value, int | float):
            return catalogue.number(value, int(format_spec or 3))
        return catalogue.names([catalogue.tell(name) for name in value])


def braces(text: str) -> set[str]:
    """Name the values that a text needs.

    Example:
        >>> sorted(braces("{share:percent} of {rows} rows"))
        ['rows', 'share']
    """
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
