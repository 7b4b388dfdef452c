"""A table beside what was agreed: what is wrong is found, no cell is told, the server hears little."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated import SharedSchema
from mahrem.federated.rules import RulesSchema
from mahrem.federated.runs import CheckedClient, CheckFinding, TableCheck, check_table
from mahrem.federated.wire import Message
from mahrem.learning.classifiers import DeclaredNumbers, DeclaredWords

JOBS = ("Adm-clerical", "Exec-managerial", "not_recom", "Machine-op-inspct")
SCHEMA = SharedSchema(
    columns={
        "hours": DeclaredNumbers(lower=1, upper=99),
        "sex": DeclaredWords(values=("Female", "Male")),
        "job": DeclaredWords(values=JOBS),
    },
    target="income",
    classes=("<=50K", ">50K"),
)
RULES = RulesSchema(
    columns=("hours", "sex", "job"),
    target="income",
    bins={"hours": (20, 40)},
    values={"sex": ("Female", "Male"), "job": JOBS, "income": SCHEMA.classes},
)


def rows(count: int = 200, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "hours": rng.integers(1, 100, count),
            "sex": rng.choice(["Female", "Male"], count),
            "job": rng.choice(JOBS, count),
            "income": rng.choice(["<=50K", ">50K"], count),
        }
    ).cast(pl.String)


def codes(found: TableCheck) -> set[tuple[str, str]]:
    return {(finding.code, finding.column) for finding in found.findings if finding.fault}


def shown(column: str, change: Any) -> pl.DataFrame:
    return rows().with_columns(pl.Series(column, [change(cell) for cell in rows()[column]]))


@pytest.mark.parametrize("schema", [SCHEMA, RULES], ids=["weights", "rules"])
@settings(max_examples=20)
@given(seed=st.integers(0, 1000), count=st.integers(40, 300))
def test_a_table_whose_cells_were_all_agreed_on_passes(schema: Any, seed: int, count: int) -> None:
    found = check_table(rows(count, seed), schema)
    assert {code for code, _ in codes(found)} <= {"few"}  # bins may hold few people of a small table
    assert check_table(rows(count, seed), schema, ["few"]).passed
    assert (found.rows, found.dropped) == (count, 0)


OTHERS = [
    ("sex", lambda cell: cell[0], "spelling"),  # M and F
    ("sex", str.upper, "spelling"),
    ("job", lambda cell: cell.replace("_", " ").capitalize(), "spelling"),
    ("job", lambda cell: f" {cell} ", "spelling"),
    ("job", lambda cell: cell.replace("clerical", "clerikal"), "spelling"),
    ("job", lambda cell: "astronaut" if cell == JOBS[0] else cell, "undeclared"),
    ("income", lambda cell: cell.replace(">50K", ">50K."), "spelling"),  # what the second half of Adult does
    ("income", lambda cell: "rich" if cell == ">50K" else cell, "label"),
]


@pytest.mark.parametrize("schema", [SCHEMA, RULES], ids=["weights", "rules"])
@pytest.mark.parametrize(("column", "change", "code"), OTHERS)
def test_other_spellings_and_values_keep_a_table_out(
    schema: Any, column: str, change: Any, code: str
) -> None:
    found = check_table(shown(column, change), schema)
    assert codes(found) == {(code, column)}
    with pytest.raises(InvalidInput, match="mahrem federate check"):
        found.refuse()
    assert check_table(shown(column, change), schema, [f"{code}:{column}"]).passed
    assert check_table(shown(column, change), schema, [code]).passed
    assert not check_table(shown(column, change), schema, [f"{code}:hours"]).passed


def test_one_row_with_another_spelling_is_enough() -> None:
    table = rows()
    table[7, "job"] = "Not recom"
    (fault,) = check_table(table, SCHEMA).faults
    assert (fault.code, fault.rows, fault.values, fault.like) == ("spelling", 1, 1, ("not_recom",))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda cell: str(60 * int(cell)), "range"),  # minutes
        (lambda cell: str(1 + int(cell) / 24), "narrow"),  # days
        (lambda cell: f"{cell} h", "no number"),
        (lambda cell: f"{cell},5", "no number"),
    ],
)
def test_another_unit_keeps_a_table_out(change: Any, code: str) -> None:
    assert codes(check_table(shown("hours", change), SCHEMA)) == {(code, "hours")}


def test_a_few_numbers_outside_and_rows_without_a_class_are_noted_only() -> None:
    table = rows(1000)
    table[3, "hours"] = "120"
    table[4, "income"] = None
    found = check_table(table, SCHEMA)
    assert found.passed
    assert {finding.code for finding in found.findings} == {"outside", "unlabelled"}
    assert found.dropped == 1


def test_a_missing_column_or_no_row_cannot_be_accepted() -> None:
    assert codes(check_table(rows().drop("sex"), SCHEMA)) == {("missing", "sex")}
    assert codes(check_table(rows().drop("income"), SCHEMA)) == {("missing", "income")}
    assert ("empty", "income") in codes(check_table(rows().clear(), SCHEMA))
    for name in ("missing", "empty:income", "nonsense", ""):
        with pytest.raises(InvalidParameter, match="despite"):
            check_table(rows(), SCHEMA, [name])


def test_rules_without_agreed_values_compare_cells_with_each_other() -> None:
    bare = RulesSchema(columns=("hours", "sex", "job"), target="income")
    table = rows()
    assert codes(check_table(table, bare)) == {("numbers", "hours")}
    table[0, "job"] = "NOT RECOM"
    assert ("spelling", "job") in codes(check_table(table, bare))


@settings(max_examples=25)
@given(st.lists(st.text(min_size=3, max_size=8).map(lambda text: f"ß{text}§"), min_size=1, max_size=20))
def test_no_cell_of_the_table_is_in_what_is_found(cells: list[str]) -> None:
    table = pl.DataFrame({"hours": cells, "sex": cells, "job": cells, "income": cells})
    for schema in (SCHEMA, RULES):
        found = check_table(table, schema)
        said = repr(found) + str(found.as_dict()) + "".join(each.describe() for each in found.findings)
        with pytest.raises(InvalidInput) as refused:
            found.refuse()
        assert not [cell for cell in cells if cell in said + str(refused.value)]


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_the_server_hears_pass_or_fail_and_counts_in_tens(count: int, dropped: int) -> None:
    faults = (CheckFinding(code="label", column="income", rows=dropped),) if dropped else ()
    found = TableCheck(rows=count, dropped=dropped, findings=faults)
    assert found.server_report(counts=False) == {"passed": not dropped}
    told = found.server_report(counts=True)
    assert set(told) == {"passed", "rows", "dropped"}
    assert all(
        told[name] % 10 == 0 and 0 <= real - told[name] < 10
        for name, real in (("rows", count), ("dropped", dropped))
    )
    client = CheckedClient(CheckedClient(None, {}), told)  # type: ignore[arg-type]
    assert client.answer(Message("check", "run", 0, {})).body == told
