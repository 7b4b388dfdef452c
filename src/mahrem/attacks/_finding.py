"""What an attack found: figures and a sentence, never a person and never a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from mahrem.attacks._interval import clopper_pearson
from mahrem.words import Note

_DOUBT = 1e-6  # how often chance alone may be taken for a find by those who tell of nothing else
_BY_PEOPLE = (
    "skipped.uncut",
    "skipped.range",
    "skipped.nobody",
)  # how people lie decides whether these are said
_OF_ONE = ("highest", "lowest", "smallest", "expected")  # details that one person can move


@dataclass(frozen=True, kw_only=True)
class Finding:
    """How often an attack succeeded, beside how often it would without the release."""

    attack: str
    rate: float | None  # successes over trials; None when the attack was not done
    baseline: float | None  # what the same attacker reaches without it
    interval: tuple[float, float] | None  # exact (Clopper and Pearson)
    successes: int
    trials: int
    meaning: str  # one plain sentence
    confidence: float = 0.95
    skipped: str | None = None  # why it was not done, a Note where catalogues have words for it
    unread: int = 0  # rows of the release with a cell nobody can read against the original
    details: Mapping[str, float | int | str] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """True when there was something to attack."""
        return self.skipped is None

    @property
    def alarming(self) -> bool:
        """True when the attack is better than its baseline beyond doubt."""
        return self.interval is not None and self.baseline is not None and self.interval[0] > self.baseline

    @property
    def excess(self) -> float:
        """By how much it is better than its baseline; 0 where that may be chance."""
        if self.rate is None or self.baseline is None or not self.alarming:
            return 0.0
        return self.rate - self.baseline

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        note = {"skipped_note": self.skipped.as_dict()} if isinstance(self.skipped, Note) else {}
        return {**asdict(self), **note, "details": dict(self.details), "alarming": self.alarming}


def counted_finding(
    attack: str,
    successes: int,
    trials: int,
    *,
    baseline: float,
    meaning: str,
    unread: int = 0,
    **details: float | str,
) -> Finding:
    """Make a finding of counts; the interval is worked out here."""
    if trials == 0:
        return not_done(attack, Note("skipped.nobody"), unread=unread)
    return Finding(
        attack=attack,
        rate=successes / trials,
        baseline=float(baseline),
        interval=clopper_pearson(int(successes), int(trials)),
        successes=int(successes),
        trials=int(trials),
        meaning=meaning,
        unread=unread,
        details=details,
    )


def not_done(attack: str, reason: str, *, unread: int = 0) -> Finding:
    """Say that an attack does not apply, and why."""
    return Finding(
        attack=attack,
        rate=None,
        baseline=None,
        interval=None,
        successes=0,
        trials=0,
        meaning="This attack was not tried.",
        skipped=reason,
        unread=unread,
    )


def of_crowd(finding: Finding, least: int) -> Finding:
    """Round what was found so that it is about crowds: multiples of ``least`` people, no extremes.

    Example:
        >>> found = counted_finding("order", 13, 20, baseline=0.1234, meaning="…", highest=0.5)
        >>> told = of_crowd(found, 5)
        >>> told.successes, told.rate, told.baseline, told.details
        (15, 0.75, 0.12, {})
    """
    if not finding.trials:
        return finding
    people = min(least * round(finding.successes / least), finding.trials)
    details = {
        name: round(value, 2) if isinstance(value, float) else value
        for name, value in finding.details.items()
        if name not in _OF_ONE
    }
    return replace(
        finding,
        successes=people,
        rate=people / finding.trials,
        baseline=None if finding.baseline is None else round(finding.baseline, 2),
        interval=clopper_pearson(people, finding.trials),
        details=details,
    )


def beyond_doubt(finding: Finding, least: int) -> Finding:
    """Tell of a find that chance cannot explain, rounded; of another one only that it was none.

    How often an attack is right that looks at how people lie in their cells tells how they lie.
    """
    vain = not_done(finding.attack, Note("skipped.chance"), unread=finding.unread)
    if finding.baseline is None or not finding.trials:
        code = finding.skipped.code if isinstance(finding.skipped, Note) else ""
        return vain if code in _BY_PEOPLE else finding
    low, _ = clopper_pearson(finding.successes, finding.trials, confidence=1.0 - _DOUBT)
    return of_crowd(finding, least) if low > finding.baseline else vain
