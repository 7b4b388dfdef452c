"""Languages: one TOML file each, all with the same keys."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from mahrem.check import one_of

__all__ = ["LANGUAGES", "NOTHING", "Catalogue", "load_catalogue"]

_FOLDER = files("mahrem.words")
# English, which others are compared with, comes first.
LANGUAGES = tuple(
    sorted(
        (file.name.removesuffix(".toml") for file in _FOLDER.iterdir() if file.name.endswith(".toml")),
        key=lambda code: (code != "en", code),
    )
)
MOST_NAMES = 10
NOTHING = "\N{EN DASH}"  # stands where there is no figure


@dataclass(frozen=True)
class Catalogue:
    """Texts of one language and how it writes numbers."""

    language: str
    texts: dict[str, Any] = field(repr=False)

    def __getitem__(self, section: str) -> Any:
        return self.texts[section]

    @property
    def name(self) -> str:
        """What the language calls itself."""
        name: str = self.texts["format"]["name"]
        return name

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
        written = self.number(0.1 if small else amount, 1)
        text: str = self.texts["format"]["percent"].format(number=written)
        return f"< {text}" if small else text

    def names(self, names: list[str]) -> str:
        """Join names as a list in words; many are cut short."""
        if len(names) > MOST_NAMES:
            return f"{', '.join(names[:MOST_NAMES])} … ({self.number(len(names))})"
        if len(names) < 2:
            return "".join(names)
        joined: str = self.texts["format"]["and"].format(first=", ".join(names[:-1]), last=names[-1])
        return joined


@cache
def load_catalogue(language: str) -> Catalogue:
    """Read the texts of one language."""
    one_of(LANGUAGES, language=language)
    text = _FOLDER.joinpath(f"{language}.toml").read_text(encoding="utf-8")
    return Catalogue(language, tomllib.loads(text))
