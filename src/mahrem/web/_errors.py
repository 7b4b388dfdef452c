"""What the page and the API say when something does not work, in one form."""

from __future__ import annotations

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

__all__ = ["MEMORY", "Refused", "described", "not_found"]

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
MEMORY = {
    "code": "out_of_memory",
    "message": "The job needed more memory than it may use, so it was stopped",
    "hint": "Nothing was released. Take a smaller file, or allow more with --job-memory.",
}


class Refused(MahremError):
    """A request the page does not do, in words for people.

    Args:
        status: The status of HTTP.
        code: A word that programs can look for.
        message: What is wrong.
        hint: What to do about it.
    """

    def __init__(self, status: int, code: str, message: str, hint: str = "") -> None:
        self.status, self.code, self.message, self.hint = status, code, message, hint
        super().__init__(message)


def not_found(what: str) -> Refused:
    """Make the error for something that is not there."""
    return Refused(404, "not_found", f"There is no such {what}", "It may have been removed.")


def described(error: BaseException) -> tuple[int, dict[str, Any]]:
    """Give status and JSON of an error; of an unforeseen one only its name, for it may hold values."""
    if isinstance(error, Refused):
        return error.status, {"code": error.code, "message": error.message, "hint": error.hint}
    if isinstance(error, MemoryError):
        return 500, dict(MEMORY)
    for kind, code, status in _KINDS:
        if isinstance(error, kind):
            message, _, hint = str(error).partition("; ")
            return status, {"code": code, "message": message, "hint": hint}
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        return 500, {
            "code": "input_output_failed",
            "message": f"Reading or writing failed: {reason}",
            "hint": "Nothing half written was left behind. Is the disk full?",
        }
    return 500, {
        "code": "internal_error",
        "message": f"Something went wrong inside mahrem ({type(error).__name__})",
        "hint": "This is a mistake of ours; please report it. Nothing half written was left behind.",
    }
