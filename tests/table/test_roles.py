from __future__ import annotations

import pytest

from mahrem.errors import ColumnNotFound, InvalidParameter
from mahrem.table import Role
from mahrem.table.columns import assign_roles, role_from_word

COLUMNS = ["name", "age", "zip", "disease", "note"]


def test_every_column_gets_its_role_in_the_order_of_the_table() -> None:
    roles = assign_roles(
        COLUMNS, quasi=["zip", "age"], sensitive=["disease"], identifier=["name"], insensitive=["note"]
    )
    assert list(roles) == COLUMNS
    assert [*roles.values()] == [Role.IDENTIFIER, Role.QUASI, Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE]


def test_an_undeclared_column_is_an_error_that_lists_it() -> None:
    with pytest.raises(InvalidParameter, match="name, zip, note") as caught:
        assign_roles(COLUMNS, quasi=["age"], sensitive=["disease"])
    assert "rest='insensitive'" in str(caught.value)


def test_many_undeclared_columns_are_shortened() -> None:
    with pytest.raises(InvalidParameter, match="10000 in all"):
        assign_roles(["age", *(f"c{i}" for i in range(10_000))], quasi=["age"])


def test_rest_says_what_happens_to_undeclared_columns() -> None:
    assert assign_roles(COLUMNS, quasi=["age"], rest="drop")["note"] is None
    assert assign_roles(COLUMNS, quasi=["age"], rest="insensitive")["note"] is Role.INSENSITIVE


def test_a_column_has_one_role() -> None:
    with pytest.raises(InvalidParameter, match="one role"):
        assign_roles(COLUMNS, quasi=["age"], sensitive=["age"], rest="drop")


def test_naming_a_column_twice_in_one_list_is_harmless() -> None:
    assert assign_roles(["age"], quasi=["age", "age"]) == {"age": Role.QUASI}


def test_an_unknown_column_brings_the_nearest_name() -> None:
    with pytest.raises(ColumnNotFound, match="did you mean disease"):
        assign_roles(COLUMNS, quasi=["age"], sensitive=["diseases"], rest="drop")


def test_without_a_quasi_identifier_there_is_nothing_to_do() -> None:
    with pytest.raises(InvalidParameter, match="at least one column"):
        assign_roles(COLUMNS, sensitive=["disease"], rest="insensitive")


def test_rest_must_be_a_known_word() -> None:
    with pytest.raises(InvalidParameter, match="rest="):
        assign_roles(COLUMNS, quasi=["age"], rest="keep")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "role"),
    [
        ("IDENTIFYING", Role.IDENTIFIER),
        ("QUASI_IDENTIFYING", Role.QUASI),
        ("Sensitive", Role.SENSITIVE),
        ("INSENSITIVE", Role.INSENSITIVE),
        ("ident", Role.IDENTIFIER),
        ("quasi_ident", Role.QUASI),
        ("quasi-ident", Role.QUASI),
        ("sens_att", Role.SENSITIVE),
        ("keyVars", Role.QUASI),
        ("numVars", Role.QUASI),
        ("sensibleVar", Role.SENSITIVE),
        ("weightVar", Role.INSENSITIVE),
        ("hhId", Role.IDENTIFIER),
        (" quasi ", Role.QUASI),
    ],
)
def test_the_words_of_other_tools_are_understood(word: str, role: Role) -> None:
    assert role_from_word(word) is role


def test_an_unknown_word_for_a_role_is_an_error() -> None:
    with pytest.raises(InvalidParameter, match="role='secret'"):
        role_from_word("secret")
