"""Gossip: peers without a server average with their neighbours until all know what all know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.types import Floats


@dataclass(frozen=True)
class Neighbours:
    """Who talks with whom, as a connected graph; each edge has its Metropolis weight.

    An edge's weight is ``1 / (1 + the larger number of neighbours)`` of its two ends. Both use the same, so
    what one gains the other gives, and each keeps at least ``1 / (1 + its number of neighbours)`` of its own.

    Args:
        edges: Pairs of names.

    Guarantees:
        - Every peer can be reached from every other.
        - The weights of a peer's edges add up to less than 1.

    References:
        Xiao, Boyd, Kim: Distributed average consensus with least-mean-square deviation, 2007.

    Example:
        >>> line = Neighbours([("a", "b"), ("b", "c")])
        >>> line.of("b")
        {'a': 0.3333333333333333, 'c': 0.3333333333333333}
        >>> Neighbours([("a", "b"), ("c", "d")])
        Traceback (most recent call last):
        mahrem.errors.InvalidParameter: edges: the graph falls into 2 parts; every peer must reach every other
    """

    edges: Sequence[tuple[str, str]]
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        pairs = sorted({(min(pair), max(pair)) for pair in self.edges})
        if not pairs or any(first == second for first, second in pairs):
            raise InvalidParameter(f"edges={len(pairs)}: at least one, each between two peers")
        object.__setattr__(self, "edges", tuple(pairs))
        object.__setattr__(self, "names", tuple(sorted({name for pair in pairs for name in pair})))
        parts = self._parts()
        if parts > 1:
            raise InvalidParameter(
                f"edges: the graph falls into {parts} parts; every peer must reach every other"
            )

    def _parts(self) -> int:
        part = {name: {name} for name in self.names}
        for first, second in self.edges:
            if part[first] is not part[second]:
                joined = part[first] | part[second]
                part.update(dict.fromkeys(joined, joined))
        return len({id(held) for held in part.values()})

    @classmethod
    def ring(cls, names: Iterable[str]) -> Neighbours:
        """Let everybody talk with two others, in a ring.

        Example:
            >>> Neighbours.ring(["a", "b", "c", "d"]).edges
            (('a', 'b'), ('a', 'd'), ('b', 'c'), ('c', 'd'))
        """
        listed = list(names)
        if len(listed) < 2:
            raise InvalidParameter(f"peers={len(listed)}: at least two")
        return cls(list(zip(listed, [*listed[1:], listed[0]], strict=True)))

    @classmethod
    def all_of(cls, names: Iterable[str]) -> Neighbours:
        """Let everybody talk with everybody."""
        return cls(list(combinations(names, 2)))

    @property
    def weights(self) -> Floats:
        """Give the weight of every edge, in their order."""
        count = {name: sum(name in pair for pair in self.edges) for name in self.names}
        return np.array([1 / (1 + max(count[first], count[second])) for first, second in self.edges])

    def of(self, name: str) -> dict[str, float]:
        """Give a peer's neighbours and the weights of its edges."""
        if name not in self.names:
            raise InvalidParameter(f"peer={name!r} is not in the graph")
        held = zip(self.edges, self.weights.tolist(), strict=True)
        return {
            (second if name == first else first): weight
            for (first, second), weight in held
            if name in {first, second}
        }


def mix_values(
    values: Mapping[str, Floats], neighbours: Neighbours, silent: Iterable[str] = ()
) -> dict[str, Floats]:
    """Let every peer take a step towards its neighbours.

    Args:
        values: ``(size,)`` by peer.
        neighbours: The graph.
        silent: Peers that cannot be reached now; they keep their values.

    Guarantees:
        - The mean over all peers stays, whoever is silent.
        - No value leaves the range of those before.
        - Again and again without anybody silent for good, all come to the mean.

    Example:
        >>> line = Neighbours([("a", "b"), ("b", "c")])
        >>> values = {"a": np.array([0.0]), "b": np.array([3.0]), "c": np.array([6.0])}
        >>> {name: held.tolist() for name, held in mix_values(values, line).items()}
        {'a': [1.0], 'b': [3.0], 'c': [5.0]}
    """
    away = set(silent)
    mixed = {name: np.array(held, np.float64) for name, held in values.items()}
    for (first, second), weight in zip(neighbours.edges, neighbours.weights, strict=True):
        if first not in away and second not in away:
            step = weight * (np.asarray(values[second], np.float64) - values[first])
            mixed[first] += step
            mixed[second] -= step
    return mixed
