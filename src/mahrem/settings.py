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
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, TypeVar

from mahrem import check
from mahrem.readers import Read, Reader, number, switch, text, whole

__all__ = [
    "Read",
    "Setting",
    "check_settings",
    "keyword_list",
    "number",
    "read_setting",
    "read_settings",
    "same_setting",
    "setting",
    "settings_of",
    "split_settings",
    "switch",
    "text",
    "typed_as",
    "whole",
]


_WIDTH = 110  # of a line of code

Spec = TypeVar("Spec")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is known about one setting, before anybody says it.

    Attributes:
        name: In Python, in policy files, in JSON.
        read: Turns what a caller or a file says into what is kept; refuses by name what does not fit.
        group: Under which heading people find it.
        takes: What a caller may give, as a type checker reads it: ``"int | None"``.
        default: What counts if nothing is said.
        spelling: On the command line; by default ``--name-with-dashes``.
        metavar: What stands for the value in help; None for a switch.
        example: A value as a policy file writes it; by default the default.
        typed: Turns texts of a command line into what ``read`` takes; by default they are taken as they are.
        repeats: May be given several times on a command line.
        choices: The values there are, where they can be listed; a function where others may add to them.
        listed: The type that names them for type checkers, kept beside their entries; else they are written
            out wherever the setting is typed.
        private: Never written into what is published: a seed, a key, the name of a file.
        secret: Not even shown where the spec is printed: a key, a table.
        on_spark: A cluster can do it.
        on_page: A page can offer it as it is: it is no file and no address of the machine the page runs on,
            and what a ledger guards does not come out unpaid by it.
        hidden: Taken, but not shown in help.
        words: What it means by language, of settings that other distributions add.
    """

    name: str
    read: Read
    group: str
    takes: str = "Any"
    default: Any = None
    spelling: str = ""
    metavar: str | None = None
    example: Any = None
    typed: Read | None = None
    repeats: bool = False
    choices: Callable[[], Iterable[str]] | None = None
    listed: str = ""
    private: bool = False
    secret: bool = False
    on_spark: bool = False
    on_page: bool = True
    hidden: bool = False
    words: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.spelling:
            short = len(self.name) == 1
            object.__setattr__(
                self, "spelling", f"-{self.name}" if short else f"--{self.name.replace('_', '-')}"
            )

    @property
    def option(self) -> str:
        """Its first spelling on the command line."""
        return self.spelling.split()[0].split("/")[0]

    @property
    def reader(self) -> Reader:
        """What is known about the values it takes."""
        return self.read if isinstance(self.read, Reader) else Reader(read=self.read, takes=self.takes)

    def is_default(self, value: object) -> bool:
        """Say whether a value is what counts if nothing is said; a table is never asked to compare itself."""
        return value is self.default or (
            isinstance(value, str | int | float | tuple | Mapping) and value == self.default
        )

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The least and the largest number it takes, where it takes numbers."""
        return self.reader.least, self.reader.most


def setting(default: Any = None, *, read: Read, group: str, **more: Any) -> Any:
    """Say one setting as a field of a spec; ``more`` are the other attributes of :class:`Setting`.

    ``default`` may be a type or a function: each spec then gets one of its own. What a :class:`Reader` knows
    (``takes``, ``typed``, ``repeats``) need not be said again.
    """
    known = tuple(entry.name for entry in fields(Setting))
    check.unknown_keys(more, known, where="setting")
    fresh = callable(default)
    return field(
        default=MISSING if fresh else default,
        default_factory=default if fresh else MISSING,
        repr=not more.get("secret", False),
        metadata={"setting": {"read": read, "group": group, **more}},
    )


def same_setting(known: Setting) -> Any:
    """Take a setting that another room says as a field of a spec."""
    facts = {entry.name: getattr(known, entry.name) for entry in fields(Setting)}
    default = facts.pop("default")
    del facts["name"]
    return setting(default, **facts)


def settings_of(spec: type) -> Mapping[str, Setting]:
    """Give the settings of a spec by name, in its order; fields that are none of a caller's are left out."""
    return _settings_of(spec)


