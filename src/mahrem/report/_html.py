"""The report as one page: plain words first, then tables and pictures; nothing is loaded, nothing runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mahrem.report._report import Report
from mahrem.report.sections import list_sections
from mahrem.words import Catalogue, load_catalogue

if TYPE_CHECKING:
    from jinja2 import Environment, Template


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
        verdict=_verdict(report, words),
        warnings=[words.tell(text) for text in report.caveats],
        sections=[
            (section.part, section.heading(report, words), view)
            for section, view in views
            if view is not None
        ],
    )


def summary_parts(report: Report, language: str = "en") -> dict[str, Any]:
    """Give what a report says first, in words and pictures of one language, for any page that shows it.

    Args:
        report: What is said about a release, or about an audited file.
        language: One of :data:`LANGUAGES`.

    Returns:
        The verdict, the warnings, and by name what every section shows that is for any page.
    """
    words = load_catalogue(language)
    views = {section.name: section.view(report, words) for section in list_sections() if section.first}
    return {
        "verdict": asdict(_verdict(report, words)),
        "warnings": [words.tell(text) for text in report.caveats],
        **{name: None if view is None else asdict(view) for name, view in views.items()},
    }


def _verdict(report: Report, words: Catalogue) -> VerdictView:
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
