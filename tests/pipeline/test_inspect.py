from __future__ import annotations

import polars as pl
import pytest

import mahrem as mh


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("patientId", ["a", "b", "c"], "identifier"),
        ("anything", ["a", "b", "c"], "identifier"),
        ("geburtsdatum", ["1990-01-01", "1990-01-01", "1991-01-01"], "quasi"),
        ("cinsiyet", ["k", "e", "k"], "quasi"),
        ("Yaş", ["1", "1", "2"], "quasi"),
        ("TANI", ["1", "1", "2"], "sensitive"),
        ("tan\u0131", ["1", "1", "2"], "sensitive"),
        ("maas", ["1", "1", "2"], "sensitive"),
        ("colour", ["red", "red", "red"], "insensitive"),
    ],
)
def test_roles_are_suggested_from_names_and_counts(name: str, values: list[str], role: str) -> None:
    (facts,) = mh.inspect(pl.DataFrame({name: values})).columns
    assert facts.suggested_role == role
    assert facts.reason


def test_counts_are_right_and_missing_values_are_not_counted_as_values() -> None:
    frame = pl.DataFrame({"x": [1, 1, 2, None]})
    (facts,) = mh.inspect(frame).columns
    assert (facts.rows, facts.missing, facts.distinct) == (4, 1, 2)
    assert facts.unique_share == pytest.approx(1 / 3, abs=1e-4)