@cache
def _settings_of(spec: type) -> Mapping[str, Setting]:
    return {entry.name: _setting_of(entry) for entry in fields(spec) if "setting" in entry.metadata}


def _setting_of(entry: dataclasses.Field[Any]) -> Setting:
    facts = dict(entry.metadata["setting"])
    default = entry.default
    if default is MISSING:
        default = entry.default_factory() if entry.default_factory is not MISSING else None
    reader = facts["read"]
    usual: dict[str, object] = {"takes": str(entry.type)}
    if isinstance(reader, Reader):
        optional = " | None" if default is None and reader.takes != "Any" else ""
        usual = {"takes": reader.takes + optional, "typed": reader.typed, "repeats": reader.repeats}
    return Setting(name=entry.name, default=default, **{**usual, **facts})


def read_settings(settings: Mapping[str, Setting], given: Mapping[str, object]) -> dict[str, Any]:
    """Read what was said by name; a name that is no setting is refused, with the nearest ones."""
    check.unknown_keys(given, tuple(settings), where="setting")
    return {
        name: read_setting(settings[name], value)
        for name, value in given.items()
        if value is not None or settings[name].default is None  # elsewhere None says nothing
    }


def split_settings(spec: type[Spec], given: Mapping[str, object]) -> tuple[Spec, dict[str, Any]]:
    """Make a spec of what is its own among settings; gives the others too."""
    known = settings_of(spec)
    own = {name: value for name, value in given.items() if name in known}
    rest = {name: value for name, value in given.items() if name not in known}
    return spec(**read_settings(known, own)), rest


def read_setting(known: Setting, value: object) -> Any:
    """Read one value of a setting."""
    if value is None:
        return None
    kept = known.read(known.name, value)
    _check_choice(known, kept)
    return kept


def check_settings(spec: object, *, but: str = "") -> None:
    """Refuse values of a spec that no reader gives, ``but`` one: others make a spec by hand."""
    for name, known in settings_of(type(spec)).items():
        value, (least, most) = getattr(spec, name), known.ends
        if value is None or name == but:
            continue
        _check_choice(known, value)
        if least is not None and most is not None:
            check.between(least, most, **{name: value})
        elif least is not None:
            check.at_least(least, **{name: value})


def _check_choice(known: Setting, value: object) -> None:
    if known.choices is not None and isinstance(value, str):
        check.one_of(tuple(known.choices()), **{known.name: value})


def keyword_list(name: str, settings: Mapping[str, Setting], *, says: str, over: str = "TypedDict") -> str:
    """Write the settings as a ``TypedDict``, over another one, that type checkers and editors read."""
    lines = [f"class {name}({over}, total=False):", f'    """{says}"""', ""]
    for known in settings.values():
        unusual = "  # noqa: E741 - the literature's name" if known.name == "l" else ""
        line = f"    {known.name}: {typed_as(known)}{unusual}"
        lines += [line] if len(line) <= _WIDTH else _folded(line)
    return "\n".join(lines) + "\n"


def _folded(line: str) -> list[str]:
    """Write a list of names that is too long for a line as the formatter does: one under the other."""
    head, _, rest = line.partition("Literal[")
    names, _, tail = rest.partition("]")
    outer = " " * (len(head) - len(head.lstrip()))
    return [f"{head}Literal[", *(f"{outer}    {name}," for name in names.split(", ")), f"{outer}]{tail}"]


def typed_as(known: Setting) -> str:
    """Give what a caller may say as a type checker reads it: names by name, where all of them are known.

    What other distributions add is not among them; a policy, which is a mapping, takes those too.
    """
    if known.choices is None or known.takes not in {"str", "str | None"}:
        return known.takes
    if known.listed:
        return known.listed + known.takes.removeprefix("str")
    return _literal(known.choices()) + known.takes.removeprefix("str")


def name_list(listed: str, names: Iterable[str]) -> str:
    """Write a type that lists names, as type checkers read it."""
    line = f"{listed} = {_literal(names)}"
    return line if len(line) <= _WIDTH else "\n".join(_folded(line))


def _literal(names: Iterable[str]) -> str:
    return f"Literal[{', '.join(json.dumps(name) for name in names)}]"
