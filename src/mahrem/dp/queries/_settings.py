"""Everything a person says beside a question, each setting said once."""

from __future__ import annotations

from dataclasses import dataclass

from mahrem import check
from mahrem.dp._ledger_settings import check_budget
from mahrem.errors import InvalidParameter
from mahrem.settings import number, setting, text

NOISES = ("laplace", "gaussian")


@dataclass(frozen=True, kw_only=True)
class QuerySettings:
    """What an answer may cost, and how it is given.

    ``epsilon`` is what the answer may cost, and no setting: who asks must name it.
    """

    epsilon: float
    delta: float = setting(0.0, read=number.within(0, 1), group="answer", metavar="X")
    mechanism: str | None = setting(read=text, group="answer", metavar="NAME", choices=lambda: NOISES)
    confidence: float = setting(0.95, read=number.within(0, 1), group="answer", metavar="0..1")

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta)
        if not 0 < check.finite(confidence=self.confidence) < 1:
            raise InvalidParameter(f"confidence={self.confidence!r} must lie between 0 and 1, both outside")
