"""The page about a synthetic table measured against the real one; private, and it says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mahrem.report._grouped import grouped_svg
from mahrem.report._html import load_template
from mahrem.words import Catalogue, load_catalogue


def quality_page(quality: Mapping[str, object], language: str = "en") -> str:
    """Draw the figures of a ``SyntheticQuality`` (:mod:`mahrem.learning.synthesis`) as one page.

    Args:
        quality: What its ``as_dict`` gives.
        language: One of :data:`LANGUAGES`.
    """
    words = load_catalogue(language)
    return load_template("quality").render(
        t=words,
        quality=quality,
        rows=list(_rows(quality, words)),
        learning=_learnt(quality, words),
        pictures=list(_pictures(quality, words)),
    )


def _rows(quality: Mapping[str, Any], words: Catalogue) -> Iterator[dict[str, str]]:
    for key in ("pairs", "association", "correlation"):
        name, meaning = words.find(f"quality.distance.{key}")
        for kind in ("mean", "max"):
            if f"synthetic_{kind}" in quality[key]:
                yield {
                    "name": f"{name}, {words.say(f'quality.{kind}')}",
                    "meaning": meaning,
                    "synthetic": words.number(quality[key][f"synthetic_{kind}"], 4),
                    "holdout": words.number(quality[key].get(f"holdout_{kind}"), 4),
                }
    for key in ("pmse", "auc"):
        name, meaning = words.find(f"quality.distance.{key}")
        yield {
            "name": name,
            "meaning": meaning,
            "synthetic": words.number(quality["propensity"]["synthetic"][key], 4),
            "holdout": words.number(quality["propensity"].get("holdout", {}).get(key), 4),
        }


def _learnt(quality: Mapping[str, Any], words: Catalogue) -> list[dict[str, str]]:
    return [
        {
            "name": name.replace("_", " "),
            **{
                key: words.number(figures.get(key), 4)
                for key in ("synthetic_accuracy", "real_accuracy", "synthetic_auc", "real_auc")
            },
        }
        for name, figures in quality["learning"].items()
    ]


def _pictures(quality: Mapping[str, Any], words: Catalogue) -> Iterator[tuple[str, str]]:
    sides, columns = words["quality"]["side"], words["quality"]["columns"]
    order = sorted(quality["one_way"], key=lambda name: -quality["one_way"][name]["synthetic"])[:30]
    rows = [
        {"panel": words["quality"]["one_column"], "name": name, "series": sides[side], "value": value}
        for name in order
        for side in ("holdout", "synthetic")  # what is real is grey
        if (value := quality["one_way"][name].get(side)) is not None
    ]
    yield columns, grouped_svg(rows, title=columns, amount=words["quality"]["variation"], words=words)
    rows = [
        {
            "panel": words["quality"]["trained_on"],
            "name": name.replace("_", " "),
            "series": sides[side],
            "value": figures[f"{side}_accuracy"],
        }
        for name, figures in quality["learning"].items()
        for side in ("real", "synthetic")
        if f"{side}_accuracy" in figures
    ]
    if rows:
        span = (max(0.0, min(float(row["value"]) for row in rows) - 0.1), 1.0)
        title = words["quality"]["answers"]
        yield (
            title,
            grouped_svg(rows, title=title, amount=words["quality"]["accuracy"], domain=span, words=words),
        )
