"""Risk of re-identification, before and after."""

from __future__ import annotations

from collections.abc import Iterator

from mahrem.report import _pictures
from mahrem.report._report import Report, ReportRisk
from mahrem.report._section import Figure, Section, SidesRow, UsualView, sides
from mahrem.words import Catalogue

__all__ = ["SECTION"]

_SHARES = ("highest", "average", "share_at_risk", "unique_share", "marketer")
_PICTURED = _SHARES[:3]
_HIDDEN = ("share_at_risk", "unique_share")  # may be given as a bound only


def draw(report: Report, words: Catalogue) -> UsualView | None:
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
        notes=tuple(_notes(report, before, words)),
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


def _notes(report: Report, before: ReportRisk, words: Catalogue) -> Iterator[str]:
    if report.risk.population_uniques:
        yield words.say("risk.estimate", population=report.risk.population_uniques.get("population"))
    if before.below is not None:
        yield words.say("risk.hidden", floor=max(int(report.settings.get("k") or 1), 3))


SECTION = Section(name="risk", place=70, draw=draw, first=True)
