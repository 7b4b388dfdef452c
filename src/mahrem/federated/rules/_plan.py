"""What a federation agreed to learn as rules, and how: the same for server, clients and a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from mahrem.errors import InvalidParameter
from mahrem.federated._readers import from_whole, refuse_settings
from mahrem.federated.sums import SUMS
from mahrem.settings import number, read_settings, setting, settings_of, switch, text

if TYPE_CHECKING:
    from mahrem.federated.rules._exact import Candidates
    from mahrem.federated.rules._one_shot import SumOver
    from mahrem.learning.rules import CbaSettings, Cut

HOWS = ("exact", "one-shot")
FEW_PEOPLE = 5  # of which a new federation sends no count, where its members say nothing
_WORD: dict[str, Any] = {"read": text, "group": "rules", "metavar": "NAME"}
_AMOUNT: dict[str, Any] = {"read": number, "group": "rules", "metavar": "X"}
_COUNT: dict[str, Any] = {"read": from_whole(1), "group": "rules", "metavar": "N"}


@dataclass(frozen=True, kw_only=True)
class RulesPlan:
    """How a federation learns rules.

    Args:
        how: The model of all rows together, or local rules that are merged once.
        sum: How counts are added in ``exact``. One-shot rules are not added up: there it is ``plain``.
        support: Least share of the rows of a rule's left side.
        confidence: Least confidence of a rule.
        longest: Most cells of a left side; all by default.
        cut: Where the rules end: at the least error, or the shortest list, which suits clients with few rows.
        sum_over: Whom supports of ``one-shot`` are summed over. See :class:`MergedRules`.
        least_clients: Fewer clients and there is no model, and clients refuse hidden sums of fewer. By
            default all members of a federation where sums are hidden, else 2.
        least_count: Counts are sent in multiples of this, rounded down: each is known to within it. Above 1
            the model is not exact.
        recount: Count again if a client is lost: the difference tells its counts. See :class:`ExactSettings`.

    Raises:
        InvalidParameter: If a setting cannot be, or one-shot rules were to be added up.
    """

    how: str = setting("exact", **_WORD, choices=lambda: HOWS)
    sum: str = setting(
        "masked", **_WORD | {"group": "what is learnt", "metavar": "KIND"}, choices=lambda: SUMS
    )
    support: float = setting(0.2, **_AMOUNT)
    confidence: float = setting(0.5, **_AMOUNT)
    longest: int | None = setting(**_COUNT)
    cut: Cut = setting("least", **_WORD, choices=lambda: ("least", "shortest"))
    sum_over: SumOver = setting("all", **_WORD, choices=lambda: ("all", "senders"))
    least_clients: int | None = setting(**_COUNT | {"group": "what is learnt"})
    least_count: int = setting(1, **_COUNT)
    recount: bool = setting(False, read=switch, group="rules")
    numbers: ClassVar[str] = "counts"
    groups: ClassVar[int] = 1  # counts of all clients are one sum
    candidates: ClassVar[Candidates] = "levels"  # agreed on: clients name single frequent cells only
    most: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        refuse_settings(self)
        if self.how == "one-shot" and self.sum != "plain":
            raise InvalidParameter(
                f"sum={self.sum!r}: one-shot rules are not added up, the server sees those of every client; "
                "say sum='plain', or how='exact'"
            )
        if self.hides and self.least < 2:
            raise InvalidParameter(f"least_clients={self.least_clients}: a sum of one client hides nothing")
        self.cba  # noqa: B018 - refuses what CBA does not know

    @property
    def least(self) -> int:
        """The least clients of a run."""
        return 2 if self.least_clients is None else self.least_clients

    @property
    def private(self) -> bool:
        """Whether all that leaves a client is differentially private; a client may add noise by itself."""
        return False

    @property
    def hides(self) -> bool:
        """Whether the server sees sums only."""
        return SUMS[self.sum].hides

    @property
    def cba(self) -> CbaSettings:
        """The settings of CBA."""
        from mahrem.learning.rules import CbaSettings

        return CbaSettings(
            support=self.support, confidence=self.confidence, longest=self.longest, cut=self.cut
        )

    def counted_by(self, wanted: int | None) -> int:
        """Give what a client's counts are multiples of, where its owner wants them to be of so many."""
        return max(self.least_count, wanted or 1)

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into a file; what is None is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_dict(cls, given: Mapping[str, object]) -> RulesPlan:
        """Read what :meth:`as_dict` gave, or the table of a plan file.

        Raises:
            InvalidParameter: If a key is none of the plan's.
        """
        return cls(**read_settings(settings_of(RulesPlan), given))
