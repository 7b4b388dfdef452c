"""Identifiers in free text, put there by hand: how many are taken out, and how much else goes with them."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelled_columns import FAMILY, GIVEN, NOTES, STREETS
from mahrem.contents import redact_texts

LANGUAGES = ("tr", "de", "en")


def _name(rng: np.random.Generator, language: str) -> str:
    given, family = (str(rng.choice(lists[language].split())) for lists in (GIVEN, FAMILY))
    return f"{given} {family}"


def _digits(rng: np.random.Generator, form: str) -> str:
    return re.sub("#", lambda _: str(rng.integers(0, 10)), form)


def _value(rng: np.random.Generator, kind: str, language: str) -> str:
    made = {
        "name": lambda: _name(rng, language),
        "email": lambda: (
            f"{rng.choice(('a.kaya', 'info', 'j_smith99'))}{rng.integers(0, 99)}@mail.example.com"
        ),
        "phone": lambda: _digits(
            rng, {"tr": "053# ### ## ##", "de": "+49 15# #######", "en": "(212) 55#-####"}[language]
        ),
        "id": lambda: _digits(
            rng, str(rng.choice(("1##########", "##-######-#", "4## ### ####", "PT########")))
        ),
        "iban": lambda: _digits(rng, "TR33 0006 1005 1978 6457 8413 ##"),
        "ip": lambda: _digits(rng, "192.168.1#.2#"),
        "url": lambda: f"https://example.org/p/{rng.integers(0, 999)}",
        "date": lambda: {
            "tr": f"{rng.integers(1, 29)}.0{rng.integers(1, 10)}.2023",
            "de": f"{rng.integers(1, 29)}. März 2024",
            "en": f"May {rng.integers(1, 29)}, 2023",
        }[language],
        "address": lambda: str(rng.choice(STREETS[language])).format(
            n=rng.integers(1, 99), m=rng.integers(1, 20)
        ),
    }
    return made[kind]()


KINDS = {
    "name": 0.85,
    "email": 0.99,
    "phone": 0.95,
    "id": 0.95,
    "iban": 0.99,
    "ip": 0.99,
    "url": 0.99,
    "date": 0.95,
    "address": 0.85,
}


def planted(kind: str, rows: int = 300) -> tuple[list[str], list[str], list[str]]:
    """Texts with one identifier each, the identifiers, and the other words."""
    rng = np.random.default_rng(11)
    texts, values, others = [], [], []
    for row in range(rows):
        language = LANGUAGES[row % 3]
        words = [str(word) for word in rng.choice(NOTES[language], rng.integers(5, 14))]
        value = _value(rng, kind, language)
        place = int(rng.integers(1, len(words)))
        texts.append(" ".join([*words[:place], value, *words[place:]]) + ".")
        values.append(value)
        others.append(" ".join(words))
    return texts, values, others


@pytest.mark.parametrize("kind", KINDS)
def test_most_of_every_kind_is_taken_out(kind: str) -> None:
    texts, values, _ = planted(kind)
    shown = redact_texts(pl.Series(texts)).str.replace_all(r"\[[a-z]+\]", "").to_list()
    least = 3 if kind in {"email", "url"} else 2  # "com" is a part of many words
    parts = [[part for part in re.split(r"\W+", value) if len(part) > least] or [value] for value in values]
    gone = [not any(part in text for part in found) for text, found in zip(shown, parts, strict=True)]
    assert np.mean(gone) >= KINDS[kind], [t for t, g in zip(shown, gone, strict=True) if not g][:5]


def test_ordinary_words_stay() -> None:
    _, _, others = planted("name")
    shown = redact_texts(pl.Series(others)).to_list()
    kept = sum(
        len(set(before.split()) & set(after.split())) for before, after in zip(others, shown, strict=True)
    )
    assert kept >= 0.99 * sum(len(set(text.split())) for text in others)


@settings(max_examples=200, deadline=None)
@given(
    texts=st.lists(
        st.text(max_size=40) | st.from_regex(r"[A-Z][a-z]+ [0-9 ]{1,14}@?[a-z.]{0,9}", fullmatch=True)
    )
)
def test_redacting_again_changes_nothing_and_leaves_no_long_number(texts: list[str]) -> None:
    once = redact_texts(pl.Series(texts, dtype=pl.String))
    assert redact_texts(once).to_list() == once.to_list()
    assert not once.str.contains(r"\b[0-9]{7,}\b").any()
