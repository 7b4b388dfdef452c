"""What a model still learns from the release."""

from __future__ import annotations

from functools import partial

from mahrem.report import _beside
from mahrem.report._report import Report, ReportLearning
from mahrem.report._section import Figure, Section, SidesRow, UsualView, sides
from mahrem.words import Catalogue

__all__ = ["SECTION"]

_MODELS = {"gaussian_nb": "naive Bayes"}


def draw(report: Report, words: Catalogue) -> UsualView | None:
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
    figure = (_beside.shares(bars, title, words), words.say("picture.learning_caption")) if bars else None
    return UsualView(
        intro=words.say("learning.intro", target=learning.target),
        figures=(Figure(title, *figure, sides(words)),) if figure else (),
        rows=tuple(rows),
        notes=_notes(learning, words),
    )


def _notes(learning: ReportLearning, words: Catalogue) -> tuple[str, ...]:
    return (words.say("learning.sampled", rows=learning.rows),) if learning.sampled else ()


SECTION = Section(name="learning", place=60, draw=draw, needs=("learning",))
