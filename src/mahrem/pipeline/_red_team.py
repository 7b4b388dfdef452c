"""What attacks found, as one answer of a verb."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mahrem.attacks import Finding

__all__ = ["RedTeam", "excess", "open_label"]


@dataclass(frozen=True, kw_only=True)
class RedTeam:
    """What the attacks found: figures and sentences, never a person and never a value."""

    report: Mapping[str, Any] = field(repr=False)
    findings: tuple[Finding, ...]

    def worst(self) -> float:
        """Give by how much the most successful attack is better than its baseline; 0 when none is."""
        return max((excess(finding) for finding in self.findings), default=0.0)


def excess(finding: Finding) -> float:
    """Give by how much an attack is better than its baseline; 0 where that may be chance."""
    if finding.rate is None or finding.baseline is None or not finding.alarming:
        return 0.0
    return finding.rate - finding.baseline


def open_label(release: object) -> str:
    """Name what was attacked without opening it."""
    return Path(release).name if isinstance(release, str | Path) else type(release).__name__
