"""Every text is there in every language, is used, and has all its braces filled."""

from __future__ import annotations

import re
from string import Formatter
from typing import Any

import pytest

from catalogue_use import Use, texts_of_code, uses, words_of_code
from mahrem import models
from mahrem.words import LANGUAGES, load_catalogue
from mahrem.words._catalogue import flat

ENGLISH = flat(load_catalogue("en").texts)
TABLES = {".".join(code.split(".")[:depth]) for code in ENGLISH for depth in range(1, code.count(".") + 1)}
OTHERS = [language for language in LANGUAGES if language != "en"]


@pytest.fixture(scope="module")
def named() -> list[Use]:
    return uses()


def parts(text: str | list[str]) -> list[str]:
    return [text] if isinstance(text, str) else text


def holes(text: str | list[str]) -> set[tuple[str, str | None]]:
    """What a text needs, and how each value is to be written."""
    return {
        (name, form)
        for part in parts(text)
        for _, name, form, _ in Formatter().parse(part)
        if name is not None
    }


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_the_same_texts_with_the_same_braces(language: str) -> None:
    other = flat(load_catalogue(language).texts)
    assert set(other) == set(ENGLISH)
    for code, text in ENGLISH.items():
        assert type(other[code]) is type(text), code
        if code.startswith("page.error."):
            assert holes(other[code]) <= holes(text), code  # English may say more exactly what it was
            continue
        assert holes(other[code]) == holes(text), code
        assert [bool(part) for part in parts(other[code])] == [bool(part) for part in parts(text)], code


def test_every_text_that_is_named_is_there(named: list[Use]) -> None:
    assert len(named) > 500
    known = ENGLISH.keys() | TABLES
    assert [
        use
        for use in named
        if use.code.removesuffix(".*") not in known and not any(use.matches(code) for code in known)
    ] == []


def test_every_text_is_used_somewhere(named: list[Use]) -> None:
    written = {use.code.removesuffix(".*") for use in named} | texts_of_code()
    # Into some tables code looks by names it has: those of roles, methods, models.
    by_name = [use for use in named if not use.known] + [Use("", f"{code}.*") for code in written & TABLES]
    by_name = [use for use in by_name if use.code != "page.*"]  # the whole page
    spoken = words_of_code()

    def is_said(code: str) -> bool:
        matches = (match for use in by_name if (match := use.matches(code)))
        return any(
            set(re.findall(r"[a-z0-9]+", " ".join(match.groups()).lower())) <= spoken for match in matches
        )

    assert sorted(code for code in ENGLISH.keys() - written if not is_said(code)) == []


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_every_brace_is_filled_by_whoever_says_the_text(language: str, named: list[Use]) -> None:
    texts: dict[str, Any] = flat(load_catalogue(language).texts)
    checked = 0
    for use in named:
        if use.filled is None or use.code not in texts:
            continue
        needed = {name for name, _ in holes(texts[use.code])}
        assert needed <= use.filled, use
        checked += bool(needed)
    assert checked > 60


def test_every_error_that_is_refused_with_has_words_and_no_other_has() -> None:
    found = {use.code for use in uses() if use.code.startswith("page.error.") and use.known}
    kinds = {code for code in ENGLISH if code.startswith("page.error.")}
    from mahrem.web._errors import _KINDS

    found |= {f"page.error.{code}" for _, code, _ in _KINDS}
    assert len(found) > 30
    assert found <= kinds


def test_every_privacy_model_is_explained() -> None:
    assert len(models.MODELS) >= 10
    assert set(models.MODELS) <= set(load_catalogue("en")["model"])
    for name, entry in models.MODELS.items():
        assert getattr(entry.load(), "name", None) == name
