from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from mahrem.errors import InvalidInput
from mahrem.learning.classifiers import fit_encoder
from mahrem.table import Hierarchy, Kind

SHOWN = pl.DataFrame(
    {
        "age": ["[20, 30]", "40", "*", None],
        "born": ["[2000-01-01, 2000-01-11]", "2000-01-06", "*", "2000-01-06"],
        "job": ["{clerk, nurse}", "nurse", "nurse", "*"],
        "zip": ["061**", "06130", "34000", None],
        "size": ["{small, middle}", "large", "*", None],
    }
)
KINDS = {
    "age": Kind.NUMERIC,
    "born": Kind.DATE,
    "job": Kind.CATEGORICAL,
    "zip": Kind.CODE,
    "size": Kind.ORDINAL,
}
ORDER = {"size": ("small", "middle", "large")}


def only(name: str) -> dict[str, Kind]:
    return {name: KINDS[name]}


def test_an_interval_is_its_middle_and_width_and_a_star_the_mean_and_everything() -> None:
    found = fit_encoder(SHOWN, only("age"))(SHOWN)
    assert found.amounts[:, 0].tolist() == [25.0, 40.0, 32.5, 32.5]
    assert found.widths[:, 0].tolist() == [10.0, 0.0, 20.0, 0.0]
    assert found.shares[:, 0].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_a_set_is_shared_by_how_often_values_occur_and_a_star_among_all() -> None:
    found = fit_encoder(SHOWN, only("job"))(SHOWN).shares
    assert found[1].tolist() == [0.0, 1.0, 0.0]
    assert found[0].sum() == pytest.approx(1.0)
    assert found[0, 1] > 0.9  # clerk was never seen alone, nurse twice
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_days_and_moments_have_one_measure() -> None:
    encode = fit_encoder(SHOWN, only("born"))
    day = encode(pl.DataFrame({"born": ["2000-01-06"]})).amounts
    noon = encode(pl.DataFrame({"born": ["2000-01-06T12:00:00"]})).amounts
    assert (noon - day).item() == pytest.approx(0.5)


def test_a_code_has_a_flag_for_each_beginning_it_is_known_to_have() -> None:
    encode = fit_encoder(SHOWN, only("zip"))
    shares = encode(pl.DataFrame({"zip": ["06130", "061**", "06199", None]})).shares
    assert shares.sum(axis=1).tolist() == [5.0, 3.0, 3.0, 1.0]


def test_ordinals_are_places() -> None:
    found = fit_encoder(SHOWN, only("size"), orders=ORDER)(SHOWN)
    assert found.amounts[:3, 0].tolist() == [0.5, 2.0, 1.0]
    assert found.widths[:, 0].tolist() == [1.0, 0.0, 2.0, 0.0]


def test_nodes_of_a_tree_are_shared_among_their_leaves() -> None:
    tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
    rows = pl.DataFrame({"disease": ["lung", "cold", "cold", "flu", "gout"]})
    found = fit_encoder(rows, {"disease": Kind.CATEGORICAL}, hierarchies={"disease": tree})(rows).shares
    np.testing.assert_allclose(found[0, :3], [2 / 3, 1 / 3, 0.0], atol=1e-6)


def test_numbers_under_a_node_that_is_no_range_have_their_mean() -> None:
    tree = Hierarchy.from_rows([["1", "odd"], ["3", "odd"], ["2", "even"]])
    rows = pl.DataFrame({"n": ["odd", "2", "*"]})
    found = fit_encoder(rows, {"n": Kind.NUMERIC}, hierarchies={"n": tree})(rows)
    assert found.amounts[:, 0].tolist() == [2.0, 2.0, 2.0]
    assert found.widths[:, 0].tolist() == [2.0, 0.0, 2.0]


@pytest.mark.parametrize("name", list(KINDS))
def test_an_untouched_value_and_a_cell_that_says_it_are_the_same(name: str) -> None:
    encode = fit_encoder(SHOWN, only(name), orders=ORDER)
    said = {"age": "40", "born": "2000-01-06", "job": "nurse", "zip": "06130", "size": "large"}[name]
    cell = {"age": "[40, 40]", "born": "[2000-01-06, 2000-01-06]", "job": "{nurse}", "size": "{large}"}
    first, second = (
        encode(pl.DataFrame({name: [text]}, schema={name: pl.String}))
        for text in (said, cell.get(name, said))
    )
    assert first.amounts.tolist() == second.amounts.tolist()
    assert first.widths.tolist() == second.widths.tolist()
    np.testing.assert_allclose(first.shares, second.shares)


def test_a_value_nobody_saw_is_encoded_as_unknown() -> None:
    found = fit_encoder(SHOWN, only("job"))(pl.DataFrame({"job": ["astronaut"]})).shares
    assert found.sum() == pytest.approx(1.0)
    assert (found < 1).all()


def test_a_column_of_many_values_gets_places_for_the_most_frequent() -> None:
    rows = pl.DataFrame({"name": [f"n{number % 500}" for number in range(1000)] + ["often"] * 9})
    shares = fit_encoder(rows, {"name": Kind.CATEGORICAL})(rows).shares
    assert shares.shape == (1009, 61)
    assert shares[-1].max() == 1.0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_no_columns_are_refused() -> None:
    with pytest.raises(InvalidInput, match="columns=0"):
        fit_encoder(SHOWN, {})
