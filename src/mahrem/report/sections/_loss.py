"""How much was lost and what is left: utility, distributions, correlations, learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from mahrem.metrics import METRICS, Metric
from mahrem.report import _pictures
from mahrem.report._report import Report, ReportLearning
from mahrem.report.sections import Figure, Section, SidesRow, UsualView, ValueRow, sides
from mahrem.words import Catalogue, explain_entry

PICTURES = 24  # a picture with more columns is not read


@dataclass(frozen=True, kw_only=True)
class UtilityView:
    """Pictures and figures."""

    intro: str
    figures: tuple[Figure, ...]
    rows: tuple[ValueRow, ...]


def draw_utility(report: Report, words: Catalogue) -> UtilityView | None:
    """Say how dearly safety was paid for."""
    rows = tuple(
        _figure_row(metric, report.utility[name], words)
        for name, metric in METRICS.items()
        if report.utility.get(name) is not None
    )
    figures = tuple(
        Figure(words.say(f"picture.{key}_title"), svg, words.say(f"picture.{key}_caption"))
        for key, svg in _pictured(report, words)
    )
    if not (rows or figures):
        return None
    return UtilityView(intro=words.say("utility.intro"), figures=figures, rows=rows)


def _figure_row(metric: Metric, value: float | None, words: Catalogue) -> ValueRow:
    name, meaning = explain_entry(words, "utility", metric)
    return ValueRow(name=name, key=metric.name, value=words.number(value), meaning=meaning)


def _pictured(report: Report, words: Catalogue) -> Iterator[tuple[str, str]]:
    if report.class_sizes:
        yield "sizes", _pictures.class_sizes(report.class_sizes, words)
    losses = {
        name: column.gcp
        for name, column in report.columns.items()
        if column.role == "quasi" and column.gcp is not None
    }
    if losses:
        largest = sorted(losses.items(), key=lambda item: -item[1])[:PICTURES]
        yield "loss", _pictures.loss_per_column(dict(largest), words)


PICTURES = 24  # a page with more is not read


def draw_pictures(report: Report, words: Catalogue) -> UsualView | None:
    """Lay each column's distribution in the release over that in the source."""
    known = {name: column.distribution for name, column in report.columns.items() if column.distribution}
    if not known:
        return None
    shown = dict(list(known.items())[:PICTURES])
    figures = []
    for name, counts in shown.items():
        unknown = counts.get("unknown", (0, 0))
        note = words.say("picture.unknown_note", before=unknown[0], after=unknown[1]) if any(unknown) else ""
        caption = words.say("picture.column_short", column=name)
        figures.append(Figure(name, _pictures.before_and_after(name, counts, words), caption, note=note))
    floors = [counts["floor"] for counts in shown.values() if counts.get("floor")]
    return UsualView(
        intro=words.say("picture.column_caption"),
        figures=tuple(figures),
        notes=(words.say("picture.hidden_note", floor=floors[-1]),) if floors else (),
    )


def draw_relations(report: Report, words: Catalogue) -> UsualView:
    """Lay correlations before and after side by side."""
    title = words.say("picture.relations_title")
    svg = _pictures.correlations(report.relations or (), title, words)
    figure = Figure(title, svg, words.say("picture.relations_caption"), sides(words))
    return UsualView(intro=words.say("relations.intro"), figures=(figure,))


_MODELS = {"gaussian_nb": "naive Bayes"}


def draw_learning(report: Report, words: Catalogue) -> UsualView | None:
    """Lay losses of information and scores of models before and after side by side."""
    learning = report.learning
    if learning is None:
        return None
    rows = [
        SidesRow(
            name=words.say(f"learning.{key}", 0),
            meaning=words.say(f"learning.{key}", 1),
            before="",
            after=words.number(getattr(learning, key)),
        )
        for key in ("entropy_loss", "entropy_loss_cells")
    ]
    bars = []
    for model, figures in learning.scores.items():
        name = _MODELS.get(model, model.replace("_", " "))
        for key, (before, after) in figures.items():
            write = words.percent if key == "accuracy" else partial(words.number, digits=2)
            both = [write(side) for side in (before, after)]
            rows.append(
                SidesRow(
                    name=words.say(f"learning.{key}", 0),
                    meaning=words.say(f"learning.{key}", 1, model=name),
                    before=both[0],
                    after=both[1],
                )
            )
            if key == "accuracy":
                bars.append((name, [(before, both[0]), (after, both[1])]))
    title = words.say("picture.learning_title")
    figure = (_pictures.shares(bars, title, words), words.say("picture.learning_caption")) if bars else None
    return UsualView(
        intro=words.say("learning.intro", target=learning.target),
        figures=(Figure(title, *figure, sides(words)),) if figure else (),
        rows=tuple(rows),
        notes=_learning_notes(learning, words),
    )


def _learning_notes(learning: ReportLearning, words: Catalogue) -> tuple[str, ...]:
    return (words.say("learning.sampled", rows=learning.rows),) if learning.sampled else ()


SECTIONS = (
    Section(name="utility", place=30, draw=draw_utility, part="utility", first=True),
    Section(name="pictures", place=40, draw=draw_pictures, needs=("columns",), part="pictures"),
    Section(name="relations", place=50, draw=draw_relations, needs=("relations",)),
    Section(name="learning", place=60, draw=draw_learning, needs=("learning",)),
)
