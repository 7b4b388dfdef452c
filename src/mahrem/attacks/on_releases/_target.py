"""A release under attack: the published table, and what an attacker knows beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from mahrem.matching import People, Published, as_published, match, stand_ins
from mahrem.types import Mask


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseTarget:
    """What attacks on a release are given.

    Attributes:
        release: The published table.
        people: The original; without it only attacks on the release alone are tried.
        population: A table of everybody, for membership and priors.
        members: Who of the population is in the release.
        second: Another release of the same people, for composition.
        second_k: The k of that release; its smallest class if None.
        k: The k of the release; its smallest class if None.
        l: The l of its l-diversity, for minimality.
        trials: How many people, rows or claims an attack tries.
        seed: Of all draws.
    """

    release: Published
    people: People | None = None
    population: People | None = None
    members: Mask | None = field(default=None, repr=False)
    second: Published | None = None
    second_k: int | None = None
    k: int | None = None
    l: int = 2  # noqa: E741 - the literature's name
    trials: int = 1000
    seed: int = 0

    @property
    def kind(self) -> Literal["release"]:
        """What it is."""
        return "release"

    @property
    def smallest(self) -> int:
        """The k that was promised, or the smallest class."""
        return int(self.release.sizes.min(initial=1)) if self.k is None else self.k

    @property
    def known_people(self) -> People:
        """The original, for attacks that need one."""
        assert self.people is not None  # noqa: S101 - the entry of the attack says that it needs them
        return self.people

    @cached_property
    def shown_people(self) -> People:
        """Whom attacks look for that need not know where in their cells people are.

        Nobody's own place there has a say in what is found. Only who has several rows must be taken from the
        original where the release does not say it.
        """
        known = self.known_people
        if known.owners is not None and self.release.people is None:
            return known
        return stand_ins(
            self.release,
            plain=as_published(self.release, known),
            unread=match(self.release, known).unread,
            seed=self.seed,
        )

    def lacking(self, needs: Iterable[str]) -> tuple[str, str] | None:
        """Give the first of some needs that is not met, and why; None if all are."""
        reasons = {
            "original": None if self.people is not None else "no original was given",
            "sensitive": None if self.release.sensitive else "no sensitive column was named",
            "population": None if self.population is not None else "no population was given",
            "members": None if self.members is not None else "no original was given",
            "second": None if self.second is not None else "no second release was given",
        }
        return next(((need, reason) for need in needs if (reason := reasons[need]) is not None), None)
