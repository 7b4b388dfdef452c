"""However a table is taken in, an audit says the same of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.pipeline.auditing import _taken
from mahrem.pipeline.auditing._taken import Intake
from mahrem.release.decisions import policy_from, reading_of
from mahrem.table import open_source

ROLES = {"quasi": ["age", "zip", "year"], "sensitive": ["ill", "stage"], "k": 2, "l": 2}
WHOLE, NUMBERS, NOTHING = 10**9, 700_000, 40_000  # what fits into so many bytes


def shown(rows: int, years: type[pl.DataType] = pl.String) -> pl.DataFrame:
    pick = np.random.default_rng(7).integers
    notes = pl.Series(["fine", "as before", None]).gather(pick(0, 3, rows))
    notes[77] = "ada@example.org"
    return pl.DataFrame(
        {
            "age": pl.Series(["[20, 29]", "[30, 39]", "*", None]).gather(pick(0, 4, rows)),
            "zip": pl.Series([f"{place:03d}**" for place in range(300)]).gather(pick(0, 300, rows)),
            "year": pl.Series(pick(2000, 2003, rows)).cast(years),
            "ill": pl.Series(["flu", "Flu", "gout", "*", None, "=1+1"]).gather(pick(0, 6, rows)),
            "stage": pick(0, 4, rows).astype(np.int16),
            "note": notes,
        }
    )


@pytest.mark.parametrize("years", [pl.String, pl.Int64])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_audit_says_the_same_however_little_memory_it_has(
    tmp_path: Path, ending: str, years: type[pl.DataType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_taken, "_ROWS", (500, 1000))
    path = tmp_path / f"table.{ending}"
    frame = shown(4000, years)
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    told = []
    for memory in (WHOLE, NUMBERS, NOTHING):
        policy = policy_from(None, {**ROLES, "memory": memory}, bounded=True)
        names = [*ROLES["quasi"], *ROLES["sensitive"]]
        taken = Intake(open_source(path, reading_of(policy)), names, policy, restores=False).sparingly()
        assert (taken.numbered is not None) == (memory != NOTHING)
        assert (taken.passes > 1) == (memory != WHOLE)
        told.append({**mh.audit(path, **ROLES, memory=memory).report, "seconds": 0})
    assert told[0]["doubts"]
    assert told[1] == told[0]
    assert told[2] == told[0]


def test_columns_that_somebody_accepted_are_not_looked_into(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    shown(4000).write_csv(path)
    told = [
        {**mh.audit(path, **ROLES, memory=memory, accept={"*": "looked at by hand"}).report, "seconds": 0}
        for memory in (WHOLE, NUMBERS, NOTHING)
    ]
    assert told[1] == told[0]
    assert told[2] == told[0]
