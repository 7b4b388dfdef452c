"""Who was in the table that these rows were made up from?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mahrem.attacks import SyntheticMembership
from mahrem.errors import InvalidInput, shorten
from mahrem.pipeline._attack_model import beside_promise
from mahrem.pipeline._red_team import RedTeam, open_label
from mahrem.release import check_hashes, find_data, is_release
from mahrem.table import Reading, open_source, restored_cells
from mahrem.types import Floats

__all__ = ["attack_synthetic"]

MOST_VALUES = 200  # a text column with more is left out: each value would be a column
MOST_RELEASED = 200_000  # rows of the release that are looked at; fewer would hide copies
MOST_PAIRS = 400_000_000  # of a person asked about and a released row
FEWEST_ASKED = 2_000


def attack_synthetic(
    release: object,
    *,
    members: object,
    holdout: object,
    reference: object | None = None,
    reading: Reading | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> RedTeam:
    """Attack made-up rows: do they lie closer to the rows they were made from than to others?

    Args:
        release: A release folder of ``synthesize``, or any table of made-up rows.
        members: The real rows they were made from.
        holdout: Real rows that had no part in it, from the same population.
        reference: More real rows, neither of them: how dense rows lie anyway. Makes a second, finer attack.
        reading: How to read the tables.
        seed: Of the rows drawn where there are many: 200,000 of the release, and 2,000 to 20,000 of each
            other table.
        progress: Called with a sentence now and then.

    Guarantees:
        - A hold-out that shares more rows with the members than equal rows there explain is refused.
        - Findings hold figures, never a person and never a value.

    Example:
        >>> import mahrem as mh
        >>> patients = mh.demo_patients(1000).select("age", "zip", "diagnosis")
        >>> found = attack_synthetic(patients[:500], members=patients[:500], holdout=patients[500:])
        >>> found.findings[0].area > 0.6
        True
    """
    began = time.perf_counter()
    step = progress or (lambda _: None)
    step("reading")
    frames, warnings = _frames(release, members, holdout, reference, reading, seed)
    encoded, columns = _encoded(frames)
    left = [name for name in frames["release"].columns if name not in columns]
    if left:
        warnings.append(f"{len(left)} columns of the release were not compared: {shorten(left)}")
    step("attacking")
    sides = (encoded["release"], encoded["members"], encoded["holdout"])
    findings = [SyntheticMembership()(*sides)]
    if reference is not None:
        findings.append(SyntheticMembership(how="density")(*sides, reference=encoded["reference"]))
    cost = _cost(release)
    findings = [beside_promise(finding, cost) for finding in findings]
    report: dict[str, Any] = {
        "source": open_label(release),
        "rows": len(encoded["release"]),
        "members": len(encoded["members"]),
        "holdout": len(encoded["holdout"]),
        "columns": columns,
        "claimed": None if cost is None else {"epsilon": cost[0], "delta": cost[1]},
        "findings": [finding.as_dict() for finding in findings],
        "alarming": sum(finding.alarming for finding in findings),
        "seconds": round(time.perf_counter() - began, 3),
        "warnings": warnings,
    }
    return RedTeam(report=report, findings=tuple(findings))


def _data(release: object) -> object:
    if isinstance(release, str | Path) and Path(release).is_dir():
        folder = Path(release)
        if not is_release(folder):
            raise InvalidInput(f"release={folder.name!r} is a folder but not a release; give its data file")
        check_hashes(folder)
        return find_data(folder)
    return release


def _cost(release: object) -> tuple[float, float] | None:
    """Give what a release folder of ours promises; of any other table nothing is known."""
    if not (isinstance(release, str | Path) and Path(release).is_dir()):
        return None
    said = json.loads((Path(release) / "report.json").read_text(encoding="utf-8")).get("synthesis")
    return None if said is None else (float(said["epsilon"]), float(said["delta"]))


def _frames(
    release: object,
    members: object,
    holdout: object,
    reference: object | None,
    reading: Reading | None,
    seed: int,
) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """Read all tables, and draw rows where there are too many to compare all with all."""
    ours = isinstance(release, str | Path) and Path(release).is_dir()  # written by us, so read as we write
    shown, warnings = _frame(_data(release), None if ours else reading), []
    if shown.height > MOST_RELEASED:
        warnings.append(
            f"{MOST_RELEASED} of {shown.height} rows of the release were looked at: attacks find less than "
            f"there may be"
        )
        shown = shown.sample(MOST_RELEASED, seed=seed)
    asked = max(FEWEST_ASKED, MOST_PAIRS // max(shown.height, FEWEST_ASKED * 10))
    others = {"members": members, "holdout": holdout, "reference": reference}
    frames = {name: _frame(table, reading) for name, table in others.items() if table is not None}
    drawn = {
        name: frame if frame.height <= asked else frame.sample(asked, seed=seed)
        for name, frame in frames.items()
    }
    return {"release": shown, **drawn}, warnings


def _frame(table: object, reading: Reading | None) -> pl.DataFrame:
    opened = open_source(table, reading)
    shown = opened.scan(opened.columns)
    frame = shown.with_columns(restored_cells(shown.collect_schema())).collect()
    if not frame.height:
        raise InvalidInput("a table has no rows: there is nothing to attack")
    if reading is not None and reading.decimal == ",":
        text = pl.col(pl.String)
        number = text.str.contains(r"^\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$")
        pointed = text.str.replace(",", ".", literal=True)
        frame = frame.with_columns(pl.when(number).then(pointed).otherwise(text).name.keep())
    return frame


def _encoded(frames: dict[str, pl.DataFrame]) -> tuple[dict[str, Floats], list[str]]:
    """Give all tables as numbers on one scale: the release's ranges, a column for each value of a text."""
    shown = frames["release"]
    shared = [name for name in shown.columns if all(name in frame.columns for frame in frames.values())]
    blocks: dict[str, list[Floats]] = {name: [] for name in frames}
    used = []
    for column in shared:
        numbers = {name: _numbers(frame[column]) for name, frame in frames.items()}
        if all(found is not None for found in numbers.values()):
            known = np.asarray(numbers["release"])
            low, high = float(np.nanmin(known)), float(np.nanmax(known))
            width = (high - low) or 1.0
            for name, found in numbers.items():
                blocks[name].append(np.nan_to_num((np.asarray(found) - low) / width, nan=0.5)[:, None])
            used.append(column)
            continue
        text = {name: frame[column].cast(pl.String).fill_null("") for name, frame in frames.items()}
        values = pl.concat([one.rename("v") for one in text.values()]).unique().sort()
        if len(values) > MOST_VALUES:
            continue
        for name, one in text.items():
            codes = one.to_numpy()[:, None] == values.to_numpy()[None, :]
            blocks[name].append(codes.astype(np.float64) / np.sqrt(2))
        used.append(column)
    if not used:
        raise InvalidInput("the tables share no column that can be compared")
    return {name: np.hstack(parts) for name, parts in blocks.items()}, used


def _numbers(cells: pl.Series) -> Floats | None:
    """Give a column as numbers; None where it is text."""
    cast = cells.cast(pl.Float64, strict=False)
    if cast.null_count() > cells.null_count() or cast.null_count() == len(cells):
        return None
    return cast.fill_null(float("nan")).to_numpy()
