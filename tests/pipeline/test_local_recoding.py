"""``local``: releases of full-domain methods whose leftover rows were lifted by themselves."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidParameter

ROLES = {"quasi": ["age", "sex", "zip"], "sensitive": "diagnosis", "rest": "drop"}


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return mh.demo_patients(500)


@pytest.mark.filterwarnings("ignore:.*composition")
@pytest.mark.parametrize("promise", [{}, {"l": 2}, {"t": 0.4}], ids=str)
def test_a_local_release_audits_true_and_loses_no_more(
    promise: dict[str, float], patients: pl.DataFrame, tmp_path: Path
) -> None:
    said = {
        "method": "flash",
        "k": 5,
        "suppression_limit": 0.05,
        "minimality_safe": False,
        "hierarchy": mh.anonymize(patients, method="flash", k=5, **ROLES).hierarchies,
        **promise,
        **ROLES,
    }
    local = mh.anonymize(patients, output=tmp_path / "local", local=True, **said)
    plain = mh.anonymize(patients, output=tmp_path / "plain", **said)
    assert mh.audit(tmp_path / "local").holds
    assert local.report["utility"]["suppressed"] <= 25
    assert local.report["utility"]["gcp"] <= plain.report["utility"]["gcp"] + 1e-9


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"method": "mondrian"}, "local"),
        ({"method": "flash", "suppressed": "keep-sensitive", "suppression_limit": 0.1}, "local"),
    ],
)
def test_local_is_refused_where_nothing_is_lifted(
    said: dict[str, object], match: str, patients: pl.DataFrame
) -> None:
    with pytest.raises(InvalidParameter, match=match):
        mh.anonymize(patients, k=5, local=True, **said, **ROLES)
