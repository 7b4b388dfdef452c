"""A table whose texts come as numbers is prepared as the same table of texts."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.weaving import _unravel
from mahrem.drafts import prepare
from mahrem.errors import MahremError
from mahrem.release.decisions import policy_from
from mahrem.table.reading import _csv

COLUMNS = st.sampled_from(
    [
        ["1", "2", "30"],
        ["1.5", "2", ""],
        ["01", "02", "10"],
        ["2024-01-31", "2023-12-31", ""],
        ["31.01.2024", "01.02.2024", "03.02.2024"],
        ["1.234,5", "2.000,25", "7,5"],
        ["flu", "Flu ", "gout", "*", ""],
        ["1", "2", "many"],
        ["01/02/2024", "02/03/2024", "x"],
        ["1e400", "1", "2"],
        ["9007199254740993", "9007199254740992", "1"],
        ["2022-10-01T09:30:00+03:00", "2022-10-01", "2022-10-02"],
    ]
)


@pytest.fixture(autouse=True)
def _long_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_csv, "BLOCK", 1)
    monkeypatch.setattr(_unravel, "_AGAIN", 2.0)


def outcome(source: object, missing: str) -> object:
    policy = policy_from(
        None, {"quasi": ["a", "b"], "sensitive": "c", "k": 1, "missing": missing, "accept": {"*": "test"}}
    )
    try:
        prepared = prepare(source, policy)
    except MahremError as error:
        return type(error), str(error).replace("'table.csv'", "")
    return (
        [(axis.name, axis.positions.tolist(), axis.domain) for axis in prepared.axes],
        [(values.codes.tolist(), values.size, values.joined) for values in prepared.values.values()],
        dict(prepared.columns),
    )


@settings(max_examples=60, deadline=None)
@given(COLUMNS, COLUMNS, COLUMNS, st.integers(0, 99), st.sampled_from(["category", "drop", "suppress"]))
def test_numbers_of_texts_change_nothing(
    first: list[str], second: list[str], third: list[str], seed: int, missing: str
) -> None:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {name: rng.choice(cells, 12) for name, cells in zip("abc", (first, second, third), strict=True)}
    )
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        frame.write_csv(path, quote_style="always")
        at_one_look = outcome(path, missing)
        with pytest.MonkeyPatch.context() as slowly:
            slowly.setattr(_csv, "BLOCK", 1 << 30)
            assert repr(outcome(path, missing)) == repr(at_one_look)
