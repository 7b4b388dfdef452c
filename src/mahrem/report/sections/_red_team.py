"""What attackers could still do."""

from __future__ import annotations

from dataclasses import dataclass

from mahrem.report import _beside
from mahrem.report._report import Report, ReportFinding
from mahrem.report._section import Figure, Section
from mahrem.words import NOTHING, Catalogue, Note

__all__ = ["SECTION"]


@dataclass(frozen=True, kw_only=True)
class FindingRow:
    """One attack in words."""

    name: str
    meaning: str
    verdict: str
    tone: str
    rate: str = NOTHING
    baseline: str = NOTHING
    interval: str = ""


@dataclass(frozen=True, kw_only=True)
class RedTeamView:
    """All attacks."""

    intro: str
    figures: tuple[Figure, ...]
    rows: tuple[FindingRow, ...]
    notes: tuple[str, ...]


def draw(report: Report, words: Catalogue) -> RedTeamView | None:
    """Say what each attack found."""
    team = report.red_team
    if team is None or not team.findings:
        return None
    rows = [_row(finding, len(report.quasi), words) for finding in team.findings]
    bars = [
        (row.name, [(finding.baseline, row.baseline), (_height(finding), row.rate)])
        for row, finding in zip(rows, team.findings, strict=True)
        if finding.skipped is None
    ]
    title, caption = words.say("picture.red_team_title"), words.say("picture.red_team_caption")
    key = words.say("red_team.baseline"), words.say("red_team.rate")
    notes = [words.say("red_team.confidence", confidence=team.findings[0].confidence)]
    if team.sampled:
        notes.append(words.say("red_team.sampled", rows=team.rows))
    return RedTeamView(
        intro=words.say("red_team.intro"),
        figures=(Figure(title, _beside.shares(bars, title, words), caption, key),) if bars else (),
        rows=tuple(rows),
        notes=(*notes, words.say("red_team.more")),
    )


def _height(finding: ReportFinding) -> float | None:
    return finding.below if finding.rate is None else finding.rate


def _row(finding: ReportFinding, columns: int, words: Catalogue) -> FindingRow:
    name, meaning = _named(finding, columns, words)
    if finding.skipped is not None:
        verdict = words.say("red_team.skipped")
        reason = words.tell(Note.read(finding.skipped_note, finding.skipped))
        return FindingRow(name=name, meaning=f"{verdict}: {reason}", verdict=verdict, tone="quiet")
    tone = _tone(finding)
    return FindingRow(
        name=name,
        meaning=meaning,
        rate=words.percent(finding.rate) if finding.rate is not None else f"< {words.percent(finding.below)}",
        baseline=words.percent(finding.baseline),
        verdict=words.say(f"red_team.{tone}"),
        tone="look" if tone == "alarming" else "kept",
        interval=_interval(finding, words),
    )


def _named(finding: ReportFinding, columns: int, words: Catalogue) -> tuple[str, str]:
    details = finding.details
    noisy = finding.attack == "linkage" and details.get("noise")
    key = "linkage-noisy" if noisy else finding.attack
    if key not in words["attack"]:
        return finding.attack, finding.meaning
    values = {name: details.get(name) for name in ("known", "promised")}
    values |= {"columns": columns, "column": details.get("column", "")}
    name = words.say(f"attack.{key}", 0, **values).rstrip(": ")
    return name, words.say(f"attack.{key}", 1, **values)


def _tone(finding: ReportFinding) -> str:
    """Judge linkage by what was promised, everything else by what is possible without the release."""
    promised = finding.details.get("promised")
    if promised is not None:
        low = finding.interval[0] if finding.interval else 0.0
        return "promised" if low <= promised else "alarming"
    return "alarming" if finding.alarming else "calm"


def _interval(finding: ReportFinding, words: Catalogue) -> str:
    if not finding.interval:
        return ""
    low, high = finding.interval
    return words.say("red_team.interval", low=low, high=high)


SECTION = Section(name="red_team", place=90, draw=draw, needs=("red_team",), part="red_team", first=True)
