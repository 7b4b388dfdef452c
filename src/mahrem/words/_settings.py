"""What a setting means, in words of a language."""

from __future__ import annotations

from mahrem.settings import Setting
from mahrem.words._catalogue import Catalogue


def explain_setting(catalogue: Catalogue, words: str, known: Setting) -> str:
    """Say what a setting means: the sentence under ``setting.<words>``, with its choices and its default.

    A setting of another distribution brings its own words; where it has none in a language, English serves.
    """
    texts = catalogue["setting"][words]
    sentence: str = texts.get(known.name) or known.words.get(catalogue.language) or known.words.get("en", "")
    choices = () if known.choices is None else known.choices()
    return sentence.format(choices=", ".join(choices), default=known.default)
