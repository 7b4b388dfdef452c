"""The page about a synthetic table measured against the real one; private, and it says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mahrem.report._grouped import grouped_svg
from mahrem.report._html import load_template

_SIDES = {"synthetic": "synthetic", "holdout": "real hold-out", "real": "real"}


def quality_page(quality: Mapping[str, Any]) -> str:
    """Draw the figures of a ``SyntheticQuality`` (:mod:`mahrem.learning.synthesis`) as one page.

    Args:
        quality: What its ``as_dict`` gives.
    """
    return load_template("quality").render(
        quality=quality,
        rows=list(_rows(quality)),
        learning=_learnt(quality),
        pictures=list(_pictures(quality)),
    )


def _rows(quality: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for key, name, meaning in (
        ("pairs", "distance of pairs of columns", "Total variation, from 0 (the same) to 1."),
        ("association", "change of Cramér's V over pairs", "How strongly columns go together, 0 to 1."),
        ("correlation", "change of Pearson correlations", "Of numbers."),
    ):
        for kind in ("mean", "max"):
            if f"synthetic_{kind}" in quality[key]:
                yield {
                    "name": f"{name}, {kind}",
                    "meaning": meaning,
                    "synthetic": f"{quality[key][f'synthetic_{kind}']:.4f}",
                    "holdout": _shown(quality[key].get(f"holdout_{kind}")),
                }
    for kind, name, meaning in (
        ("pmse", "propensity score (pMSE)", "0: a classifier cannot tell synthetic from real; 0.25: always."),
        ("auc", "area under the curve of that classifier", "0.5: cannot tell; 1: always."),
    ):
        yield {
            "name": name,
            "meaning": meaning,
            "synthetic": f"{quality['propensity']['synthetic'][kind]:.4f}",
            "holdout": _shown(quality["propensity"].get("holdout", {}).get(kind)),
        }


def _learnt(quality: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {
            "name": name.replace("_", " "),
            **{
                key: _shown(figures.get(key))
                for key in ("synthetic_accuracy", "real_accuracy", "synthetic_auc", "real_auc")
            },
        }
        for name, figures in quality["learning"].items()
    ]


def _shown(figure: float | None) -> str:
    return "\N{EN DASH}" if figure is None else f"{figure:.4f}"


def _pictures(quality: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    order = sorted(quality["one_way"], key=lambda name: -quality["one_way"][name]["synthetic"])[:30]
    rows = [
        {"panel": "one column at a time", "name": name, "series": _SIDES[side], "value": value}
        for name in order
        for side in ("holdout", "synthetic")  # what is real is grey
        if (value := quality["one_way"][name].get(side)) is not None
    ]
    title = "Distance of each column's distribution from the real table"
    yield title, grouped_svg(rows, title=title, amount="total variation")
    rows = [
        {
            "panel": "trained on",
            "name": name.replace("_", " "),
            "series": _SIDES[side],
            "value": figures[f"{side}_accuracy"],
        }
        for name, figures in quality["learning"].items()
        for side in ("real", "synthetic")
        if f"{side}_accuracy" in figures
    ]
    if rows:
        low = max(0.0, min(float(row["value"]) for row in rows) - 0.1)
        title = "Right answers about real rows"
        yield title, grouped_svg(rows, title=title, amount="accuracy", domain=(low, 1.0))
