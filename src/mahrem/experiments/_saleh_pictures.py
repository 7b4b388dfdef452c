"""Saleh: loss over k, entropy of the columns, and accuracy of the classifiers as pictures."""

from __future__ import annotations

from collections.abc import Sequence

from mahrem.experiments._row import FlatRow
from mahrem.report import grouped_svg, lines_svg

_BEST = "optimized-k"
_PRINTED, _GROUPS, _INTERVALS = "printed", "learnt groups", "intervals and sets (ours)"


def saleh_pictures(rows: Sequence[FlatRow]) -> dict[str, str]:
    """Draw what the rows allow; each row is flat, its settings beside its figures."""
    drawn: dict[str, str] = {}
    curves = [row for row in rows if row["table"] == "curves" and row["metric"] == "loss_percent"]
    if curves:
        drawn["loss-over-k.svg"] = lines_svg(
            sorted(curves, key=lambda row: row["method"] == _BEST),  # drawn last, it lies on top
            across="k",
            title="Entropy loss over k, cells spread over the values they cover",
            names=("k", "entropy loss in %"),
            best=_BEST,
        )
    bars = [row for row in rows if row["metric"] == "u"]
    if bars:
        drawn["entropy.svg"] = grouped_svg(
            [bar for row in bars for bar in _beside(row, _panel(row), row["column"], original="as it is")],
            title="What each column of Mammographic says about severity, as printed and here",
            amount="Theil's U, every cell a category",
        )
    judged = [
        row for row in rows if "classifier" in row and row["metric"] == "accuracy" and row["ours"] is not None
    ]
    if judged:
        drawn["accuracy.svg"] = grouped_svg(
            [bar for row in judged for bar in _beside(row, _panel(row), _plain(row["classifier"]))],
            title="Accuracy of the classifiers as printed and here; ours is tested on untouched rows",
            amount="accuracy",
            domain=(0.0, 1.0),
        )
    silos = [row for row in rows if row["table"] == "silos" and row["metric"] in {"accuracy", "f1"}]
    if silos:
        drawn["silos.svg"] = grouped_svg(
            [
                {"panel": row["metric"], "name": where, "series": what, "value": row["ours"]}
                for row in silos
                for where, what in [str(row["method"]).split(", ")]
            ],
            title="One network on all rows together and over three silos, on untouched test rows",
            amount="share",
            domain=(0.0, 1.0),
        )
    return drawn


def _panel(row: FlatRow) -> str:
    model = str(row["method"]).removesuffix(" (ours)")
    return f"{row['dataset']}, {'original' if model == 'none' else model}"


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _beside(row: FlatRow, panel: str, name: str, *, original: str = "untouched") -> list[FlatRow]:
    """Give the printed figure and ours as two bars; ours alone where the print was drawn already."""
    method = str(row["method"])
    whose = _INTERVALS if method.endswith("(ours)") else _GROUPS
    series = original if method in {"none", "original"} else whose
    bars: list[FlatRow] = [{"panel": panel, "name": name, "series": series, "value": row["ours"]}]
    if whose == _GROUPS and row["published"] is not None:
        bars.insert(0, {"panel": panel, "name": name, "series": _PRINTED, "value": row["published"]})
    return bars
