"""Languages: one TOML file each, ours in this folder, others from other distributions."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from mahrem.check import one_of
from mahrem.entries import Entries, Entry
from mahrem.errors import InvalidParameter
from mahrem.words._catalogue import Catalogue, braces

__all__ = ["LANGUAGES", "Language", "flat", "load_catalogue"]

_HERE = "mahrem.words"


@dataclass(frozen=True, kw_only=True)
class Language(Entry):
    """A language by its code; ``home`` names a package and a TOML file in it: ``"their_words:fr.toml"``.

    Guarantees:
        - A catalogue of others has every key of ours: what it lacks is English, and marked ``[en]``.
        - One that has a key that we do not know, or other braces than ours, is refused with its name.
    """

    def load(self) -> Catalogue:
        """Read the texts."""
        package, _, file = self.home.partition(":")
        texts = tomllib.loads(files(package).joinpath(file).read_text(encoding="utf-8"))
        if package != _HERE:
            texts = _completed(self.name, texts, load_catalogue("en").texts)
        return Catalogue(self.name, texts)


def _ours() -> Iterator[Language]:
    names = (file.name for file in files(_HERE).iterdir() if file.name.endswith(".toml"))
    # English, which others are compared with, comes first.
    for file in sorted(names, key=lambda name: (name != "en.toml", name)):
        yield Language(name=file.removesuffix(".toml"), home=f"{_HERE}:{file}")


LANGUAGES: Entries[Language] = Entries("mahrem.languages", Language, _ours())


@cache
def load_catalogue(language: str) -> Catalogue:
    """Read the texts of one language."""
    return LANGUAGES[one_of(LANGUAGES, language=language)].load()


def flat(texts: Mapping[str, Any], tables: str = "") -> dict[str, str | list[str]]:
    """Give all texts by their code."""
    codes: dict[str, str | list[str]] = {}
    for key, text in texts.items():
        codes |= flat(text, f"{tables}{key}.") if isinstance(text, Mapping) else {f"{tables}{key}": text}
    return codes


def _completed(language: str, texts: Mapping[str, Any], english: Mapping[str, Any]) -> dict[str, Any]:
    """Lay the texts of another distribution over English ones."""
    ours, theirs = flat(english), flat(texts)
    for code, text in theirs.items():
        known = ours.get(code)
        shaped = type(text) is type(known) and (isinstance(text, str) or len(text) == len(known or ()))
        if not shaped or not _braces(text) <= _braces(known):
            raise InvalidParameter(f"mahrem.languages: {language!r} has {code!r}, which does not fit English")
    if lacking := [code for code in ours if code.startswith("format.") and code not in theirs]:
        raise InvalidParameter(f"mahrem.languages: {language!r} must say {lacking[0]!r}")
    return _laid_over(texts, english)


def _braces(text: str | list[str] | None) -> set[str]:
    return braces(text if isinstance(text, str) else " ".join(text or ()))


def _laid_over(texts: Mapping[str, Any], english: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _laid_over(texts.get(key, {}), text)
        if isinstance(text, Mapping)
        else texts.get(key, _marked(text))
        for key, text in english.items()
    }


def _marked(text: str | list[str]) -> str | list[str]:
    if isinstance(text, list):
        return [_marked(line) for line in text]  # type: ignore[misc]
    return f"{text} [en]" if text else text
