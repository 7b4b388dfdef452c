"""Privacy models from settings, as options and policy files spell them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mahrem import models
from mahrem.errors import InvalidParameter
from mahrem.models import models_from_settings, parse_sensitive


@pytest.mark.parametrize(
    ("given_settings", "expected"),
    [
        ({}, ()),
        ({"l": None, "t": None}, ()),
        ({"l": 3}, (models.DistinctDiversity(3),)),
        ({"l": 2.5, "l_kind": "entropy"}, (models.EntropyDiversity(2.5),)),
        ({"l": 2.5, "l_kind": "grassberger"}, (models.GrassbergerDiversity(2.5),)),
        ({"l": 3, "l_kind": "recursive", "c": 2}, (models.RecursiveDiversity(2, 3),)),
        ({"t": 0.2}, (models.EqualCloseness(0.2),)),
        ({"t": 0.2, "t_kind": "ordered"}, (models.OrderedCloseness(0.2),)),
        ({"t": 0.2, "t_kind": "hierarchical"}, (models.HierarchicalCloseness(0.2),)),
        ({"t": 1.2, "t_kind": "kl"}, (models.KLCloseness(1.2),)),
        ({"alpha": 0.5}, (models.AlphaK(0.5, 4),)),
        ({"beta": 1}, (models.BasicLikeness(1),)),
        ({"beta": 1, "beta_kind": "enhanced"}, (models.EnhancedLikeness(1),)),
        ({"delta_disclosure": 2}, (models.DeltaDisclosure(2),)),
        (
            {"l": 2, "t": 0.1, "beta": 3},
            (models.DistinctDiversity(2), models.EqualCloseness(0.1), models.BasicLikeness(3)),
        ),
    ],
)
def test_settings_name_their_models(given_settings: dict[str, object], expected: tuple[object, ...]) -> None:
    assert models_from_settings(given_settings, where="sensitive.disease", k=4) == expected


@pytest.mark.parametrize(
    "wrong",
    [
        {"m": 3},
        {"l_kind": "entropy"},
        {"c": 2},
        {"l": 3, "c": 2},
        {"l": 3, "l_kind": "recursive"},
        {"l": 3, "l_kind": "other"},
        {"l": 2.5},
        {"l": "3"},
        {"t_kind": "kl"},
        {"t": 1.2},
        {"t": 0.1, "t_kind": "cyclic"},
        {"beta_kind": "basic"},
        {"beta": 0},
        {"delta_disclosure": -1},
        {"alpha": 2},
    ],
)
def test_a_setting_that_does_not_fit_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        models_from_settings(wrong, where="sensitive.disease", k=4)


def test_alpha_needs_k() -> None:
    with pytest.raises(InvalidParameter, match="k"):
        models_from_settings({"alpha": 0.5}, where="sensitive.disease")


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("disease", "disease", {}),
        ("disease:l=3,t=0.2", "disease", {"l": 3, "t": 0.2}),
        ("disease: l = 3 , t_kind = ordered", "disease", {"l": 3, "t_kind": "ordered"}),
        ("disease:l-kind=entropy,l=2", "disease", {"l_kind": "entropy", "l": 2}),
        ("icd:main", "icd:main", {}),
        ("icd:main:l=2", "icd:main", {"l": 2}),
        ("a=b", "a=b", {}),
        ("cost:t=1e-3", "cost", {"t": 0.001}),
        ("cost:t=-1", "cost", {"t": -1}),
    ],
)
def test_a_column_and_its_settings_are_told_apart(
    text: str, column: str, expected: dict[str, object]
) -> None:
    assert parse_sensitive(text) == (column, expected)


@pytest.mark.parametrize(
    "text", ["disease:l=", "disease:l=3,t", "disease:=3", "disease:l=3,l=4", ":l=3", "disease:l=3,"]
)
def test_settings_that_are_not_pairs_are_refused(text: str) -> None:
    with pytest.raises(InvalidParameter):
        parse_sensitive(text)


@given(
    column=st.text(min_size=1).filter(lambda text: text.strip() == text),
    l=st.integers(1, 99),
    t=st.floats(0, 1),
)
def test_what_is_written_is_read(column: str, l: int, t: float) -> None:  # noqa: E741
    assert parse_sensitive(f"{column}:l={l},t={t!r}") == (column, {"l": l, "t": t})
