"""What the page and the API say when something does not work, in one form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mahrem.errors import (
    BudgetExceeded,
    ColumnNotFound,
    GuaranteeBroken,
    Infeasible,
    InvalidInput,
    InvalidParameter,
    MahremError,
    MissingExtra,
    OutputFailed,
    Tampered,
)
from mahrem.web._orders import Json
from mahrem.words import load_catalogue

# The class, the code in JSON, the status of HTTP; the first that fits counts.
_KINDS: tuple[tuple[type[MahremError], str, int], ...] = (
    (ColumnNotFound, "column_not_found", 422),
    (InvalidParameter, "invalid_parameter", 422),
    (InvalidInput, "invalid_input", 422),
    (Infeasible, "infeasible", 409),
    (Tampered, "tampered", 409),
    (BudgetExceeded, "budget_exceeded", 409),
    (MissingExtra, "missing_extra", 424),
    (GuaranteeBroken, "guarantee_broken", 500),
    (OutputFailed, "output_failed", 500),
)


class Refused(MahremError):
    """Why the page does not do something; every error that leaves the house has this form.

    Args:
        status: The status of HTTP.
        code: A word that programs can look for; catalogues have words for it under ``page.error``.
        message: What is wrong; by default what the English catalogue says.
        hint: What to do about it; by default the same.
        values: What fills the braces of these words: figures and names, never values of the data.
    """

    def __init__(
        self, status: int, code: str, message: str | None = None, hint: str = "", **values: object
    ) -> None:
        if message is None:
            english = load_catalogue("en")
            message, hint = (english.say(f"page.error.{code}", part, **values) for part in (0, 1))
        self.status, self.code, self.message, self.hint, self.values = status, code, message, hint, values
        super().__init__(message)

    @classmethod
    def read(cls, status: int, detail: Mapping[str, Any]) -> Refused:
        """Read back what was kept."""
        return cls(status, detail["code"], detail["message"], detail["hint"], **detail["values"])

    @property
    def detail(self) -> dict[str, str]:
        """The error as an answer has it."""
        return {"code": self.code, "message": self.message, "hint": self.hint}

    @property
    def record(self) -> Json:
        """The error as it is kept, to be said in any language."""
        return {**self.detail, "values": self.values}


def not_found(what: str) -> Refused:
    """Make the error for something that is not there."""
    return Refused(404, "not_found", what=what)


def refusal_of(error: BaseException) -> Refused:
    """Give any error in the form that leaves the house; of an unforeseen one only its name."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, MemoryError):
        return Refused(500, "out_of_memory")
    for kind, code, status in _KINDS:
        if isinstance(error, kind):
            message, _, hint = str(error).partition("; ")
            return Refused(status, code, message, hint)
    if isinstance(error, OSError):
        return Refused(500, "input_output_failed", reason=error.strerror or type(error).__name__)
    return Refused(500, "internal_error", kind=type(error).__name__)
