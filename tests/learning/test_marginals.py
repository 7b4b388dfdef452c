"""Synthetic tables from noisy marginals: neighbours, leaks of the domain, refusals, conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from mahrem.dp import Ledger, NotPrivate, Relation, Unit, assert_dp
from mahrem.errors import BudgetExceeded, Infeasible, InvalidParameter
from mahrem.learning.synthesis import Marginals, SyntheticSchema, make_synthesiser
from mahrem.learning.synthesis._marginal_plan import MarginalBudget, MarginalPlan, plan_marginals

FACTS: dict[str, Any] = {
    "age": {"lower": 0, "upper": 99},
    "cost": {"lower": 0.0, "upper": 999.5},
    "sex": {"categories": ["f", "m"]},
    "ill": {"categories": ["no", "yes"]},
}
GAPS = SyntheticSchema(missing=("cost", "ill"))
DELTA = 1e-6


def people(rows: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    ill = rng.random(rows) < age / 120
    cost = np.where(ill, 500.0, 50.0) + rng.normal(0, 20, rows)
    return pl.DataFrame(
        {"age": age, "cost": cost, "sex": rng.choice(["f", "m"], rows), "ill": np.where(ill, "yes", "no")}
    )


def fitted(table: pl.DataFrame, *, epsilon: float = 1.0, relation: str = "add-remove", **more: Any) -> Any:
    book = {name: more.pop(name) for name in ("subject", "rows_per_person", "rows") if name in more}
    columns = more.pop("facts", FACTS)
    ledger = Ledger.temporary(epsilon=epsilon, delta=DELTA, relation=relation, columns=columns, **book)
    settings = {"schema": GAPS, **more}
    return Marginals(epsilon=epsilon, delta=DELTA, **settings).fit(table, ledger=ledger)


def published(table: pl.DataFrame, **more: Any) -> tuple[Any, ...]:
    model = fitted(table, **more)
    return model.sample(300, seed=4), model.rows_, model.describe(), model.guarantee_


NEW = pl.DataFrame({"age": [7], "cost": [1e300], "sex": ["divers"], "ill": ["perhaps"]})
ODD = pl.DataFrame({"age": [-5], "cost": [float("nan")], "sex": ["f"], "ill": [None]})


@pytest.mark.parametrize(("target", "extra"), [(None, ODD), ("ill", NEW), ("ill", people(1, seed=9))])
@pytest.mark.parametrize(("rounds", "tables"), [(0, 0), (2, 2)], ids=["a tree", "and rounds"])
def test_one_row_more_is_told_apart_by_noise_only(
    target: str | None, extra: pl.DataFrame, rounds: int, tables: int
) -> None:
    table = people(3000)
    more = pl.concat([table, extra], how="vertical_relaxed")
    evidence = assert_dp(lambda rows: published(rows, target=target, rounds=rounds, rows=3000), table, more)
    assert len(evidence.moved) == 4 + 2 * (3 + tables)  # columns, a selection and a table for each clique
    assert evidence.epsilon(DELTA) <= 1 + 1e-9


def test_loops_are_closed() -> None:
    """Three columns that hang together in pairs: a tree of pairs keeps two of them."""
    rng = np.random.default_rng(5)
    cells = (rng.random(20_000) < 0.5)[:, None] ^ (rng.random((20_000, 3)) < 0.2)  # one cause, seen thrice
    table = pl.DataFrame({name: np.where(cells[:, place], "y", "n") for place, name in enumerate("abc")})
    columns = {name: {"categories": ["n", "y"]} for name in "abc"}

    def farthest(epsilon: float) -> float:
        ledger = Ledger.temporary(epsilon=epsilon, delta=DELTA, columns=columns, rows=20_000)
        fitted = Marginals(epsilon=epsilon, delta=DELTA, width=1).fit(table, ledger=ledger)
        assert fitted.rows is not None
        made = fitted.sample(20_000, seed=1)
        apart = []
        for pair in (["a", "b"], ["b", "c"], ["a", "c"]):
            real, drawn = (
                one.select(pl.concat_str(pair))
                .to_series()
                .value_counts()
                .sort(pair[0])["count"]
                .cast(pl.Int64)
                .to_numpy()
                for one in (table, made)
            )
            apart.append(np.abs(real - drawn).sum() / 40_000)
        return max(apart)

    assert farthest(4.0) < 0.02


def test_columns_alone_are_kept_and_nothing_that_goes_together() -> None:
    model = fitted(people(5000), width=0, epsilon=2.0)
    assert model.plan.selection is None
    drawn = model.sample(5000, seed=1)
    by = dict(drawn.group_by("ill").agg(pl.col("cost").mean()).iter_rows())
    assert abs(by["yes"] - by["no"]) < 60  # 450 in the source
    with pytest.raises(InvalidParameter, match="width=0"):
        Marginals(epsilon=1.0, delta=DELTA, width=0, target="ill")


def test_one_row_exchanged_is_told_apart_by_noise_only() -> None:
    table = people(3000)
    other = pl.concat([table[:-1], ODD], how="vertical_relaxed")
    assert_dp(lambda rows: published(rows, relation="replace", rows=3000), table, other)


def test_all_rows_of_a_person_are_told_apart_by_noise_only() -> None:
    table = people(3000).with_columns(who=pl.Series(np.arange(3000) // 3))
    less = table.filter(pl.col("who") != 7)
    assert_dp(lambda rows: published(rows, subject="who", rows_per_person=2), table, less)


def test_a_new_category_changes_nothing_observable() -> None:
    """The domain leak test: its row is left out, so not even the counts before noise move."""
    table = people(3000)
    more = pl.concat([table, NEW], how="vertical_relaxed")
    evidence = assert_dp(published, table, more)
    assert set(evidence.moved) == {0.0}
    sexes = set(fitted(more).sample(2000)["sex"].to_list())
    assert sexes <= {"f", "m"}


def test_a_domain_read_off_the_data_is_caught() -> None:
    """The test above can fail: this synthesiser declares what it sees."""

    def leaky(table: pl.DataFrame) -> tuple[Any, ...]:
        seen = sorted(table["sex"].unique().to_list())
        facts = {**FACTS, "sex": {"categories": [*seen, *"xyz"][:4]}}  # as many cells, whatever is seen
        return published(table, facts=facts)

    table = people(2000)
    with pytest.raises(NotPrivate, match=r"more than|result differs"):
        assert_dp(leaky, table, pl.concat([table, NEW], how="vertical_relaxed"))


def test_what_goes_together_goes_together_in_the_synthetic_table() -> None:
    model = fitted(people(20_000), epsilon=3.0, target="ill")
    drawn = model.sample(20_000, seed=1)
    by = dict(drawn.group_by("ill").agg(pl.col("cost").mean()).iter_rows())
    assert by["yes"] > 400  # 500 in the source; noise moves it by far less
    assert by["no"] < 150
    old = drawn.filter(pl.col("age") > 80)["ill"].eq("yes").mean()
    young = drawn.filter(pl.col("age") < 20)["ill"].eq("yes").mean()
    assert old > 0.55
    assert young < 0.25
    assert abs(model.rows_ - 20_000) < 2_000


@pytest.mark.parametrize("many", ["rows of a person", "rows left out"])
def test_a_public_number_that_is_not_that_of_the_rows_counted_moves_nothing(many: str) -> None:
    rng = np.random.default_rng(1)
    kind = rng.choice(["x", "y", "z"], 9000, p=[0.6, 0.3, 0.1])
    table = pl.DataFrame({"kind": kind, "size": rng.integers(0, 5, 9000), "who": np.arange(9000) // 3})
    columns = {"kind": {"categories": ["x", "y", "z"]}, "size": {"lower": 0, "upper": 4}}
    said: dict[str, Any] = {"epsilon": 5, "delta": 1e-6, "columns": columns}
    if many == "rows of a person":
        ledger = Ledger.temporary(**said, subject="who", rows_per_person=3, rows=3000)
    else:
        ledger = Ledger.temporary(**said, rows=9000)
        table = table.with_columns(size=pl.when(pl.int_range(pl.len()) % 2 == 0).then("size"))
    schema = SyntheticSchema(columns=("kind", "size"))
    model = Marginals(epsilon=5, delta=1e-6, schema=schema).fit(table, ledger=ledger)
    shares = dict(model.sample(9000, seed=1)["kind"].value_counts(normalize=True).iter_rows())
    assert shares == pytest.approx({"x": 0.6, "y": 0.3, "z": 0.1}, abs=0.03)
    assert model.rows_ == pytest.approx(9000 if many == "rows of a person" else 4500, rel=0.05)


def test_conditions_hold_in_every_row() -> None:
    model = fitted(people(5000), epsilon=2.0)
    drawn = model.sample(500, given={"sex": "f", "age": (18, 20), "cost": (100.0, 900.0)})
    assert set(drawn["sex"]) == {"f"}
    assert drawn["age"].is_between(18, 20).all()
    assert drawn["cost"].is_between(100.0, 900.0).all()
    assert model.sample(50, given={"ill": None})["ill"].null_count() == 50
    with pytest.raises(InvalidParameter, match="not declared"):
        model.sample(5, given={"sex": "x"})
    with pytest.raises(InvalidParameter, match="not among"):
        model.sample(5, given={"height": 3})
    with pytest.raises(InvalidParameter, match="nothing that is declared"):
        model.sample(5, given={"age": (200, 300)})


def test_a_declared_value_that_nobody_has_can_be_asked_for() -> None:
    facts = {**FACTS, "sex": {"categories": ["f", "m", "x"]}}
    model = fitted(people(5000), facts=facts, epsilon=5.0)
    assert set(model.sample(30, given={"sex": "x"})["sex"]) == {"x"}


def test_a_seed_repeats_a_draw_and_batches_are_the_same_rows() -> None:
    model = fitted(people(1500))
    assert model.sample(400, seed=3).equals(model.sample(400, seed=3))
    assert not model.sample(400, seed=3).equals(model.sample(400, seed=4))
    assert sum(part.height for part in model.batches(150_000, seed=1)) == 150_000


@pytest.mark.parametrize("columns", [("ill",), ("sex", "ill")])
def test_few_columns_work_too(columns: tuple[str, ...]) -> None:
    facts = {name: FACTS[name] for name in columns}
    model = fitted(people(2000), facts=facts, schema=SyntheticSchema())
    assert model.sample(100).columns == list(columns)


def test_an_empty_table_gives_rows_and_no_error() -> None:
    assert fitted(people(2)[:0]).sample(10).height == 10


def test_a_budget_too_small_for_any_marginal_is_refused_and_says_what_would_do() -> None:
    ledger = Ledger.temporary(epsilon=1, delta=DELTA, columns=FACTS, rows=500)
    with pytest.raises(Infeasible, match=r"epsilon of about .* would do.*nothing was spent") as caught:
        Marginals(epsilon=0.001, delta=DELTA).fit(people(500), ledger=ledger)
    assert ledger.spent().epsilon == 0
    assert caught.value.reached is not None
    assert 0.01 < caught.value.reached < 10


@pytest.mark.parametrize(
    ("settings", "error", "match"),
    [
        ({"epsilon": 2.0}, BudgetExceeded, "does not fit"),
        ({"delta": 0.0}, InvalidParameter, "needs a delta"),
        ({"epsilon": -1.0}, InvalidParameter, "above 0"),
        ({"epsilon": float("nan")}, InvalidParameter, "finite"),
        ({"width": 9}, InvalidParameter, "between 0 and 4"),
        ({"target": "height"}, InvalidParameter, "height"),
        ({"schema": SyntheticSchema(columns=("age", "height"))}, KeyError, "height"),
        ({"schema": SyntheticSchema(constraints=("age <= sex",))}, InvalidParameter, "numbers"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_spent(
    settings: dict[str, Any], error: type[Exception], match: str
) -> None:
    ledger = Ledger.temporary(epsilon=1, delta=DELTA, columns=FACTS)
    with pytest.raises(error, match=match):
        Marginals(**{"epsilon": 1.0, "delta": DELTA, **settings}).fit(people(100), ledger=ledger)
    assert ledger.spent().epsilon == 0


def test_rules_that_contradict_each_other_are_refused_before_anything_is_spent() -> None:
    facts = {
        name: {"lower": low, "upper": high} for name, low, high in (("a", 5, 9), ("b", 0, 9), ("c", 0, 3))
    }
    ledger = Ledger.temporary(epsilon=1, delta=DELTA, columns=facts)
    table = pl.DataFrame({"a": [5] * 100, "b": [4] * 100, "c": [3] * 100})
    schema = SyntheticSchema(constraints=("a <= b", "b <= c"))
    with pytest.raises(InvalidParameter, match="cannot be kept"):
        Marginals(epsilon=1.0, delta=DELTA, schema=schema).fit(table, ledger=ledger)
    assert ledger.spent().epsilon == 0


def test_sums_whose_bounds_seem_to_leave_room_are_refused_before_anything_is_spent() -> None:
    facts = {"a": (0, 10), "b": (0, 10), "t1": (0, 8), "t2": (8.01, 20)}
    columns = {name: {"lower": low, "upper": high} for name, (low, high) in facts.items()}
    ledger = Ledger.temporary(epsilon=1, delta=DELTA, columns=columns)
    schema = SyntheticSchema(kinds=dict.fromkeys(facts, "number"), constraints=("t1 = a + b", "t2 = a + b"))
    with pytest.raises(InvalidParameter, match="cannot be kept together"):
        Marginals(epsilon=1.0, delta=DELTA, schema=schema).fit(
            pl.DataFrame({name: [5.0] * 100 for name in facts}), ledger=ledger
        )
    assert ledger.spent().epsilon == 0


def test_a_ledger_that_speaks_of_another_table_is_refused() -> None:
    ledger = Ledger.temporary(epsilon=1, delta=DELTA, columns={**FACTS, "height": {"lower": 0, "upper": 9}})
    with pytest.raises(KeyError, match="height"):
        Marginals(epsilon=1, delta=DELTA).fit(people(100), ledger=ledger)


def test_totals_are_added_up_and_cost_nothing() -> None:
    facts = {
        "part": {"lower": 0, "upper": 50},
        "rest": {"lower": 0, "upper": 50},
        "total": {"lower": 0, "upper": 100},
    }
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"part": rng.integers(0, 50, 2000), "rest": rng.integers(0, 50, 2000)})
    table = table.with_columns(total=pl.col("part") + pl.col("rest"))
    schema = SyntheticSchema(constraints=("total = part + rest", "part <= rest"))
    model = fitted(table, facts=facts, schema=schema)
    assert model.plan.columns == 2
    drawn = model.sample(1000)
    assert drawn.columns == ["part", "rest", "total"]
    assert (drawn["part"] + drawn["rest"] == drawn["total"]).all()
    assert (drawn["part"] <= drawn["rest"]).all()
    hard = model.sample(300, given={"part": (28, 50), "rest": (0, 30)})  # rarely drawn: most are repaired
    assert hard["part"].is_between(28, 50).all()
    assert hard["rest"].is_between(0, 30).all()
    assert (hard["part"] <= hard["rest"]).all()
    with pytest.raises(InvalidParameter, match="on its parts"):
        model.sample(5, given={"total": (0, 3)})
    with pytest.raises(InvalidParameter, match="cannot be kept"):
        model.sample(5, given={"part": (31, 50), "rest": (0, 30)})


def test_the_plan_spends_what_it_says_under_both_relations() -> None:
    from mahrem.dp import Relation, Unit
    from mahrem.dp.accounting import epsilon_of

    for relation in Relation:
        plan = plan_marginals(MarginalBudget(0.7, 1e-7, relation, Unit()), columns=6)
        assert 0.69 < epsilon_of(plan.event, 1e-7, relation) <= 0.7
    alone = plan_marginals(MarginalBudget(0.7, 1e-7, Relation.ADD_REMOVE, Unit()), columns=6)
    assert plan.one_way.scale == pytest.approx(alone.one_way.scale * 2**0.5, rel=0.02)


def test_an_unknown_method_and_an_unknown_option_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="one of marginals"):
        make_synthesiser("magic", epsilon=1, delta=DELTA)
    with pytest.raises(InvalidParameter, match="does not know"):
        make_synthesiser("marginals", epsilon=1, delta=DELTA, colour="red")


@pytest.mark.parametrize(("rows", "columns"), [(9_108, 9), (3_174, 17)])
def test_rounds_are_paid_for_only_where_counts_stand_out(rows: int, columns: int) -> None:
    """Below that the tree has all of the budget, and its noise is that of a plan without rounds."""

    def plan(epsilon: float, rounds: int) -> MarginalPlan:
        budget = MarginalBudget(epsilon, 1e-6, Relation.ADD_REMOVE, Unit())
        return plan_marginals(budget, columns=columns, rows=rows, rounds=rounds)

    scarce, alone, ample = plan(0.1, 6), plan(0.1, 0), plan(10.0, 6)
    assert scarce.rounds == ()
    assert scarce.clique is not None
    assert alone.clique is not None
    assert scarce.clique.scale == alone.clique.scale
    assert len(ample.rounds) == 6


def test_what_goes_with_the_target_inside_of_a_group_is_kept() -> None:
    number = np.random.default_rng(0).integers(0, 1000, 20_000)  # sixteen groups of about 60 numbers
    table = pl.DataFrame({"n": number, "odd": np.where(number % 2, "yes", "no")})
    facts = {"n": {"lower": 0, "upper": 999}, "odd": {"categories": ["no", "yes"]}}
    shares = {}
    for rows in (None, 20_000):
        ledger = Ledger.temporary(epsilon=10 if rows else 0.5, delta=DELTA, columns=facts, rows=rows)
        made = Marginals(epsilon=ledger.epsilon, delta=DELTA, target="odd").fit(table, ledger=ledger)
        drawn = made.sample(20_000, seed=1)
        shares[rows] = np.mean((drawn["n"].to_numpy() % 2 == 1) == (drawn["odd"] == "yes").to_numpy())
        given = made.sample(50, seed=1, given={"n": (10, 19), "odd": "yes"})
        assert given["n"].is_between(10, 19).all()
        assert (given["odd"] == "yes").all()
    assert shares[20_000] > 0.8
    assert shares[None] < 0.6  # little budget: cells are not counted by classes
