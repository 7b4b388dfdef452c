"""Rows as files: CSV, JSON and pictures."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from mahrem.errors import OutputFailed
from mahrem.experiments._reproduce import PAPERS
from mahrem.experiments._row import Row
from mahrem.files import write_whole
from mahrem.report import beside_print_svg


def write_csv(rows: Sequence[Row], path: Path) -> Path:
    """Write rows as CSV, every key of a setting in a column of its own."""
    keys = list(dict.fromkeys(key for row in rows for key in row.setting))
    head = ["paper", "table", "dataset", *keys, "method", "metric", "published", "ours", "difference", "note"]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, head, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        flat = {key: value for key, value in row.as_dict().items() if key != "setting"}
        writer.writerow({**dict(row.setting), **flat})
    try:
        write_whole(path, text.getvalue(), private=False)
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
    texts |= {f"{paper}-{name}": text for name, text in _drawings(rows).items()}
    files = {name: text.encode() for name, text in texts.items()}
    files |= {f"{row.paper}-{row.table}-{row.method}.png": row.picture for row in rows if row.picture}
    written = [write_csv(rows, folder / f"{paper}.csv")]
    for name, content in files.items():
        try:
            write_whole(folder / name, content, private=False)
        except OSError as error:
            raise OutputFailed(f"output={name!r} could not be written: {error.strerror}") from error
        written.append(folder / name)
    return written


def _drawings(rows: Sequence[Row]) -> dict[str, str]:
    """Draw print against ours, and what the paper's own entry draws."""
    flat = [{**dict(row.setting), **row.as_dict()} for row in rows]
    drawn = {}
    if any((row.published or 0) > 0 and (row.ours or 0) > 0 for row in rows):
        drawn["published-and-ours.svg"] = beside_print_svg(flat)
    return drawn | (PAPERS[rows[0].paper].draw(flat) if rows else {})
