"""What is left for learning: accuracy over k, one line per method, beside that of the untouched table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mahrem.report._advice import Line, lines_of
from mahrem.report._axes import Tick
from mahrem.report._chart import standing_alone
from mahrem.report._frontier import HEIGHT, Upwards, over_k
from mahrem.report._scales import Scale, ticks
from mahrem.words import Catalogue, Note, load_catalogue


def accuracy_svg(comparison: Mapping[str, object], language: str = "en") -> str:
    """Draw accuracy over k, one line per method, as an SVG file that stands alone.

    Args:
        comparison: The content of ``comparison.json``, of a comparison with a target.
        language: One of :data:`LANGUAGES`.
    """
    drawn = accuracy_picture(comparison, load_catalogue(language))
    return standing_alone(drawn or "<svg></svg>")


def accuracy_picture(comparison: Mapping[str, Any], words: Catalogue) -> str:
    """Draw the classifier that is best on the untouched table; empty without figures."""
    name = best_classifier(comparison)
    lines = _lines(comparison, name)
    if not lines:
        return ""
    whole = comparison["original"][f"accuracy_{name}"]
    reached = [whole, *(value for line in lines for value in line.loss.values())]
    room = 0.06 * (max(reached) - min(reached)) or 0.01
    scale = Scale(min(reached) - room, max(reached) + room, HEIGHT, 0)
    marks = [Tick(scale(share), words.percent(share)) for share in ticks(scale.low, scale.high, 6)]
    up = Upwards(words.say("comparison.accuracy_of", classifier=_plain(name)), scale, marks)
    best = max(lines, key=lambda line: sum(line.loss.values()) / len(line.loss)).name
    title = Note("comparison.accuracy_picture", {"best": best})
    return over_k(lines, best, up, title, words, (whole, words["comparison"]["untouched_table"]))


def best_classifier(comparison: Mapping[str, Any]) -> str:
    """Name the classifier with the highest accuracy on the untouched table."""
    names: Sequence[str] = comparison["classifiers"]
    return max(names, key=lambda name: float(comparison["original"][f"accuracy_{name}"]))


def accuracy_table(comparison: Mapping[str, Any], words: Catalogue) -> list[tuple[str, list[str]]]:
    """Give for each classifier and method the accuracy at each k, the untouched table first."""
    ks = sorted({row["k"] for row in comparison["results"]})
    table = []
    for name in comparison["classifiers"]:
        whole = comparison["original"][f"accuracy_{name}"]
        table.append(
            (f"{_plain(name)}: {words['comparison']['untouched']}", [words.percent(whole) for _ in ks])
        )
        for line in _lines(comparison, name):
            reached = [words.percent(line.loss[k]) if k in line.loss else "" for k in ks]
            table.append((f"{_plain(name)}: {line.name}", reached))
    return table


def correlation_sentences(comparison: Mapping[str, Any]) -> list[Note]:
    """Say how accuracy goes with each loss over the runs; nothing below three runs.

    Example:
        >>> both = {"pearson": -0.9, "spearman": -1.0, "points": 6}
        >>> print(*correlation_sentences({"correlations": {"knn": {"gcp": both}}}))
        knn: accuracy against detail given up (GCP): Spearman -1, Pearson -0.9, 6 runs.
    """
    return [
        Note(
            "comparison.correlation",
            {
                "classifier": _plain(name),
                "loss": Note(f"comparison.loss.{loss}"),
                "spearman": both["spearman"],
                "pearson": both["pearson"],
                "runs": both["points"],
            },
        )
        for name, by_loss in comparison["correlations"].items()
        for loss, both in by_loss.items()
    ]


def _lines(comparison: Mapping[str, Any], classifier: str) -> list[Line]:
    key = f"accuracy_{classifier}"
    return lines_of([{**row, "gcp": row[key]} for row in comparison["results"] if row.get(key) is not None])


def _plain(name: str) -> str:
    return name.replace("_", " ")
