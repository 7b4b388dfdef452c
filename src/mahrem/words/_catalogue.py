"""Languages: one TOML file each, whose braces are filled as the language writes figures."""

from __future__ import annotations

import math
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

from mahrem.check import one_of
from mahrem.entries import Entries, Entry
from mahrem.errors import InvalidParameter
from mahrem.settings import Setting

_HERE = "mahrem.words"
_ENTRIES = "entries.toml"  # words of methods, models, figures, attacks …: all languages side by side
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
            return Catalogue(self.name, _completed(self.name, texts, load_catalogue("en").texts))
        return Catalogue(self.name, _with_entries(texts, _words_of_entries(), self.name))


@cache
def _words_of_entries() -> Mapping[str, object]:
    """Read the words of entries, in which the languages stand side by side."""
    return tomllib.loads(files(_HERE).joinpath(_ENTRIES).read_text(encoding="utf-8"))


def _with_entries(texts: Mapping[str, Any], entries: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Put the words of entries among the texts of a language; what its own file says wins."""
    merged = dict(texts)
    for key, inner in entries.items():
        if "en" in inner:
            merged.setdefault(key, inner.get(language, inner["en"]))
        else:
            merged[key] = _with_entries(merged.get(key, {}), inner, language)
    return merged


def _ours() -> Iterator[Language]:
    names = (
        file.name for file in files(_HERE).iterdir() if file.name.endswith(".toml") and file.name != _ENTRIES
    )
    # English, which others are compared with, comes first.
    for file in sorted(names, key=lambda name: (name != "en.toml", name)):
        yield Language(name=file.removesuffix(".toml"), home=f"{_HERE}:{file}")


LanguageName = str  # a language is a file of words, of anybody's: no list of them is kept in code
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


def _completed(
    language: str, texts: Mapping[str, object], english: Mapping[str, object]
) -> dict[str, object]:
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


def explain_setting(
    catalogue: Catalogue, words: str, known: Setting, choices: Sequence[str] | None = None
) -> str:
    """Say what a setting means: the sentence under ``setting.<words>``, with its choices and its default.

    ``choices`` stand for all of them in texts that are kept, for others may add to them.

    A setting of another distribution brings its own words; where it has none in a language, English serves.
    """
    texts = catalogue["setting"][words]
    sentence: str = texts.get(known.name) or known.words.get(catalogue.language) or known.words.get("en", "")
    if choices is None:
        choices = () if known.choices is None else tuple(known.choices())
    return sentence.format(choices=", ".join(choices), default=known.default)


def describe_settings(
    words: str, settings: Mapping[str, Setting], *, indent: int, kept: bool = False
) -> Iterator[str]:
    """Give lines of a docstring for every setting; texts that are ``kept`` leave lists to their type."""
    english = load_catalogue("en")
    for name, known in settings.items():
        choices = (f"one of {known.listed}",) if kept and known.listed else None
        yield from textwrap.wrap(
            f"{name}: {explain_setting(english, words, known, choices)}",
            110,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + 4),
            break_long_words=False,
            break_on_hyphens=False,
        )


def explain_entry(catalogue: Catalogue, section: str, entry: Entry) -> tuple[str, str]:
    """Give what an entry is called and what it says, from a section of the catalogues.

    An entry of another distribution brings its own words; where it has none in a language, English serves,
    and without any its name does.
    """
    texts = catalogue.find(section).get(entry.name)
    if isinstance(texts, str):
        return entry.name, texts
    if texts is not None:
        return texts[0], texts[1]
    return entry.words.get(catalogue.language) or entry.words.get("en") or (entry.name, "")
