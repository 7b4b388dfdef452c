"""Something to tell a person, in no language yet; and how a verb says what it is doing."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Self

from mahrem.errors import PrivacyWarning
from mahrem.words._catalogue import load_catalogue


class Note(str):
    """What happened, by a code that every catalogue has words for: ``Note("warning.no_k")``.

    Programs look at ``code`` and ``values``; as text a note is its English sentence, so that it can be
    printed, logged and written wherever a sentence can. Catalogues tell it in their language.

    Args:
        code: Tables and key of the catalogues.
        values: What fills the braces of these words: figures and names of columns, never values of the data.

    Example:
        >>> stage = Note("stage.trying", {"size": 5000, "rows": 20000})
        >>> print(stage)
        trying 5,000 of 20,000 rows
        >>> load_catalogue("de").tell(stage)
        'probiert es mit 5.000 von 20.000 Zeilen'
    """

    __slots__ = ("code", "values")

    code: str
    values: Mapping[str, Any]

    def __new__(cls, code: str, values: Mapping[str, object] | None = None) -> Self:
        """Say it in English at once: an unknown code, or a brace that stays empty, fails where it is made."""
        values = dict(values or {})
        note = super().__new__(cls, load_catalogue("en").say(code, **values))
        note.code, note.values = code, values
        return note

    def __reduce__(self) -> tuple[type[Note], tuple[str, Mapping[str, Any]]]:
        return Note, (self.code, self.values)

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        return {"code": self.code, "values": {name: _plain(value) for name, value in self.values.items()}}

    @classmethod
    def read(cls, content: Mapping[str, object] | None, text: str) -> str:
        """Read a note back; ``text`` stands for one that is not there or that this version does not know."""
        if not content:
            return text
        try:
            return _read_note(content)
        except (KeyError, TypeError, ValueError):
            return text


def _plain(value: object) -> object:
    return value.as_dict() if isinstance(value, Note) else value


def _read_note(content: Mapping[str, Any]) -> Note:
    """Make a note again, and of every value that was one: each has words of its own in every language."""
    return Note(content["code"], {name: _read_value(value) for name, value in content["values"].items()})


def _read_value(value: Any) -> Any:
    return _read_note(value) if isinstance(value, Mapping) and {*value} == {"code", "values"} else value


def warn_of(note: Note, *, stacklevel: int = 2) -> None:
    """Raise a :class:`~mahrem.errors.PrivacyWarning` that knows its code; the caller's caller is named."""
    warnings.warn(PrivacyWarning(note), stacklevel=stacklevel + 1)


Progress = Callable[[Note], None]  # called with each stage as it begins; as text it is an English phrase


def in_silence(stage: Note) -> None:
    """Say nothing of a stage that begins."""
