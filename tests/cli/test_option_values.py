from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mahrem.cli._options import SOURCE_ROWS, read_typed, shared_rows
from mahrem.errors import InvalidParameter, options_spelled, spelled
from mahrem.typed import listed, number, pair, pairs, sizes, value


@pytest.mark.parametrize(
    ("text", "meant"),
    [("false", False), ("True", True), ("5", 5), ("0.5", 0.5), ("1e3", 1000.0), ("no", "no"), ("lof", "lof")],
)
def test_an_option_is_read_as_what_it_looks_like(text: str, meant: object) -> None:
    read = value(text)
    assert read == meant
    assert type(read) is type(meant)


def test_names_are_split_at_commas_and_pairs_at_the_first_equals_sign() -> None:
    assert listed(["a, b", "c", ","]) == ["a", "b", "c"]
    assert listed(None) == []
    assert pairs("kind", ["age=numeric", "rule=a=b"]) == {"age": "numeric", "rule": "a=b"}
    assert sizes("shape", "1x28x28") == sizes("shape", "1,28,28") == [1, 28, 28]


@pytest.mark.parametrize(
    ("read", "text"), [(pair, "age"), (pair, "=5"), (pair, "age="), (number, "ten"), (sizes, "64,many")]
)
def test_what_cannot_be_read_is_refused_by_the_name_of_its_option(read: object, text: str) -> None:
    with pytest.raises(InvalidParameter, match=r"^weight='"):
        read("weight", text)  # type: ignore[operator]


def test_promises_of_a_sensitive_column_stay_with_it() -> None:
    (sensitive,) = shared_rows("sensitive")
    read = read_typed([(sensitive, ["disease:l=3,t=0.2,wage"])])
    assert read == {"sensitive": ["disease:l=3,t=0.2", "wage"]}
    assert read_typed([(sensitive, [",l=3"])]) == {"sensitive": ["l=3"]}  # a column nobody has, not a crash


def test_sql_is_another_word_for_query() -> None:
    known = {row.name: row for row in SOURCE_ROWS}
    assert read_typed([(known["sql"], "select 1"), (known["query"], None)]) == {"query": "select 1"}
    with pytest.raises(InvalidParameter, match="query and sql were both given"):
        read_typed([(known["sql"], "select 1"), (known["query"], "select 2")])


@given(st.text("ab=,\" '", min_size=1, max_size=6).filter(str.strip))
def test_a_hint_can_be_typed_whatever_a_column_is_called(name: str) -> None:
    with options_spelled():
        _, pair_typed = shlex.split(spelled("kind", {name: "code"}))
        _, list_typed = shlex.split(spelled("quasi", [name, "b"]))
    assert pairs("kind", [pair_typed]) == {name: "code"}
    assert listed([list_typed]) == [name, "b"]
