"""What can go wrong, as one small tree.

::

    MahremError
    ├── InvalidParameter (ValueError)      an option, a policy key or a value of it           exit 2
    │   └── GivesAway                      columns whose cells name people would be published exit 2
    ├── InvalidInput (ValueError)          a file or table that cannot be read as one         exit 2
    ├── ColumnNotFound (KeyError)          a column that is not there                         exit 2
    ├── Doubtful                           it holds, but; and doubts were not to be passed    exit 1
    ├── Infeasible                         no release can keep the promise                    exit 3
    ├── Tampered                           hashes do not match                                exit 4
    ├── BudgetExceeded                     the privacy budget does not cover it               exit 5
    ├── MissingExtra (ImportError)         an optional part is not installed                  exit 6
    ├── GuaranteeBroken                    our own bug; never caught inside the house         exit 70
    ├── Unforeseen                         our own bug too: an error that nobody thought of   exit 70
    └── OutputFailed (OSError)             disk full, connection lost; nothing half written   exit 74
    PrivacyWarning (UserWarning)           the promise holds, but is weaker than it may look

A message reads ``name=value``, what must hold, and a hint. It never holds a cell of the data. A hint names
settings through :func:`spelled`, so that each caller reads them as they would type them.

What a library raises may quote cells. No verb lets it through: :func:`in_our_words` tells only its class and
where it happened.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


PAID = "the ledger has paid for it, and that stays spent"  # how a note about costs begins


class MahremError(Exception):
    """Anything mahrem raises on purpose."""

    exit_code: ClassVar[int] = 1


class InvalidParameter(MahremError, ValueError):
    """An option, a policy key or its value does not fit."""

    exit_code = 2


class GivesAway(InvalidParameter):
    """Columns whose cells give people away would be published as they are; ``columns`` says which and why."""

    def __init__(self, message: str, columns: Mapping[str, Iterable[str]]) -> None:
        self.columns = {name: tuple(why) for name, why in columns.items()}
        super().__init__(message)


class InvalidInput(MahremError, ValueError):
    """A file or a table cannot be read as one."""

    exit_code = 2


class ColumnNotFound(MahremError, KeyError):
    """A column was named that the table does not have; the nearest names are the hint."""

    exit_code = 2

    def __init__(self, name: str, columns: Iterable[str]) -> None:
        self.name = name
        self.columns = tuple(columns)
        part = [column for column in self.columns if "," in column and name in _parts(column)]
        near = part or difflib.get_close_matches(name, self.columns, n=3, cutoff=0.5)
        shown = [_as_typed(column) for column in near]
        hint = f"did you mean {' or '.join(shown)}?" if near else f"the columns are {shorten(self.columns)}"
        super().__init__(f"column={name!r} is not in the table; {hint}")

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show quotes around the sentence


def _parts(column: str) -> list[str]:
    """Give what a name falls into where commas stand between names."""
    return [part.strip() for part in column.split(",")]


def _as_typed(column: str) -> str:
    """Write the name of a column as the caller types it; on a command line in quotes where it needs them."""
    if _Caller.option is None:
        return column if column == column.strip() else repr(column)
    typed = _in_quotes(column)
    return column if typed == column else shlex.quote(typed)


_SEPARATING = ',"='  # what ends a name before a value


def _in_quotes(name: str, signs: str = ',"') -> str:
    """Put a name that holds such signs or blanks at its ends in double quotes, as options read it."""
    plain = name == name.strip() and not set(name) & set(signs)
    return name if plain else '"' + name.replace('"', '""') + '"'


class Doubtful(MahremError):
    """The promise holds, but something beside it weakens what it is worth, and that was not to be passed."""

    exit_code = 1


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


class Unforeseen(MahremError):
    """Something in mahrem went wrong in a way nobody thought of: our bug, please report it."""

    exit_code = 70


class OutputFailed(MahremError, OSError):
    """Writing failed (disk full, connection lost); nothing half written was left behind."""

    exit_code = 74


class PrivacyWarning(UserWarning):
    """The promise holds, but something weakens what it is worth."""


def in_our_words(verb: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a verb raise nothing but errors of ours, for what others say may hold cells of the data.

    Guarantees:
        - An error of ours passes as it is, without the words of a library behind it.
        - What the caller's own code raised (a callback, a model of theirs) passes as it is, and so do
          warnings, interrupts, and a call with wrong arguments.
        - What is given for a path and cannot be one is refused by the name of its parameter.
    """
    names = list(inspect.signature(verb).parameters)
    paths = _paths_of(verb)

    @functools.wraps(verb)
    def guarded(*args: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        if paths:
            _refuse_no_paths(paths, {**dict(zip(names, args, strict=False)), **keywords})
        try:
            return verb(*args, **keywords)
        except BaseException as error:
            ours = told_by_us(error)
            if ours is error:
                raise
            for note in getattr(error, "__notes__", ()):
                if note.startswith(PAID):  # what others note may hold cells
                    ours.add_note(note)
        raise ours from None

    return guarded


def _paths_of(verb: Callable[..., object]) -> dict[str, list[str]]:
    """Give what each parameter takes that may be a path, by its annotation; what takes more is left out."""
    taken = {name: str(kind).split(" | ") for name, kind in verb.__annotations__.items() if name != "return"}
    return {
        name: kinds
        for name, kinds in taken.items()
        if "Path" in kinds and all(kind.isidentifier() for kind in kinds) and not {"object", "Any"} & {*kinds}
    }


def _refuse_no_paths(paths: Mapping[str, list[str]], given: Mapping[str, object]) -> None:
    for name, kinds in paths.items():
        if name not in given or isinstance(given[name], str | os.PathLike):
            continue
        value = given[name]
        if not {"None" if value is None else base.__name__ for base in type(value).__mro__} & {*kinds}:
            others = [f"a {kind}" for kind in kinds if kind not in {"str", "Path", "None"}]
            raise InvalidParameter(
                f"{name} must be {' or '.join(['a path', *others])}, not {type(value).__name__}"
            )


def told_by_us(error: BaseException) -> BaseException:
    """Give an error as it may be shown: the same one, or one of ours that tells its class and its place."""
    if isinstance(error, MahremError):
        _forget_causes(error)
        return error
    panic = type(error).__name__ == "PanicException"  # how Rust ends; no Exception
    if isinstance(error, Warning | MemoryError) or not (panic or isinstance(error, Exception)):
        return error
    import traceback

    frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    blamed = next((file for file in reversed(frames) if _room(file) or not _is_library(file)), None)
    room = None if blamed is None else _room(blamed)
    if len(frames) < 2 or room is None:
        return error  # wrong arguments, or nothing that we did
    if isinstance(error, OSError):
        return OutputFailed(f"input or output failed: {error.strerror or type(error).__name__}")
    home = type(error).__module__.partition(".")[0]
    name = f"{home}.{type(error).__name__}".removeprefix("builtins.")
    if home in ("builtins", "mahrem") and blamed == frames[-1]:
        return Unforeseen(f"a bug of ours ({name} in {room}); please report it")
    return InvalidInput(
        f"the table, or a file beside it, holds what cannot be worked on: {name} in {room}; look for values "
        f"of the wrong kind, or report it"
    )


def _forget_causes(error: BaseException) -> None:
    """Cut off what a library said before us: a traceback would print it."""
    before: BaseException | None = error
    while isinstance(before, MahremError):
        if before.__cause__ is not None and not isinstance(before.__cause__, MahremError):
            before.__cause__ = None
        if not isinstance(before.__context__, MahremError):
            before.__suppress_context__ = True
        before = before.__cause__ or (None if before.__suppress_context__ else before.__context__)


def _room(file: str) -> str | None:
    """Say which module of ours a file is; None if it is none."""
    path = Path(file)
    here = Path(__file__).parent
    return ".".join(path.relative_to(here).with_suffix("").parts) if here in path.parents else None


def _is_library(file: str) -> bool:
    """Say whether a file came with Python or was installed, as opposed to written by whoever calls us."""
    if file.startswith("<"):  # made as it ran; what somebody types has other names
        return file.startswith(("<frozen", "<string", "<__array_function__"))
    if not Path(file).is_absolute():  # compiled by Cython
        return True
    import sysconfig

    homes = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return any(Path(home) in Path(file).parents for home in homes)


class _Caller:
    """Who reads messages; one for the whole process, for they are also made in threads."""

    option: ClassVar[Callable[[str], str] | None] = None  # how options spell a setting, if they are typed
    label: ClassVar[Callable[[str], str] | None] = None  # what a form calls it, if one is filled in


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


@contextmanager
def labels_spelled(label: Callable[[str], str]) -> Iterator[None]:
    """Spell settings as the fields of a form are called while the block runs."""
    before, _Caller.label = _Caller.label, label
    try:
        yield
    finally:
        _Caller.label = before


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
        >>> with labels_spelled(str.title):
        ...     spelled("force", True), spelled("kind", {"zip": "code"}), spelled("k")
        ('“Force”', '“Kind” of zip: code', '“K”')
    """
    if _Caller.label is not None:
        return _in_a_form(f"“{_Caller.label(name)}”", value)
    if _Caller.option is None:
        return name if value is None else f"{name}={value!r}"
    option = _Caller.option(name)
    if value is None or value is True:
        return option
    if value is False:
        return f"{option[:2]}no-{option[2:]}"
    if isinstance(value, Mapping):
        pairs = (f"{_in_quotes(str(key), _SEPARATING)}={inner}" for key, inner in value.items())
        return " ".join(f"{option} {shlex.quote(pair)}" for pair in pairs)
    listed = (
        ",".join(_in_quotes(str(one)) for one in value) if isinstance(value, list | tuple) else str(value)
    )
    return f"{option} {listed if listed.isupper() else shlex.quote(listed)}"


def spelled_together(settings: Mapping[str, object]) -> str:
    """Write several settings as the caller types them in one go."""
    typed = _Caller.label is None and _Caller.option is not None
    return (" " if typed else ", ").join(spelled(name, value) for name, value in settings.items())


def _in_a_form(field: str, value: object) -> str:
    if value is None or value is True:
        return field
    if isinstance(value, Mapping):
        return ", ".join(f"{field} of {key}: {inner}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return f"{field}: {', '.join(map(str, value))}"
    return f"{field}: {'no' if value is False else value}"


def shorten(names: Iterable[str], most: int = 12) -> str:
    """List names for a message without flooding it."""
    listed = list(names)
    text = ", ".join(listed[:most])
    return f"{text} … ({len(listed)} in all)" if len(listed) > most else text
