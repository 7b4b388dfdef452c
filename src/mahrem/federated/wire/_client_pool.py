"""Many clients of which few are in memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from mahrem.federated.wire._grid import Answerer


@dataclass
class ClientPool(Mapping[str, Answerer]):
    """Many clients of which few are held at once: made when asked, the longest unused is let go.

    Args:
        names: All of them.
        make: Makes one.
        keep: How many are held; with masked sums at least as many as take part in a round.
    """

    names: tuple[str, ...] = field(repr=False)
    make: Callable[[str], Answerer] = field(repr=False)
    keep: int = 64
    _held: dict[str, Answerer] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._known = frozenset(self.names)

    def __getitem__(self, name: str) -> Answerer:
        if name not in self._known:
            raise KeyError(name)
        client = self._held.pop(name, None) or self.make(name)
        self._held[name] = client
        while len(self._held) > self.keep:
            del self._held[next(iter(self._held))]
        return client

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
