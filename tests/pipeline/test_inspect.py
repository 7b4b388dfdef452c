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


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (("Summe", None, None, 812345), True),
        ((None, "GENEL TOPLAM", None, 812345), True),
        (("Total", None, None, None), True),
        (("Grand Total", "x", "y", 5), False),  # a row like the others
        (("Tolga", None, None, 5), False),
        (("total", "total", None, 5), False),
    ],
)
def test_a_last_row_that_adds_up_the_others_is_found(*, last: tuple[object, ...], told: bool) -> None:
    rows = [(f"n{place}", "a", "b", place) for place in range(9)]
    table = pl.DataFrame([*rows, last], schema=["who", "x", "y", "z"], orient="row", strict=False)
    codes = [hint.code for hint in mh.inspect(table).hints]
    assert ("content.hint.total" in codes) is told
    assert "content.hint.total" not in [hint.code for hint in mh.inspect(table.head(9)).hints]


def test_what_never_changes_within_a_person_is_what_others_may_know() -> None:
    who = [n % 60 for n in range(180)]
    table = pl.DataFrame(
        {
            "c1": [f"user{one * 17 % 997}@example.org" for one in who],
            "c2": [20 + one * 7 % 41 for one in who],
            "c3": [("a", "b", None)[one % 3] for one in who],
            "c4": [("in", "out")[place * 5 // 7 % 2] for place in range(180)],
        }
    )
    found = mh.inspect(table)
    roles = {facts.name: facts.suggested_role for facts in found.columns}
    assert roles == {"c1": "identifier", "c2": "quasi", "c3": "quasi", "c4": "insensitive"}
    assert found.subject == "c1"


def test_something_is_suggested_for_the_promise_to_speak_of() -> None:
    frame = pl.DataFrame({"2021": [1, 2, 3, 4] * 30, "2022": ["a", "b"] * 60, "same": ["x"] * 120})
    found = mh.inspect(frame)
    assert found.roles() == {"quasi": ["2021", "2022"], "insensitive": ["same"]}
    assert mh.anonymize(frame, policy=dict(found.roles()), k=5).holds
