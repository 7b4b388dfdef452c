"""What can go wrong, as one small tree.

::

    MahremError
    ├── InvalidParameter (ValueError)      an option, a policy key or a value of it           exit 2
    ├── InvalidInput (ValueError)          a file or table that cannot be read as one         exit 2
    ├── ColumnNotFound (KeyError)          a column that is not there                         exit 2
    ├── Infeasible                         no release can keep the promise                    exit 3
    ├── Tampered                           hashes do not match                                exit 4
    ├── BudgetExceeded                     the privacy budget does not cover it               exit 5
    ├── MissingExtra (ImportError)         an optional part is not installed                  exit 6
    ├── GuaranteeBroken                    our own bug; never caught inside the house         exit 70
    └── OutputFailed (OSError)             disk full, connection lost; nothing half written   exit 74
    PrivacyWarning (UserWarning)           the promise holds, but is weaker than it may look

A message reads ``name=value``, what must hold, and a hint. It never holds a cell of the data. A hint names
settings through :func:`spelled`, so that each caller reads them as they would type them.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

__all__ = [
    "PAID",
    "BudgetExceeded",
    "ColumnNotFound",
    "GuaranteeBroken",
    "Infeasible",
    "InvalidInput",
    "InvalidParameter",
    "MahremError",
    "MissingExtra",
    "OutputFailed",
    "PrivacyWarning",
    "Tampered",
    "either",
    "options_spelled",
    "spelled",
    "with_dashes",
]


PAID = "the ledger has paid for it, and that stays spent"  # how a note about costs begins


class MahremError(Exception):
    """Anything mahrem raises on purpose."""

    exit_code: ClassVar[int] = 1


class InvalidParameter(MahremError, ValueError):
    """An option, a policy key or its value does not fit."""

    exit_code = 2


class InvalidInput(MahremError, ValueError):
    """A file or a table cannot be read as one."""

    exit_code = 2


class ColumnNotFound(MahremError, KeyError):
    """A column was named that the table does not have; the nearest names are the hint."""

    exit_code = 2

    def __init__(self, name: str, columns: Iterable[str]) -> None:
        self.name = name
        self.columns = tuple(columns)
        near = difflib.get_close_matches(name, self.columns, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"the columns are {shorten(self.columns)}"
        super().__init__(f"column={name!r} is not in the table; {hint}")

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show quotes around the sentence


class Infeasible(MahremError):
    """No release of this table can keep the promise; ``reached`` is the best level there is."""

    exit_code = 3

    def __init__(self, message: str, *, reached: float | None = None) -> None:
        self.reached = reached
        super().__init__(message)


class Tampered(MahremError):
    """What lies in a release folder is not what was released."""

    exit_code = 4


class BudgetExceeded(MahremError):
    """The privacy budget does not cover the request; nothing was computed."""

    exit_code = 5


class MissingExtra(MahremError, ImportError):
    """An optional part is not installed; the message says how to get it."""

    exit_code = 6


class GuaranteeBroken(MahremError):
    """The published table does not keep the promise it was made for: our bug, please report it."""

    exit_code = 70


class OutputFailed(MahremError, OSError):
    """Writing failed (disk full, connection lost); nothing half written was left behind."""

    exit_code = 74


class PrivacyWarning(UserWarning):
    """The promise holds, but something weakens what it is worth."""


class _Caller:
    """Who reads messages; one for the whole process, for they are also made in threads."""

    option: ClassVar[Callable[[str], str] | None] = None  # how options spell a setting, if they are typed


def with_dashes(name: str) -> str:
    """Spell a setting as an option is usually spelled."""
    return f"-{name}" if len(name) == 1 else "--" + name.replace("_", "-")


@contextmanager
def options_spelled(option: Callable[[str], str] = with_dashes) -> Iterator[None]:
    """Spell settings as options of the command line while the block runs; ``option`` says how."""
    before, _Caller.option = _Caller.option, option
    try:
        yield
    finally:
        _Caller.option = before


def either(python: str, options: str) -> str:
    """Give the words for whoever calls: from Python, or on the command line."""
    return python if _Caller.option is None else options


def spelled(name: str, value: object = None) -> str:
    """Write a setting as the caller types it.

    Example:
        >>> spelled("force", True), spelled("kind", {"zip": "code"}), spelled("k")
        ('force=True', "kind={'zip': 'code'}", 'k')
        >>> with options_spelled():
        ...     spelled("force", True), spelled("kind", {"zip": "code"}), spelled("k")
        ('--force', '--kind zip=code', '-k')
    """
    if _Caller.option is None:
        return name if value is None else f"{name}={value!r}"
    option = _Caller.option(name)
    if value is None or value is True:
        return option
    if isinstance(value, Mapping):
        return " ".join(f"{option} {shlex.quote(f'{key}={inner}')}" for key, inner in value.items())
    listed = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"{option} {listed if listed.isupper() else shlex.quote(listed)}"


def shorten(names: Iterable[str], most: int = 12) -> str:
    """List names for a message without flooding it."""
    listed = list(names)
    text = ", ".join(listed[:most])
    return f"{text} … ({len(listed)} in all)" if len(listed) > most else text
