"""Who was in the table that these rows were made up from?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mahrem.attacks import SyntheticMembership, refuse_shared_rows
from mahrem.errors import InvalidInput, shorten
from mahrem.pipeline._attack_model import beside_promise
from mahrem.pipeline._red_team import RedTeam, open_label
from mahrem.release import check_hashes, find_data, is_release
from mahrem.table import Reading, open_source, restored_cells
from mahrem.types import Floats
from mahrem.words import Note

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
    step(Note("stage.reading"))
    whole, warnings = _comparable(_frames(release, members, holdout, reference, reading))
    _refuse_mixed(whole)  # all rows, not those that are drawn: few of them would meet
    columns = list(whole["release"].columns)
    step(Note("stage.attacking"))
    frames, fewer = _drawn(whole, seed)
    warnings += fewer
    encoded = _encoded(frames)
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
    release: object, members: object, holdout: object, reference: object | None, reading: Reading | None
) -> dict[str, pl.DataFrame]:
    """Read all tables."""
    ours = isinstance(release, str | Path) and Path(release).is_dir()  # written by us, so read as we write
    others = {"members": members, "holdout": holdout, "reference": reference}
    return {
        "release": _frame(_data(release), None if ours else reading),
        **{name: _frame(table, reading) for name, table in others.items() if table is not None},
    }


def _comparable(frames: dict[str, pl.DataFrame]) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """Give the columns that all tables share and that can be compared: numbers, or text of few values."""
    shown = frames["release"]
    found: dict[str, list[pl.Series]] = {name: [] for name in frames}
    for column in shown.columns:
        if any(column not in frame.columns for frame in frames.values()):
            continue
        cells = {name: _numbers(frame[column]) for name, frame in frames.items()}
        if any(one is None for one in cells.values()):
            cells = {name: frame[column].cast(pl.String).fill_null("") for name, frame in frames.items()}
            if pl.concat([one for one in cells.values() if one is not None]).n_unique() > MOST_VALUES:
                continue
        for name, one in cells.items():
            found[name] += [] if one is None else [one]
    if not found["release"]:
        raise InvalidInput("the tables share no column that can be compared")
    used = {one.name for one in found["release"]}
    left = [name for name in shown.columns if name not in used]
    said = [f"{len(left)} columns of the release were not compared: {shorten(left)}"] if left else []
    return {name: pl.DataFrame(columns) for name, columns in found.items()}, said


def _refuse_mixed(frames: dict[str, pl.DataFrame]) -> None:
    """Refuse a hold-out or a reference that shares rows with those it must not share."""
    hashed = {name: frame.hash_rows().to_numpy() for name, frame in frames.items() if name != "release"}
    refuse_shared_rows(hashed["members"], hashed["holdout"])
    if "reference" in hashed:
        known = np.concatenate([hashed["members"], hashed["holdout"]])
        refuse_shared_rows(known, hashed["reference"])


def _drawn(frames: dict[str, pl.DataFrame], seed: int) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """Draw rows where there are too many to compare all with all."""
    shown, said = frames["release"], []
    if shown.height > MOST_RELEASED:
        said.append(
            f"{MOST_RELEASED} of {shown.height} rows of the release were looked at: attacks find less than "
            f"there may be"
        )
        shown = shown.sample(MOST_RELEASED, seed=seed)
    asked = max(FEWEST_ASKED, MOST_PAIRS // max(shown.height, FEWEST_ASKED * 10))
    drawn = {
        name: frame if frame.height <= asked else frame.sample(asked, seed=seed)
        for name, frame in frames.items()
    }
    return {**drawn, "release": shown}, said


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


def _encoded(frames: dict[str, pl.DataFrame]) -> dict[str, Floats]:
    """Give all tables as numbers on one scale: the release's ranges, a column for each value of a text."""
    blocks: dict[str, list[Floats]] = {name: [] for name in frames}
    for shown in frames["release"]:
        cells = {name: frame[shown.name] for name, frame in frames.items()}
        if shown.dtype == pl.Float64:
            known = shown.to_numpy()
            low, high = float(np.nanmin(known)), float(np.nanmax(known))
            width = (high - low) or 1.0
            for name, one in cells.items():
                blocks[name].append(np.nan_to_num((one.to_numpy() - low) / width, nan=0.5)[:, None])
            continue
        values = pl.concat(list(cells.values())).unique().sort()
        for name, one in cells.items():
            codes = one.to_numpy()[:, None] == values.to_numpy()[None, :]
            blocks[name].append(codes.astype(np.float64) / np.sqrt(2))
    return {name: np.hstack(parts) for name, parts in blocks.items()}


def _numbers(cells: pl.Series) -> pl.Series | None:
    """Give a column as numbers; None where it is text."""
    cast = cells.cast(pl.Float64, strict=False)
    if cast.null_count() > cells.null_count() or cast.null_count() == len(cells):
        return None
    return cast.fill_null(float("nan")) + 0.0  # one zero
