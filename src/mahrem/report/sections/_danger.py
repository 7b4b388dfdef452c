"""What could go wrong: risk, columns that single people out, attacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mahrem.report import _pictures
from mahrem.report._report import Report, ReportFinding, ReportRisk
from mahrem.report.sections import Figure, Section, SidesRow, UsualView, sides
from mahrem.words import NOTHING, Catalogue, Note

_SHARES = ("highest", "average", "share_at_risk", "unique_share", "marketer")
_PICTURED = _SHARES[:3]
_HIDDEN = ("share_at_risk", "unique_share")  # may be given as a bound only


def draw_risk(report: Report, words: Catalogue) -> UsualView | None:
    """Lay the figures of risk before and after side by side."""
    after, before = report.risk, report.risk.before or ReportRisk()
    keys = [key for key in _SHARES if getattr(after, key) is not None]
    if not keys:
        return None
    if after.journalist is None and "marketer" in keys:
        keys.remove("marketer")  # without a population it is the average again
    pairs = {
        words.say(f"risk.{key}", 0): (getattr(before, key), getattr(after, key))
        for key in _PICTURED
        if key in keys and getattr(before, key) is not None
    }
    rows = [
        SidesRow(
            name=words.say(f"risk.{key}", 0),
            meaning=words.say(f"risk.{key}", 1, threshold=after.threshold),
            before=_share(before, key, words),
            after=words.percent(getattr(after, key)),
        )
        for key in keys
    ]
    title, caption = words.say("picture.risk_title"), words.say("picture.risk_caption")
    figures = (Figure(title, _pictures.risk(pairs, words), caption, sides(words)),) if pairs else ()
    return UsualView(
        intro=words.say("risk.intro", columns=report.quasi),
        figures=figures,
        rows=(*rows, *_population(before, after, words)),
        notes=tuple(_risk_notes(report, before, words)),
    )


def _share(side: ReportRisk, key: str, words: Catalogue) -> str:
    """Write a share; one that was hidden as its upper bound."""
    share = getattr(side, key)
    if share is None and key in _HIDDEN and side.below is not None:
        return f"< {words.percent(side.below)}"
    return words.percent(share)


def _population(before: ReportRisk, after: ReportRisk, words: Catalogue) -> Iterator[SidesRow]:
    both = (before, after)
    figures = {}
    if after.journalist:
        figures["journalist"] = [words.percent((side.journalist or {}).get("highest")) for side in both]
    if after.population_uniques:
        shares = ((side.population_uniques or {}).get("share") for side in both)
        figures["population_share"] = [words.percent(share) for share in shares]
    if after.k_map is not None:
        figures["k_map"] = [words.number(side.k_map) for side in both]
    for key, (first, second) in figures.items():
        name, meaning = words.say(f"risk.{key}", 0), words.say(f"risk.{key}", 1)
        yield SidesRow(name=name, meaning=meaning, before=first, after=second)


def _risk_notes(report: Report, before: ReportRisk, words: Catalogue) -> Iterator[str]:
    if report.risk.population_uniques:
        yield words.say("risk.estimate", population=report.risk.population_uniques.get("population"))
    if before.below is not None:
        yield words.say("risk.hidden", floor=max(int(report.settings.get("k") or 1), 3))


def draw_singling(report: Report, words: Catalogue) -> UsualView | None:
    """Say which sets of columns leave people alone."""
    singling = report.risk.unique_columns
    if singling is None:
        return None
    notes = [words.say("singling.sampled", rows=singling.rows)] if singling.sampled else []
    if not singling.complete:
        notes.append(words.say("singling.cut"))
    rows = [
        (words.names(entry.columns), [(entry.share, words.percent(entry.share))]) for entry in singling.sets
    ]
    title = words.say("picture.singling_title")
    caption = words.say("picture.singling_caption")
    figures = (Figure(title, _pictures.shares(rows, title, words), caption),) if rows else ()
    intro = words.say("singling.intro" if rows else "singling.none", share=singling.share)
    return UsualView(intro=intro, figures=figures, notes=tuple(notes))


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


def draw_red_team(report: Report, words: Catalogue) -> RedTeamView | None:
    """Say what each attack found."""
    team = report.red_team
    if team is None or not team.findings:
        return None
    rows = [_red_team_row(finding, len(report.quasi), words) for finding in team.findings]
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
        figures=(Figure(title, _pictures.shares(bars, title, words), caption, key),) if bars else (),
        rows=tuple(rows),
        notes=(*notes, words.say("red_team.more")),
    )


def _height(finding: ReportFinding) -> float | None:
    return finding.below if finding.rate is None else finding.rate


def _red_team_row(finding: ReportFinding, columns: int, words: Catalogue) -> FindingRow:
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


SECTIONS = (
    Section(name="risk", place=70, draw=draw_risk, first=True),
    Section(name="singling", place=80, draw=draw_singling),
    Section(name="red_team", place=90, draw=draw_red_team, needs=("red_team",), part="red_team", first=True),
)
