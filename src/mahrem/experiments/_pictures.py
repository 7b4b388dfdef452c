"""Canbay (2019) and Stoldt (2019) as pictures: losses over k, the histogram, the spread over runs."""

from __future__ import annotations

from collections.abc import Sequence

from mahrem.experiments._row import FlatRow
from mahrem.report import bars_svg, lines_svg


def canbay_pictures(rows: Sequence[FlatRow]) -> dict[str, str]:
    """Draw the loss over k; each row is flat, its settings beside its figures."""
    drawn: dict[str, str] = {}
    certainty = [
        row for row in rows if row["metric"] == "gcp_sum" and row["published"] and "round" not in row
    ]
    if certainty:
        drawn["gcp-over-k.svg"] = lines_svg(
            _printed_and_ours(certainty),
            across="k",
            title="Loss over k as printed, in the published setting, and in ours",
            names=("k", "gcp_sum"),
            best="u-mondrian (ours)",
        )
    return drawn


def stoldt_pictures(rows: Sequence[FlatRow]) -> dict[str, str]:
    """Draw what the rows allow; each row is flat, its settings beside its figures."""
    drawn: dict[str, str] = {}
    losses = [row for row in rows if row["table"] in {"over-k", "losses"} and row["ours"] is not None]
    if losses:
        drawn["over-k.svg"] = lines_svg(
            _once(losses),
            across="k",
            title="Information loss over k, one line per algorithm",
            names=("k", "information loss L in %"),
            best="kanonymeans* (ours)",
            ratios=True,
        )
    bins = {row["from"]: int(row["ours"]) for row in rows if row["metric"] == "runs_in_bin"}
    if bins:
        drawn["histogram.svg"] = bars_svg(
            bins, title="Losses of many runs of kAnonyMeans", names=("information loss L in %", "runs")
        )
    spread = [
        {**row, "method": row["method"] if row["metric"] == "loss" else f"{row['method']}, {row['metric']}"}
        for row in rows
        if row["table"] == "runs" and row["ours"] is not None
    ]
    if spread:
        drawn["runs.svg"] = lines_svg(
            spread,
            across="runs",
            title="Least and greatest loss of repetitions over the number of runs",
            names=("runs", "information loss L in %"),
            best="kanonymeans*, smallest",
        )
    return drawn


def _printed_and_ours(rows: Sequence[FlatRow]) -> list[FlatRow]:
    """Give printed figures as lines of their own, data sets and strategies as panels."""
    lines: list[FlatRow] = []
    for row in rows:
        panel = {"dataset": f"{row['dataset']}, {row['strategy']}", "k": row["k"]}
        lines.append({**panel, "method": row["method"], "ours": row["ours"]})
        if not row["method"].endswith("(ours)"):
            lines.append({**panel, "method": f"{row['method']}, printed", "ours": row["published"]})
    return lines


def _once(rows: Sequence[FlatRow]) -> list[FlatRow]:
    """Drop a loss that two tables share."""
    return list({(row["dataset"], row["method"], row["k"]): row for row in rows}.values())
