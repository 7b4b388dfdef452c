"""All attacks that a target can be put to, one after the other, and what they found together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from mahrem.attacks._entries import ATTACKS, AttackEntry, AttackTarget, Telling
from mahrem.attacks._finding import Finding, beyond_doubt, not_done, of_crowd
from mahrem.notebooks import notebook_table

if TYPE_CHECKING:
    from altair.typing import ChartType

_TELLING: Mapping[Telling, Callable[[Finding, int], Finding]] = {
    "as found": lambda finding, _: finding,
    "of a crowd": of_crowd,
    "beyond doubt": beyond_doubt,
}


def disclosed_findings(findings: Iterable[Finding], least: int) -> tuple[Finding, ...]:
    """Give findings as they may be told, each in the way of its attack.

    Args:
        findings: What the attacks of this room found.
        least: How many people a figure must stand for.
    """
    return tuple(_TELLING[ATTACKS[finding.attack].telling](finding, least) for finding in findings)


def red_team(target: AttackTarget) -> tuple[Finding, ...]:
    """Try every attack that applies; those that do not say why.

    Args:
        target: A release, a model or synthetic rows, with what is known beside them.

    Example:
        >>> import polars as pl
        >>> from mahrem.attacks.on_releases import ReleaseTarget
        >>> from mahrem.matching import read_published
        >>> shown = pl.DataFrame({"age": ["[20, 30]"] * 3, "ill": ["flu"] * 3})
        >>> release = read_published(shown, quasi=["age"], sensitive=["ill"])
        >>> findings = red_team(ReleaseTarget(release=release))
        >>> [(finding.attack, finding.rate) for finding in findings if finding.done][0]
        ('homogeneity', 1.0)
    """
    entries = [entry for entry in ATTACKS.values() if entry.on == target.kind]
    return tuple(finding for entry in entries for finding in _try(entry, target))


def _try(entry: AttackEntry, target: AttackTarget) -> Iterable[Finding]:
    lacking = target.lacking(entry.needs)
    if lacking is None:
        return entry.load().against(target)
    need, reason = lacking
    return () if need in entry.unasked_without else (not_done(entry.name, reason),)


@dataclass(frozen=True, kw_only=True)
class RedTeam:
    """What the attacks found: figures and sentences, never a person and never a value."""

    report: Mapping[str, Any] = field(repr=False)
    findings: tuple[Finding, ...]

    def _repr_html_(self) -> str:
        alarming = sum(finding.alarming for finding in self.findings)
        rows = (
            (finding.attack, finding.rate, finding.baseline, finding.skipped or finding.meaning)
            for finding in self.findings
        )
        title = f"{len(self.findings)} attacks, {alarming} better than their baseline"
        return notebook_table(title, ("attack", "rate", "baseline", "meaning"), rows)

    def plot(self, *, language: str = "en") -> ChartType:
        """Draw how often each attack succeeded, beside chance, as a chart of Altair."""
        from mahrem.charts import as_chart, draw_attacks

        return as_chart(draw_attacks(self.report, language))

    @classmethod
    def of(
        cls,
        attacked: object,
        findings: Sequence[Finding],
        *,
        began: float,
        about: Mapping[str, Any],
        warnings: Sequence[str] = (),
    ) -> Self:
        """Put findings together with what is said about the target; nothing of it is opened for that.

        Args:
            attacked: What was given: its name or its type is told.
            findings: What was found.
            began: When, by ``time.perf_counter``.
            about: More lines for the report.
            warnings: What a reader should know.
        """
        report = {
            "source": Path(attacked).name if isinstance(attacked, str | Path) else type(attacked).__name__,
            **about,
            "findings": [finding.as_dict() for finding in findings],
            "alarming": sum(finding.alarming for finding in findings),
            "seconds": round(time.perf_counter() - began, 3),
            "warnings": list(warnings),
        }
        return cls(report=report, findings=tuple(findings))

    def worst(self) -> float:
        """Give by how much the most successful attack is better than its baseline; 0 when none is."""
        return max((finding.excess for finding in self.findings), default=0.0)
