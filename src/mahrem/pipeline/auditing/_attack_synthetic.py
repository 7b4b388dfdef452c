"""Who was in the table that these rows were made up from?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

from mahrem.attacks import RedTeam, red_team
from mahrem.attacks.on_models import SyntheticTables
from mahrem.errors import InvalidInput, in_our_words
from mahrem.release.folders import check_hashes, find_data, is_release, named_folder
from mahrem.table import Reading, open_source
from mahrem.table.cells.formulas import restored_cells
from mahrem.words import Note


@in_our_words
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
        >>> result = attack_synthetic(patients[:500], members=patients[:500], holdout=patients[500:])
        >>> result.findings[0].area > 0.6
        True
    """
    began = time.perf_counter()
    step = progress or (lambda _: None)
    step(Note("stage.reading"))
    whole = SyntheticTables.comparable(_frames(release, members, holdout, reference, reading))
    whole.refuse_mixed()  # all rows, not those that are drawn: few of them would meet
    step(Note("stage.attacking"))
    tables, cost = whole.drawn(seed), _cost(release)
    target = tables.target(cost)
    about = {
        "rows": len(target.release),
        "members": len(target.members),
        "holdout": len(target.holdout),
        "columns": list(tables.columns),
        "claimed": None if cost is None else {"epsilon": cost[0], "delta": cost[1]},
    }
    return RedTeam.of(release, red_team(target), began=began, about=about, warnings=tables.warnings)


def _data(release: object) -> object:
    folder = named_folder(release)
    if folder is not None:
        if not is_release(folder):
            raise InvalidInput(f"release={folder.name!r} is a folder but not a release; give its data file")
        check_hashes(folder)
        return find_data(folder)
    return release


def _cost(release: object) -> tuple[float, float] | None:
    """Give what a release folder of ours promises; of any other table nothing is known."""
    if not (isinstance(release, str | Path) and Path(release).is_dir()):
        return None
    synthesis = json.loads((Path(release) / "report.json").read_text(encoding="utf-8")).get("synthesis")
    return None if synthesis is None else (float(synthesis["epsilon"]), float(synthesis["delta"]))


def _frames(
    release: object, members: object, holdout: object, reference: object | None, reading: Reading | None
) -> dict[str, pl.DataFrame]:
    """Read all tables."""
    ours = isinstance(release, str | Path) and Path(release).is_dir()  # written by us, so read as we write
    others = {"members": members, "holdout": holdout, "reference": reference}
    return {
        "release": _frame(_data(release), Reading(header=True) if ours else reading),
        **{name: _frame(table, reading) for name, table in others.items() if table is not None},
    }


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
