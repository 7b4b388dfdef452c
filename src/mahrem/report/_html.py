"""The report as one page: plain words first, then tables and pictures; nothing is loaded, nothing runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mahrem.report._report import Report, ReportFinding
from mahrem.report.sections import ValueRow, list_sections, write_value
from mahrem.words import Catalogue, load_catalogue

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_SAID = ("recipient", "purpose", "rationale")  # what a first page tells, missing or not


@dataclass(frozen=True, kw_only=True)
class VerdictView:
    """What stands first: whether the promise holds, for whom, and what was checked."""

    holds: bool
    headline: str
    lead: str
    buts: tuple[str, ...]
    facts: tuple[str, ...]


def render_html(report: Report, language: str = "en") -> str:
    """Draw a report as a self-contained page.

    Args:
        report: What is said about a release; sections whose facts are not there are left out.
        language: One of :data:`LANGUAGES`.

    Guarantees:
        - The page holds no script and no address, and loads nothing.
        - Every text of the report is escaped.
    """
    words = load_catalogue(language)
    views = [(section, section.view(report, words)) for section in list_sections()]
    return load_template("report").render(
        t=words,
        report=report,
        verdict=draw_verdict(report, words),
        warnings=[words.tell(text) for text in report.caveats],
        front=draw_front(report, words),
        sections=[
            (section.name, section.part, section.heading(report, words), view)
            for section, view in views
            if view is not None
        ],
    )


def summary_parts(report: Report, language: str = "en", only: Collection[str] = ()) -> dict[str, Any]:
    """Give what a report says first, in words and pictures of one language, for any page that shows it.

    Args:
        report: What is said about a release, or about an audited file.
        language: One of :data:`LANGUAGES`.
        only: Names of sections; those for any page where none is named.

    Returns:
        The verdict, the warnings, and by name what these sections show.
    """
    words = load_catalogue(language)
    views = {
        section.name: section.view(report, words)
        for section in list_sections()
        if (section.name in only if only else section.first)
    }
    return {
        "verdict": asdict(draw_verdict(report, words)),
        "warnings": [words.tell(text) for text in report.caveats],
        **{name: None if view is None else asdict(view) for name, view in views.items()},
    }


def draw_verdict(report: Report, words: Catalogue) -> VerdictView:
    """Say whether the promise holds, for whom, and what was checked."""
    promises = report.promises
    holds = report.holds and bool(promises)  # a file nobody asked anything of is not a safe one
    sentences = [words.say("synthetic.lead")] if report.synthesis else []
    crowd = next((promise for promise in promises if promise.model == "k-anonymity"), None)
    if crowd is not None and isinstance(crowd.reached, int | float) and report.quasi:
        unit = words.say("word.people" if report.settings.get("subject") else "word.rows")
        code = "verdict.shared" if crowd.reached >= 2 else "verdict.alone"
        sentences.insert(0, words.say(code, columns=report.quasi, k=crowd.reached, unit=unit))
    if len(promises) > 1:
        kept = sum(promise.holds for promise in promises)
        sentences.append(words.say("verdict.several", kept=kept, all=len(promises)))
    # Of a table that was only looked at nobody knows what it was made from.
    facts = (
        [words.say("verdict.audited" if report.rows_in is None else "verdict.verified")] if promises else []
    )
    if report.rows is not None and report.rows_in is not None:
        facts.append(words.say("verdict.rows", rows=report.rows, rows_in=report.rows_in))
    if report.missing is not None and report.dropped is None:
        facts.append(words.say("verdict.few_dropped", below=report.missing.below))
    elif report.dropped:
        facts.append(words.say("verdict.dropped", dropped=report.dropped))
    kept_or_broken = "verdict.broken" if not holds else "verdict.but" if report.buts else "verdict.kept"
    return VerdictView(
        holds=holds,
        headline=words.say(kept_or_broken if promises else "verdict.nothing"),
        lead=" ".join(sentences),
        buts=tuple(words.tell(doubt) for doubt in report.buts),
        facts=tuple(facts),
    )


@dataclass(frozen=True, kw_only=True)
class FrontView:
    """What stands on the first page below the verdict.

    Attributes:
        figures: Five figures at most.
        asked: What was promised, and how far it is reached.
        statements: Who it is for, what for, why the promises are enough.
        accepted: Columns published as they are though something spoke against it, and why.
        provenance: When, by which version, and the fingerprint of the published file.
        reviewer: Who looked at it, if somebody was named.
        signed: Whether there is something to sign: an audit publishes nothing.
    """

    figures: tuple[ValueRow, ...]
    asked: tuple[ValueRow, ...]
    statements: tuple[ValueRow, ...]
    accepted: tuple[ValueRow, ...]
    provenance: tuple[ValueRow, ...]
    reviewer: str
    signed: bool


def draw_front(report: Report, words: Catalogue) -> FrontView:
    """Lay out the first page; what nobody said is said to be missing where a reader has to know it."""
    settings, released = report.settings, report.rows_in is not None or report.fingerprint is not None
    nobody = words.say("front.unsaid")
    return FrontView(
        figures=tuple(
            ValueRow(name=words.say(f"front.figure.{key}", 0), value=value, meaning=meaning)
            for key, value, meaning in _figures(report, words)
        )[:5],
        asked=tuple(
            ValueRow(
                name=f"{promise.model} ({promise.column})" if promise.column else promise.model,
                value=words.say(
                    "front.reached",
                    wanted=write_value(promise.wanted, words),
                    reached=write_value(promise.reached, words),
                ),
            )
            for promise in report.promises
        ),
        statements=tuple(
            ValueRow(name=words.say(f"front.{key}"), value=str(settings.get(key) or nobody))
            for key in _SAID
            if released
        ),
        accepted=tuple(
            ValueRow(name=words.say("front.every") if name == "*" else str(name), value=str(reason))
            for name, reason in settings.get("accept", {}).items()
        ),
        provenance=tuple(
            ValueRow(name=words.say(f"front.{key}"), value=value)
            for key, value in _provenance(report)
            if value
        ),
        reviewer=str(settings.get("reviewer") or ""),
        signed=released,
    )


def _figures(report: Report, words: Catalogue) -> Iterator[tuple[str, str, str]]:
    def meaning(key: str) -> str:
        return words.say(f"front.figure.{key}", 1)

    if report.rows is not None:
        yield "rows", words.number(report.rows), meaning("rows")
    if report.risk.highest is not None:
        yield "highest", words.percent(report.risk.highest), meaning("highest")
    if report.risk.average is not None:
        yield "average", words.percent(report.risk.average), meaning("average")
    loss = report.utility.get("gcp")
    if loss is not None:
        yield "loss", words.percent(loss), meaning("loss")
    worst = _worst(report)
    if worst is not None and worst.rate is not None:
        guessed = words.say("front.figure.attack", 1, baseline=worst.baseline or 0.0)
        yield "attack", words.percent(worst.rate), guessed
    if report.risk.share_at_risk is not None:
        yield "at_risk", words.percent(report.risk.share_at_risk), meaning("at_risk")


def _worst(report: Report) -> ReportFinding | None:
    """Give the attack that found most people by what is known of them."""
    findings = () if report.red_team is None else report.red_team.findings
    rated = [one for one in findings if one.attack == "linkage" and one.rate is not None]
    return max(rated, key=lambda one: float(one.rate or 0.0), default=None)


def _provenance(report: Report) -> Iterator[tuple[str, str | None]]:
    yield "source", report.source
    yield "source_fingerprint", report.source_fingerprint
    yield "created", report.created
    yield "version", None if report.mahrem is None else f"mahrem {report.mahrem}"
    yield "fingerprint", report.fingerprint


@cache
def load_template(name: str) -> Template:
    """Load a template; all text is escaped, and a name it does not get is an error."""
    return _environment().get_template(f"{name}.html.jinja")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(str(files("mahrem.report").joinpath("templates"))),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
