"""Every public query, on every kind of neighbour, told apart by noise only."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.dp import Ledger, NotPrivate, Relation, Unit, assert_dp
from mahrem.dp.accounting import Pure
from mahrem.dp.noise import (
    GaussianNoise,
    GlobalSensitivity,
    LaplaceNoise,
    global_sensitivity,
    laplace_integers,
)
from mahrem.dp.queries import QUERIES, SmoothMedian, answer_query, parse_query

COLUMNS: dict[str, Any] = {
    "x": {"lower": -50, "upper": 100},
    "y": {"lower": 0, "upper": 1000, "missing": 10},
    "g": {"categories": ["a", "b", "c"]},
}
QUESTIONS = [
    "count()",
    "count() by g",
    "count() where x >= 10 and g != 'b'",
    "sum(x)",
    "sum(y) by g",
    "mean(x)",
    "mean(y)",
    "mean(x) by g where y < 500",
    "variance(x)",
    "variance(y) by g",
    "median(x)",
    "median(y) by g",
    "quantile(x, 0.1, 0.25, 0.9)",
    "range(y)",
    "range(x, 0.2, 0.7) by g",
    "histogram(g)",
    "histogram(x, 7)",
    "histogram(y, 3) by g",
    "bounds(x)",
]
ADDING = [text for text in QUESTIONS if not text.startswith(("median", "quantile", "range"))]

numbers = st.one_of(
    st.none(),
    st.floats(-60, 120),
    st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 100.0, -50.0]),
)
rows = st.tuples(numbers, numbers, st.sampled_from(["a", "b", "c", "other", None]), st.integers(0, 3))
tables = st.lists(rows, min_size=1, max_size=12)


def frame(listed: list[Any]) -> pl.DataFrame:
    schema = {"x": pl.Float64, "y": pl.Float64, "g": pl.String, "who": pl.Int64}
    return pl.DataFrame(listed, schema=schema, orient="row")


def ask(question: str, **said: Any) -> Any:
    delta = 1e-4 if said.pop("gaussian", False) else 0.0

    def pipeline(table: pl.DataFrame) -> Any:
        ledger = Ledger.temporary(epsilon=3, delta=1e-3 if delta else 0.0, columns=COLUMNS, **said)
        return answer_query(table, question, ledger=ledger, epsilon=1.0, delta=delta)

    return pipeline


def test_every_kind_of_question_is_tried() -> None:
    kinds = {type(parse_query(text)) for text in QUESTIONS}
    known = {entry.load() for entry in QUERIES.values()}
    assert kinds | {SmoothMedian} == known  # which has a test of its own, under replacement


@given(table=tables, question=st.sampled_from(QUESTIONS), place=st.integers(0, 11))
@settings(max_examples=80, deadline=None)
def test_a_row_more_or_less_is_covered_by_noise(table: list[Any], question: str, place: int) -> None:
    without = [row for number, row in enumerate(table) if number != place % len(table)]
    evidence = assert_dp(ask(question), frame(table), frame(without))
    assert evidence.epsilon() == pytest.approx(1.0)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("far", [1e5, -1e5])
def test_a_value_far_outside_the_bounds_is_covered_by_noise(question: str, far: float) -> None:
    table = frame([(10.0, 10.0, "a", 0), (20.0, 30.0, "b", 1), (far, far, "a", 2)])
    assert_dp(ask(question), table, table[:2])
    changed = pl.concat([table[:2], frame([(-far, -far, "b", 2)])])
    assert_dp(ask(question, relation="replace"), table, changed)


@given(table=tables, other=rows, question=st.sampled_from(QUESTIONS), place=st.integers(0, 11))
@settings(max_examples=80, deadline=None)
def test_a_row_exchanged_is_covered_by_noise(table: list[Any], other: Any, question: str, place: int) -> None:
    changed = [other if number == place % len(table) else row for number, row in enumerate(table)]
    assert_dp(ask(question, relation="replace", rows=len(table)), frame(table), frame(changed))


@given(table=tables, question=st.sampled_from(ADDING), place=st.integers(0, 11), relation=st.booleans())
@settings(max_examples=40, deadline=None)
def test_gaussian_noise_covers_the_same(
    table: list[Any], question: str, place: int, *, relation: bool
) -> None:
    place %= len(table)
    other = table[:place] + ([(0.0, 900.0, "c", 1)] if relation else []) + table[place + 1 :]
    kind = "replace" if relation else "add-remove"
    assert_dp(ask(question, relation=kind, gaussian=True), frame(table), frame(other))


@given(table=tables, question=st.sampled_from(QUESTIONS), who=st.integers(0, 3), most=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_a_person_with_all_rows_is_covered_by_noise(
    table: list[Any], question: str, who: int, most: int
) -> None:
    without = [row for row in table if row[3] != who]
    assert_dp(ask(question, subject="who", rows_per_person=most), frame(table), frame(without))


@given(
    table=tables, other=rows, place=st.integers(0, 11), relation=st.sampled_from(["add-remove", "replace"])
)
@settings(max_examples=40, deadline=None)
def test_scores_of_all_groups_together_move_no_more_than_claimed(
    table: list[Any], other: Any, place: int, relation: str
) -> None:
    place %= len(table)
    changed = table[:place] + ([other] if relation == "replace" else []) + table[place + 1 :]
    evidence = assert_dp(ask("median(y) by g", relation=relation), frame(table), frame(changed))
    assert sum(evidence.moved) <= evidence.claimed[0]


@given(table=tables, place=st.integers(0, 11), value=numbers)
@settings(max_examples=30, deadline=None)
def test_a_smooth_median_is_covered_under_replacement(table: list[Any], place: int, value: Any) -> None:
    changed = [(row[0], value, *row[2:]) if n == place % len(table) else row for n, row in enumerate(table)]
    pipeline = ask("smooth_median(y)", relation="replace", gaussian=True)
    assert_dp(pipeline, frame(table), frame(changed))


def test_one_broken_record_changes_nothing_but_its_own_part() -> None:
    table = frame([(10.0, 10.0, "a", 0)] * 20)
    broken = pl.concat([table, frame([(math.nan, math.inf, "a", 1)])])
    evidence = assert_dp(ask("mean(x)"), broken, table)
    assert evidence.moved == (0.0,)  # the NaN is left out, as declared
    ledger = Ledger.temporary(epsilon=15, columns=COLUMNS)
    answer = answer_query(broken, "mean(y)", ledger=ledger, epsilon=10)
    assert math.isfinite(answer.value)


PEOPLE = pl.DataFrame({"x": [1.0, 2.0, 3.0, 90.0], "g": ["a", "b", "a", "b"]})
ONE = global_sensitivity(0, 100, Relation.ADD_REMOVE, Unit(), grouped=False, optional=False)


def unclipped(table: pl.DataFrame) -> Any:
    return laplace_integers(ONE, epsilon=1.0)([int(table["x"].sum()) * 100])


def own_bounds(table: pl.DataFrame) -> Any:
    top = int(table["x"].max())  # type: ignore[arg-type]
    reach = GlobalSensitivity(relation=Relation.ADD_REMOVE, l1=top, l2_squared=top**2, linf=top, single=True)
    return laplace_integers(reach, epsilon=1.0)([int(table["x"].sum())])


def own_count(table: pl.DataFrame) -> Any:
    (noisy,) = laplace_integers(ONE, epsilon=1.0)([int(table["x"].sum())])
    return (noisy + 10**6) / len(table)  # never 0, which any number of rows divides alike


def own_groups(table: pl.DataFrame) -> Any:
    counts = table.filter(pl.col("x") > 3)["g"].value_counts()["count"].to_list()
    return laplace_integers(ONE, epsilon=1.0)(counts)


def own_budget(table: pl.DataFrame) -> Any:
    ledger = Ledger.temporary(epsilon=5, columns=COLUMNS)
    return answer_query(table, "count()", ledger=ledger, epsilon=1 / len(table)).rows


def own_noise(table: pl.DataFrame) -> Any:
    ledger = Ledger.temporary(epsilon=5)
    ledger.spend(Pure(0.001), what="a little")
    return laplace_integers(ONE, epsilon=1.0)([len(table)])


def pays_once(table: pl.DataFrame) -> Any:
    noise = laplace_integers(ONE, epsilon=1.0)
    Ledger.temporary(epsilon=5).spend(noise.event, what="sum")
    return [noise([int(table["x"].clip(0, 100).sum())]) for _ in range(2)]


def unclipped_float(table: pl.DataFrame) -> Any:
    return LaplaceNoise(scale=1.0, sensitivity=10.0)(float(table["x"].sum()))


def claims_nothing(table: pl.DataFrame) -> Any:
    return GaussianNoise(sigma=1.0)(float(table["x"].clip(0, 1).sum()))


def asks_until_content(table: pl.DataFrame) -> Any:
    noise = laplace_integers(ONE, epsilon=1.0)
    return [noise([len(table)]) for _ in range(len(table))]


def warns_of_it(table: pl.DataFrame) -> Any:
    if table["x"].max() > 80:
        warnings.warn("a cell lies far outside", UserWarning, stacklevel=2)
    return laplace_integers(ONE, epsilon=1.0)([int(table["x"].clip(0, 100).sum())])


@pytest.mark.parametrize(
    ("leak", "reason"),
    [
        pytest.param(
            warns_of_it, "a warning depends", marks=pytest.mark.filterwarnings("ignore:a cell lies")
        ),
        (unclipped, "more than"),
        (own_bounds, "depend"),
        (own_count, "result differs"),
        (own_groups, "depend"),
        (own_budget, "paid for depends"),
        (own_noise, "nobody paid"),
        (pays_once, "gave away 1.8"),
        (unclipped_float, "moved by more than 10"),
        (claims_nothing, "no sensitivity is claimed"),
        (asks_until_content, "mechanisms were used"),
    ],
)
def test_faults_of_glue_code_are_found(leak: Any, reason: str) -> None:
    with pytest.raises(NotPrivate, match=reason):
        assert_dp(leak, PEOPLE, PEOPLE[:3])


@pytest.mark.parametrize(
    "result",
    [
        lambda noisy: {"a": [noisy, np.array([1.0, math.nan])]},
        lambda noisy: pl.DataFrame({"a": [noisy]}),
        lambda noisy: (noisy, math.nan),
    ],
)
def test_equal_results_of_any_kind_are_seen_as_equal(result: Any) -> None:
    def pipeline(table: pl.DataFrame) -> Any:
        return result(laplace_integers(ONE, epsilon=1.0)([int(table["x"].clip(0, 100).sum())])[0])

    assert assert_dp(pipeline, PEOPLE, PEOPLE[:3]).moved == (90.0,)


def test_noise_on_floats_is_held_to_the_sensitivity_it_claims() -> None:
    def pipeline(table: pl.DataFrame) -> Any:
        total = float(table["x"].clip(0, 10).sum())
        laplace, gaussian = (
            LaplaceNoise(scale=20.0, sensitivity=10.0),
            GaussianNoise(sigma=90.0, sensitivity=10.0),
        )
        ledger = Ledger.temporary(epsilon=2, delta=1e-5)
        ledger.spend(laplace.event(), what="sum")
        ledger.spend(gaussian.event(), what="sum", delta=1e-6)
        return laplace(total), gaussian(total)

    evidence = assert_dp(pipeline, PEOPLE, PEOPLE[:3])
    assert evidence.moved == evidence.claimed == (10.0, 10.0)
    assert 0.5 < evidence.epsilon(1e-5) < 2


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("grouped", [False, True])
def test_the_claimed_sensitivity_is_reached_by_some_neighbour(relation: Relation, *, grouped: bool) -> None:
    claimed = global_sensitivity(-3, 5, relation, Unit(), grouped=grouped, optional=False)
    options = [(group, value) for group in range(2 if grouped else 1) for value in (-3, 5)]
    changes = []
    for one in options:
        for two in [None] if relation is Relation.ADD_REMOVE else options:
            change = np.zeros(2)
            change[one[0]] += one[1]
            if two is not None:
                change[two[0]] -= two[1]
            changes.append(np.abs(change).sum())
    assert max(changes) == claimed.l1
