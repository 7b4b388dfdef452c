"""What was promised, what was done, what that does not mean: sections of words and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mahrem.models import MODELS
from mahrem.report._chart import shorten
from mahrem.report._report import Report, ReportColumn, ReportPromise
from mahrem.report.sections import FactsView, Section, ValueRow, write_value
from mahrem.words import Catalogue, Note, explain_entry

_CELL = 30  # so wide, in letters, an example of a cell may be


@dataclass(frozen=True, kw_only=True)
class PromiseRow:
    """One promise in words."""

    model: str
    about: str
    meaning: str
    wanted: str
    reached: str
    holds: bool
    violations: str


@dataclass(frozen=True)
class PromiseView:
    """All promises."""

    intro: str
    rows: tuple[PromiseRow, ...]


def draw_promise(report: Report, words: Catalogue) -> PromiseView:
    """Say what each promise means and how far it is kept."""
    intro = words.say("synthetic.promise" if report.synthesis else "promise.intro")
    return PromiseView(intro, tuple(_promise_row(promise, words) for promise in report.promises))


def _meaning(model: str, words: Catalogue) -> str:
    """Say what a promise means: by the catalogue, or by the entry of a model of others."""
    sentence: str = words["model"].get(model, "")
    return sentence or (explain_entry(words, "model", MODELS[model])[1] if model in MODELS else "")


def _promise_row(promise: ReportPromise, words: Catalogue) -> PromiseRow:
    broken = {"classes": promise.violating_classes, "rows": promise.violating_rows}
    return PromiseRow(
        model=promise.model,
        about=words.say("word.about", column=promise.column) if promise.column else "",
        meaning=_meaning(promise.model, words),
        wanted=write_value(promise.wanted, words),
        reached=write_value(promise.reached, words),
        holds=promise.holds,
        violations="" if promise.holds else words.say("promise.violations", **broken),
    )


@dataclass(frozen=True, kw_only=True)
class ColumnRow:
    """One column in words."""

    name: str
    role: str
    why: str
    done: str
    cells: str
    examples: tuple[str, ...]
    loss: str


@dataclass(frozen=True)
class ColumnsView:
    """All columns."""

    rows: tuple[ColumnRow, ...]


def draw_columns(report: Report, words: Catalogue) -> ColumnsView | None:
    """Say of each column what it is and what became of it."""
    removed, kept = (
        {
            name: ReportColumn(role=role)
            for name in report.settings.get(role, ())
            if name not in report.columns
        }
        for role in ("identifier", "insensitive")
    )
    columns = {**removed, **report.columns, **kept}
    return (
        ColumnsView(tuple(_columns_row(*column, report, words) for column in columns.items()))
        if columns
        else None
    )


def _columns_row(name: str, column: ReportColumn, report: Report, words: Catalogue) -> ColumnRow:
    role = column.role or ""
    return ColumnRow(
        name=name,
        role=words["role"].get(role, role),
        why=_why(name, role, report, words),
        done=_done(name, column, report, words),
        cells=_cells(column, report.rows, words),
        examples=tuple(shorten(" ".join(cell.split()), _CELL, 1) for cell in column.examples or ()),
        loss=words.percent(column.gcp) if column.gcp is not None else "",
    )


def _why(name: str, role: str, report: Report, words: Catalogue) -> str:
    """Say why a column has its role; nothing is called declared that nobody declared."""
    accepted = report.settings.get("accept", {})
    reason = accepted.get(name, accepted.get("*") if role == "insensitive" else None)
    if reason is not None:
        return words.say("why.accepted", reason=reason)
    unasked = role == "insensitive" and name not in report.settings.get("insensitive", ())
    return str(words["why"].get("undeclared" if unasked else role, ""))


def _done(name: str, column: ReportColumn, report: Report, words: Catalogue) -> str:
    usual = {"identifier": "removed", "quasi": "generalised"}.get(column.role or "", "untouched")
    done = column.recoding or usual
    if name in report.settings.get("pseudonym", ()):
        done = "pseudonym"
    elif done == "intervals" and column.kind == "date":
        done = "dates"
    if column.generalised_cells == 0 and column.suppressed_cells == 0:
        done = "untouched"
    return str(words["done"].get(done, done))


def _cells(column: ReportColumn, rows: int | None, words: Catalogue) -> str:
    generalised, suppressed = column.generalised_cells, column.suppressed_cells
    if not rows or generalised is None or suppressed is None or not (generalised or suppressed):
        return ""
    return words.say("done.cells", generalised=generalised / rows, suppressed=suppressed / rows)


@dataclass(frozen=True)
class LimitsView:
    """Points to read before one relies on the table."""

    intro: str
    points: tuple[str, ...]


def draw_limits(report: Report, words: Catalogue) -> LimitsView:
    """List the limits."""
    if report.synthesis:
        return LimitsView(words.say("synthetic.limits_intro"), tuple(words.find("synthetic.limits")))
    return LimitsView(words.say("limits.intro"), tuple(words.find("limits.items")))


def draw_made(report: Report, words: Catalogue) -> FactsView | None:
    """List method and time."""
    rows = [ValueRow(name=words.say(f"made.{key}"), value=value) for key, value in _made_facts(report, words)]
    return FactsView(rows=tuple(rows)) if rows else None


def draw_appendix(report: Report, words: Catalogue) -> FactsView:
    """List settings and figures by their own names: what a policy file and ``report.json`` say."""
    figures = {f"utility.{name}": value for name, value in report.utility.items()}
    rows = tuple(
        ValueRow(name=name, value=write_value(value, words))
        for name, value in {**report.settings, **figures}.items()
    )
    return FactsView(intro=words.say("made.appendix"), rows=rows)


def _made_facts(report: Report, words: Catalogue) -> Iterator[tuple[str, str]]:
    reason = words.tell(Note.read(report.method_note, report.method_reason or ""))
    facts = {
        "source": report.source,
        "method": ": ".join(text for text in (report.method, reason) if text),
        "created": report.created,
        "version": report.mahrem,
    }
    yield from ((key, text) for key, text in facts.items() if text)
    missing = report.missing
    if missing is not None and missing.policy:
        policy = words["missing"].get(missing.policy, missing.policy)
        few = words.say("missing.fewer", below=missing.below)
        dropped, suppressed = (few if n is None else n for n in (missing.dropped, missing.suppressed))
        counts = words.say("missing.counts", dropped=dropped, suppressed=suppressed)
        yield "missing", f"{policy}; {counts}"
    if report.seconds is not None:
        yield "seconds", words.say("word.seconds", number=report.seconds)


SECTIONS = (
    Section(name="promise", place=10, draw=draw_promise, needs=("promises",), part="promise", first=True),
    Section(name="columns", place=20, draw=draw_columns, part="columns"),
    Section(name="limits", place=120, draw=draw_limits, part="limits"),
    Section(name="made", place=130, draw=draw_made, part="facts"),
    Section(name="appendix", place=140, draw=draw_appendix, needs=("settings",), part="appendix"),
)
