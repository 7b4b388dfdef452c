"""The frontier of a comparison: loss over k, loss against time, and which method to take, for a newcomer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mahrem.report._advice import Line, best_of, comparison_advice, lines_of, ranked, total
from mahrem.report._axes import Plot, Tick, written
from mahrem.report._chart import AFTER, INK, QUIET, Lettering, standing_alone
from mahrem.report._html import load_template
from mahrem.report._scales import Scale, finite, ratio_ticks, ticks
from mahrem.words import Catalogue, Note, load_catalogue

WIDTH, HEIGHT, LABEL_STEP = 360, 300, 15


class Upwards(NamedTuple):
    """The axis of what is drawn over k."""

    title: str
    scale: Scale
    ticks: Sequence[Tick]


def frontier_svg(rows: Sequence[Mapping[str, object]], language: str = "en") -> str:
    """Draw loss over k, one line per method, as an SVG file that stands alone.

    Args:
        rows: What :func:`mahrem.compare` found; rows without figures are left out.
        language: One of :data:`LANGUAGES`.
    """
    return standing_alone(_over_k(lines_of(rows), load_catalogue(language)))


def frontier_page(comparison: Mapping[str, Any], language: str = "en") -> str:
    """Draw a comparison as a self-contained page: what to take, two pictures, the figures.

    Args:
        comparison: The content of ``comparison.json``.
        language: One of :data:`LANGUAGES`.

    Guarantees:
        - The page holds no script and no address, and loads nothing.
        - Every text is escaped.
    """
    words, lines = load_catalogue(language), lines_of(comparison["results"])
    notes = comparison.get("left_out_notes", {})
    ks = sorted({k for line in lines for k in line.loss})
    middle = ks[len(ks) // 2] if ks else 0
    return load_template("comparison").render(
        t=words,
        comparison=comparison,
        advice=[words.tell(advice) for advice in comparison_advice(comparison)],
        left_out={
            name: words.tell(Note.read(notes.get(name), why)) for name, why in comparison["left_out"].items()
        },
        over_k=_over_k(lines, words) if lines else "",
        over_time=_over_time(lines, middle, words) if lines else "",
        middle=middle,
        learnt=_learnt(comparison, words) if comparison.get("target") else None,
        ks=ks,
        lines=[
            (
                line.name,
                [_share(line.loss.get(k), words) for k in ks],
                words.number(float(f"{total(line):.3g}")),
            )
            for line in ranked(lines)
        ],
        notes=[row for row in comparison["results"] if row.get("note")],
    )


def _learnt(comparison: Mapping[str, object], words: Catalogue) -> dict[str, object]:
    """Say what classifiers reach, for the page."""
    from mahrem.report._accuracy import accuracy_picture, accuracy_table, correlation_sentences

    return {
        "picture": accuracy_picture(comparison, words),
        "table": accuracy_table(comparison, words),
        "sentences": [words.tell(sentence) for sentence in correlation_sentences(comparison)],
    }


def _over_k(lines: Sequence[Line], words: Catalogue) -> str:
    best = best_of(lines).name if lines else ""
    up = _loss_axis([loss for line in lines for loss in line.loss.values()], words)
    return over_k(lines, best, up, Note("comparison.over_k_picture", {"best": best}), words)


def over_k(
    lines: Sequence[Line],
    best: str,
    up: Upwards,
    title: Note,
    words: Catalogue,
    level: tuple[float, str] | None = None,
) -> str:
    """Draw one line per method over k, names at their ends.

    Args:
        lines: One per method; what they call loss may be any figure.
        best: The one that stands out.
        up: The axis of the figures.
        title: What the picture shows, for those who cannot see it.
        words: The language.
        level: A figure that does not depend on k, and its name.
    """
    plot = Plot(WIDTH, HEIGHT)
    ks = sorted({k for line in lines for k in line.loss})
    across = Scale(min(ks, default=1), max(ks, default=1), 0, WIDTH, ratios=len(ks) > 2)
    plot.below(written(ks, across, words), title=words["comparison"]["k"], line=True)
    plot.beside(up.ticks, title=up.title, grid=True, line=True)
    if level:
        at = up.scale(level[0])
        plot.drawing.line([(0, at), (WIDTH, at)], INK, dashes="4 3")
        plot.drawing.text(4, at - 9, level[1], Lettering(size=12, colour=INK))
    colours = _colours(lines, best)
    for line in lines:
        points = [(across(k), up.scale(loss)) for k, loss in line.loss.items()]
        plot.drawing.line(points, colours[line.name], width=3 if line.name == best else 1)
        for x, y in points:
            plot.drawing.dot(x, y, 2.6, colours[line.name])
    ends = {line.name: (across(max(line.loss)), up.scale(line.loss[max(line.loss)])) for line in lines}
    for name, place in _spread([(name, y) for name, (_, y) in ends.items()]):
        x, y = ends[name]
        plot.drawing.line([(x + 4, y), (WIDTH + 20, place)], colours[name], width=0.6)
        plot.drawing.text(WIDTH + 24, place, name, Lettering(size=12, colour=colours[name]))
    return plot.drawing.svg(words.tell(title))


def _over_time(lines: Sequence[Line], k: int, words: Catalogue) -> str:
    plot = Plot(WIDTH, HEIGHT)
    there = [line for line in lines if k in line.loss]
    up = _loss_axis([line.loss[k] for line in there], words, close=True)
    # A clock that did not move has no place on a scale of ratios.
    seconds = {line.name: max(line.seconds[k], 1e-4) for line in there}
    powers = _powers(list(seconds.values()))
    across = Scale(powers[0], powers[-1], 0, WIDTH, ratios=True)
    plot.below(written(powers, across, words), title=words["comparison"]["seconds"], line=True)
    plot.beside(up.ticks, title=up.title, grid=True, line=True)
    colours = _colours(lines, best_of(lines).name)
    places = {line.name: up.scale(line.loss[k]) for line in there}
    for name, place in _spread(list(places.items())):
        x, y = across(seconds[name]), places[name]
        plot.drawing.dot(x, y, 4.4, colours[name])
        plot.drawing.text(x + 9, place, name, Lettering(size=12, colour=colours[name]))
    return plot.drawing.svg(words.say("comparison.over_time_picture", k=k))


def _share(share: float | None, words: Catalogue) -> str:
    """Write a loss with three figures, as many as anybody reads; nothing where no run was."""
    if share is None:
        return ""
    figures = words.number(float(f"{100 * share:.3g}"), 9)
    return str(words["format"]["percent"].format(number=figures))


def _loss_axis(losses: Sequence[float], words: Catalogue, *, close: bool = False) -> Upwards:
    """Give the axis of losses, one of ratios where that helps; ``close``: no empty room."""
    known = finite(losses) or [0.0]
    low, high = min(known), max(known)
    ratios = low > 0 and (close or high / low > 3)
    room = 1.06 if close else 1.15
    low, high = (low / room, high * room) if ratios else (0.0, high * 1.1 or 1.0)
    scale = Scale(low, high, HEIGHT, 0, ratios=ratios)
    values = ratio_ticks(low, high) if ratios else ticks(low, high, 6)
    marks = [Tick(scale(one), _share(one, words)) for one in values]
    return Upwards(words["comparison"]["loss"]["gcp"], scale, marks)


def _powers(amounts: Sequence[float]) -> list[float]:
    """Give the powers of ten that enclose some amounts."""
    low, high = math.floor(math.log10(min(amounts))), math.ceil(math.log10(max(amounts)))
    return [10.0**power for power in range(low, max(high, low + 1) + 1)]


def _spread(ends: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Move labels apart so that none covers another; gives the pixel at which each stands."""
    wanted = sorted((pixel, name) for name, pixel in ends if math.isfinite(pixel))
    step = min(LABEL_STEP, HEIGHT / max(len(wanted), 1))
    # Sum and number of labels that touch: they move together, around their mean.
    blocks: list[list[float]] = []
    for number, (pixel, _) in enumerate(wanted):
        blocks.append([pixel - number * step, 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    last = HEIGHT - (len(wanted) - 1) * step  # below it the labels after it would leave the picture
    ground = [min(max(total / count, 0.0), last) for total, count in blocks for _ in range(int(count))]
    return [
        (name, middle + number * step)
        for number, ((_, name), middle) in enumerate(zip(wanted, ground, strict=True))
    ]


def _colours(lines: Sequence[Line], best: str) -> dict[str, str]:
    """The one to take stands out, the quickest is dark, the others are quiet."""
    quick = min(lines, key=total).name if lines else ""
    return {line.name: AFTER if line.name == best else INK if line.name == quick else QUIET for line in lines}
