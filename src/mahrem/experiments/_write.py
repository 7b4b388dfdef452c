"""Rows as files: CSV, JSON and pictures."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mahrem.errors import OutputFailed
from mahrem.experiments._buyuktanir2022_pictures import ducba_pictures, ducba_table
from mahrem.experiments._dp_synthetic_images import PicturedRow
from mahrem.experiments._row import Row
from mahrem.experiments._saleh_pictures import saleh_pictures
from mahrem.report import bars_svg, beside_print_svg, lines_svg

__all__ = ["write_csv", "write_rows"]


def write_csv(rows: Sequence[Row], path: Path) -> Path:
    """Write rows as CSV, every key of a setting in a column of its own."""
    keys = list(dict.fromkeys(key for row in rows for key in row.setting))
    head = ["paper", "table", "dataset", *keys, "method", "metric", "published", "ours", "difference", "note"]
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, head, lineterminator="\n")
            writer.writeheader()
            for row in rows:
                flat = {key: value for key, value in row.as_dict().items() if key != "setting"}
                writer.writerow({**dict(row.setting), **flat})
    except OSError as error:
        raise OutputFailed(f"csv={path.name!r} could not be written: {error.strerror}") from error
    return path


def write_rows(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write CSV, JSON and every picture that the rows allow; gives what was written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputFailed(f"output={folder.name!r} cannot be made: {error.strerror}") from error
    paper = rows[0].paper if rows else "nothing"
    texts = {f"{paper}.json": json.dumps([row.as_dict() for row in rows], indent=2)}
    texts |= {f"{paper}-{name}.svg": svg for name, svg in pictures(rows).items()}
    if paper == "buyuktanir2022":
        tables = {name: ducba_table(_flat(rows), name) for name in ("3.2", "left")}
        texts |= {f"{paper}-{name}.md": text for name, text in tables.items() if text}
    files = {name: text.encode() for name, text in texts.items()}
    files |= {
        f"{row.paper}-{row.table}-{row.method}.png": row.picture
        for row in rows
        if isinstance(row, PicturedRow) and row.picture
    }
    written = [write_csv(rows, folder / f"{paper}.csv")]
    for name, content in files.items():
        try:
            (folder / name).write_bytes(content)
        except OSError as error:
            raise OutputFailed(f"output={name!r} could not be written: {error.strerror}") from error
        written.append(folder / name)
    return written


def pictures(rows: Sequence[Row]) -> Mapping[str, str]:
    """Draw what the rows show: print against ours, losses over k, the histogram, the spread over runs."""
    drawn = {}
    flat = _flat(rows)
    if any((row["published"] or 0) > 0 and (row["ours"] or 0) > 0 for row in flat):
        drawn["published-and-ours"] = beside_print_svg(flat)
    if rows and rows[0].paper == "saleh":
        return drawn | saleh_pictures(flat)
    if rows and rows[0].paper == "buyuktanir2022":
        return drawn | ducba_pictures(flat)
    certainty = [
        row for row in flat if row["metric"] == "gcp_sum" and row["published"] and "round" not in row
    ]
    if certainty:
        drawn["gcp-over-k"] = lines_svg(
            _printed_and_ours(certainty),
            across="k",
            title="Loss over k as printed, in the published setting, and in ours",
            names=("k", "gcp_sum"),
            best="u-mondrian (ours)",
        )
    losses = [row for row in flat if row["table"] in {"over-k", "losses"} and row["ours"] is not None]
    if losses:
        drawn["over-k"] = lines_svg(
            _once(losses),
            across="k",
            title="Information loss over k, one line per algorithm",
            names=("k", "information loss L in %"),
            best="kanonymeans* (ours)",
            ratios=True,
        )
    bins = {row["from"]: int(row["ours"]) for row in flat if row["metric"] == "runs_in_bin"}
    if bins:
        drawn["histogram"] = bars_svg(
            bins, title="Losses of many runs of kAnonyMeans", names=("information loss L in %", "runs")
        )
    spread = [
        {**row, "method": row["method"] if row["metric"] == "loss" else f"{row['method']}, {row['metric']}"}
        for row in flat
        if row["table"] == "runs" and row["ours"] is not None
    ]
    if spread:
        drawn["runs"] = lines_svg(
            spread,
            across="runs",
            title="Least and greatest loss of repetitions over the number of runs",
            names=("runs", "information loss L in %"),
            best="kanonymeans*, smallest",
        )
    return drawn


def _flat(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{**dict(row.setting), **row.as_dict()} for row in rows]


def _printed_and_ours(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Give printed figures as lines of their own, data sets and strategies as panels."""
    found: list[Mapping[str, Any]] = []
    for row in rows:
        panel = {"dataset": f"{row['dataset']}, {row['strategy']}", "k": row["k"]}
        found.append({**panel, "method": row["method"], "ours": row["ours"]})
        if not row["method"].endswith("(ours)"):
            found.append({**panel, "method": f"{row['method']}, printed", "ours": row["published"]})
    return found


def _once(rows: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """Drop a loss that two tables share."""
    return list({(row["dataset"], row["method"], row["k"]): row for row in rows}.values())
