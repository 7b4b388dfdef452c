"""One entry per thing: what it is called, where it lives, and what others ask of it before it is loaded.

A room lists its things (methods, models, metrics) as :class:`Entries`. Command line, page, comparison,
refusals and tests are made from that list alone. Other distributions add to it through an entry point:
under ``mahrem.methods``, say, ``nearest = "their_package:NEAREST"``, where ``NEAREST`` is an entry like
ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any, Generic, TypeVar

from mahrem.errors import InvalidParameter


@cache
def own_version() -> str:
    """Say which version of this package runs; the file that says it is read once."""
    return version("mahrem")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A thing with a name; it is loaded when it is used.

    Attributes:
        name: What a person says.
        home: Where it lives: ``"package.module:attribute"``.
        words: What it is called and what it says, by language; for those of other distributions: ours
            stand in the catalogues.
    """

    name: str
    home: str
    words: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def load(self) -> Any:
        """Import it."""
        module, _, attribute = self.home.partition(":")
        return getattr(import_module(module), attribute)


Kind = TypeVar("Kind", bound=Entry)


class Entries(Mapping[str, Kind], Generic[Kind]):
    """Entries of one kind by name: ours in their order, then those of other distributions.

    Guarantees:
        - Listing names loads nothing, ours or theirs.
        - A name of ours cannot be taken by others.
    """

    def __init__(self, group: str, kind: type[Kind], ours: Iterable[Kind]) -> None:
        self._group, self._kind = group, kind
        self._ours = {entry.name: entry for entry in ours}

    @cached_property
    def _theirs(self) -> dict[str, EntryPoint]:
        points = entry_points(group=self._group)
        return {point.name: point for point in points if point.name not in self._ours}

    def __getitem__(self, name: str) -> Kind:
        if name in self._ours:
            return self._ours[name]
        point = self._theirs[name]
        try:
            entry = point.load()
        except Exception as error:
            raise InvalidParameter(
                f"{self._group}: {name!r} of {point.value} cannot be loaded ({type(error).__name__})"
            ) from error
        if not isinstance(entry, self._kind) or entry.name != name:
            raise InvalidParameter(
                f"{self._group}: {point.value} must be a {self._kind.__name__} whose name is {name!r}"
            )
        return entry

    def __iter__(self) -> Iterator[str]:
        yield from self._ours
        yield from self._theirs

    def __len__(self) -> int:
        return len(self._ours) + len(self._theirs)

    def __contains__(self, name: object) -> bool:
        return name in self._ours or name in self._theirs
