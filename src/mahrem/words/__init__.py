"""Words for people: one catalogue per language, and notes that are said in any of them.

Code speaks in codes (:class:`Note`): what happened, with its figures. What a person reads is written in
``en.toml``, ``tr.toml``, ``de.toml`` and nowhere else. A language is one file, here or in another
distribution.
"""

from __future__ import annotations

from mahrem.words._catalogue import (
    LANGUAGES,
    NOTHING,
    Catalogue,
    Language,
    LanguageName,
    braces,
    describe_settings,
    explain_entry,
    explain_setting,
    load_catalogue,
)
from mahrem.words._notes import Note, Progress, in_silence, warn_of

__all__ = [
    "LANGUAGES",
    "NOTHING",
    "Catalogue",
    "Language",
    "LanguageName",
    "Note",
    "Progress",
    "braces",
    "describe_settings",
    "explain_entry",
    "explain_setting",
    "in_silence",
    "load_catalogue",
    "warn_of",
]
