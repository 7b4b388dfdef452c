"""Whom sums are over: what a client holds the server to, so that no sum speaks of too few clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from mahrem.errors import InvalidInput
from mahrem.federated.sums._history import SumHistory
from mahrem.federated.sums._terms import ClientKeys, SumPlan, least_of

MOST = 1 << 16  # runs that are remembered; if one were forgotten, its sums could be asked for anew


@dataclass
class SumMembers:
    """The clients that the sums of each run are over, as one client saw them.

    The difference of two sums over different clients tells the counts of those who are in only one of them.
    So all sums of a run must be over the same clients, unless ``recount`` was agreed; then those of a round.

    Args:
        least: A sum of fewer clients is refused.
        recount: Whether a run may go on over fewer clients than it began with.
        history: What is remembered of earlier runs; their members must be the same, or be agreed to.

    Example:
        >>> members = SumMembers(least=2)
        >>> members.accept("run", ["a", "b", "c"])
        >>> members.accept("run", ["a", "b"])
        Traceback (most recent call last):
        mahrem.errors.InvalidInput: clients=2: sums of this run were over 3 others; the difference ...
    """

    least: int = 2
    recount: bool = False
    history: SumHistory | None = field(default=None, repr=False)
    _runs: dict[str, tuple[int, frozenset[str]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, plan: SumPlan, keys: ClientKeys) -> SumMembers:
        """Hold the server to what a plan says, and to earlier runs."""
        return cls(least_of(plan, keys.members), plan.recount, keys.history)

    def refuse_few(self, names: Iterable[str]) -> None:
        """Refuse a sum over too few different clients.

        Raises:
            InvalidInput: If they are.
        """
        if len(set(names)) < self.least:
            raise InvalidInput(f"clients={len(set(names))}: a sum of fewer than {self.least} is refused")

    def accept(self, run: str, names: Iterable[str], number: int | None = None) -> None:
        """Remember whom a sum of a run is over.

        Args:
            run: The run.
            names: The clients.
            number: Its round, where that can be asked for twice; None is a round of its own.

        Raises:
            InvalidInput: If they are too few, or not those of the run's sums before; with ``recount``, not
                those of the round before, or if a later round is known; or if the owner of this client has to
                agree to them first, see :class:`SumHistory`.
        """
        there = frozenset(names)
        self.refuse_few(there)
        if run not in self._runs and len(self._runs) >= MOST:
            raise InvalidInput(f"runs={MOST} were seen by this client, and no more is taken; start it again")
        last, before = self._runs.get(run, (-1 if number is None else number, there))
        number = last + 1 if number is None else number
        if there != before and not self.recount:
            raise InvalidInput(
                f"clients={len(there)}: sums of this run were over {len(before)} others; the difference "
                f"would tell a client's counts, so it is refused unless recount was agreed"
            )
        if self.recount and (number < last or (number == last and there != before)):
            raise InvalidInput(
                f"clients={len(there)}: sums of this round or a later one were over {len(before)} others; "
                f"the difference would tell a client's counts, so it is refused"
            )
        if self.history is not None and (run not in self._runs or there != before):
            self.history.admit(run, there)
        self._runs[run] = number, there


def commonest(sizes: Iterable[int]) -> int:
    """Give the size most answers have: one client alone cannot make all others wrong."""
    return max(Counter(sizes).items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))[0]
