"""Settings, each said once: a field of a frozen dataclass, from which everything else is made.

A room writes what may be said to it as a *spec*, a dataclass whose fields come from :func:`setting`::

    @dataclass(frozen=True, kw_only=True)
    class Training:
        epochs: int = setting(10, read=whole, group="model", metavar="N")

Command-line options, policy files, forms, bodies of the API, keyword lists for type checkers, docstrings and
refusals are made from it. Words for people stand in the catalogues, under ``setting.<words>.<name>``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any

from mahrem import check
from mahrem.errors import InvalidParameter

__all__ = [
    "Setting",
    "keyword_list",
    "number",
    "read_settings",
    "setting",
    "settings_of",
    "switch",
    "text",
    "whole",
]

Read = Callable[[str, Any], Any]  # the name and what was said: gives what is kept, or refuses by the name


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is known about one setting, before anybody says it.

    Attributes:
        name: In Python, in policy files, in JSON.
        takes: What a caller may give, as a type checker reads it: ``"int | None"``.
        default: What counts if nothing is said.
        read: Turns what a caller or a file says into what is kept; refuses by name what does not fit.
        group: Under which heading people find it.
        spelling: On the command line; by default ``--name-with-dashes``.
        metavar: What stands for the value in help; None for a switch.
        typed: Turns texts of a command line into what ``read`` takes; by default they are taken as they are.
        repeats: May be given several times on a command line.
        choices: The values there are, where they can be listed; a function where others may add to them.
        private: Never written into what is published: a seed, a key, the name of a file.
        on_spark: A cluster can do it.
        on_page: A page can offer it: it is no file and no address of the machine the page runs on.
        hidden: Taken, but not shown in help.
    """

    name: str
    takes: str
    default: Any
    read: Read
    group: str
    spelling: str
    metavar: str | None
    typed: Read | None
    repeats: bool
    choices: Callable[[], Iterable[str]] | None
    private: bool
    on_spark: bool
    on_page: bool
    hidden: bool


def setting(
    default: Any = None,
    *,
    read: Read,
    group: str,
    takes: str | None = None,
    spelling: str | None = None,
    metavar: str | None = None,
    **more: Any,
) -> Any:
    """Say one setting as a field of a spec; ``more`` are the other attributes of :class:`Setting`.

    ``default`` may be a type like ``dict``: each spec then gets one of its own.
    """
    known = {entry.name for entry in fields(Setting)}
    check.unknown_keys(more, tuple(known), where="setting")
    said = {"read": read, "group": group, "takes": takes, "spelling": spelling, "metavar": metavar, **more}
    fresh = isinstance(default, type)
    return field(
        default=MISSING if fresh else default,
        default_factory=default if fresh else MISSING,
        repr=not more.get("private", False),
        metadata={"setting": said},
    )


@cache
def settings_of(spec: type) -> Mapping[str, Setting]:
    """Give the settings of a spec by name, in its order; fields that are none of a caller's are left out."""
    found = {}
    for entry in fields(spec):
        if "setting" not in entry.metadata:
            continue
        said = dict(entry.metadata["setting"])
        default = entry.default if entry.default is not MISSING else _made(entry)
        usual = {"typed": None, "repeats": False, "choices": None, "private": False}
        usual |= {"on_spark": False, "on_page": True, "hidden": False}
        said["takes"] = said["takes"] or str(entry.type)
        said["spelling"] = said["spelling"] or f"--{entry.name.replace('_', '-')}"
        found[entry.name] = Setting(name=entry.name, default=default, **{**usual, **said})
    return found


def _made(entry: dataclasses.Field[Any]) -> Any:
    return entry.default_factory() if entry.default_factory is not MISSING else None


def read_settings(settings: Mapping[str, Setting], given: Mapping[str, Any]) -> dict[str, Any]:
    """Read what was said by name; a name that is no setting is refused, with the nearest ones."""
    check.unknown_keys(given, tuple(settings), where="settings")
    read: dict[str, Any] = {}
    for name, value in given.items():
        known = settings[name]
        if value is None:
            if known.default is not None:
                continue  # None says nothing
            read[name] = None
            continue
        kept = known.read(name, value)
        if known.choices is not None and isinstance(kept, str):
            check.one_of(tuple(known.choices()), **{name: kept})
        read[name] = kept
    return read


def keyword_list(name: str, settings: Mapping[str, Setting], *, says: str) -> str:
    """Write the settings as a ``TypedDict`` that type checkers and editors read."""
    lines = [f"class {name}(TypedDict, total=False):", f'    """{says}"""', ""]
    for known in settings.values():
        unusual = "  # noqa: E741 - the literature's name" if known.name == "l" else ""
        lines.append(f"    {known.name}: {known.takes}{unusual}")
    return "\n".join(lines) + "\n"


def whole(name: str, value: object) -> int:
    """Read a whole number."""
    return check.whole(**{name: value})


def number(name: str, value: object) -> float:
    """Read a finite number."""
    return check.finite(**{name: value})


def text(name: str, value: object) -> str:
    """Read a word; a member of an enumeration of words counts as its word."""
    if not isinstance(value, str):
        raise InvalidParameter(f"{name} must be text, not {type(value).__name__}")
    return str(value)


def switch(name: str, value: object) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise InvalidParameter(f"{name} must be true or false, not {type(value).__name__}")
    return value
