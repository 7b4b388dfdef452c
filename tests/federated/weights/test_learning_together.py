from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.runs import TableSharing, WeightsSimulation, simulate, split_table, train_alone
from mahrem.federated.weights import (
    LearningPlan,
    SharedModel,
    SharedSchema,
    TrainingSilo,
    learn_together,
    propose_schema,
)
from mahrem.federated.wire import ClientPool, LocalGrid, Message
from mahrem.table import Hierarchy
from silo_learning import Lying, accuracy, learnt, people, silos

QUICK = LearningPlan(model="logistic", rounds=3, rate=0.1)
KEPT = {"quasi": ("age", "town"), "k": 3}


@pytest.mark.parametrize(
    "plan",
    [
        LearningPlan(rounds=6, rate=0.1, hidden=(16, 8, 8)),
        LearningPlan(model="logistic", rounds=6, rate=0.1),
        LearningPlan(model="boosting", rounds=10, depth=3),
        LearningPlan(model="logistic", rounds=6, rate=0.1, proximal=0.01),
    ],
)
def test_every_model_learns_from_original_and_anonymised_silos(plan: LearningPlan) -> None:
    for policy in (None, KEPT):
        found = learnt(plan, policy=policy)
        assert accuracy(found.model) > 0.8
        assert all(report["anonymised"] is (policy is not None) for report in found.reports.values())


def test_anonymised_silos_report_what_they_promise_and_train_on_nothing_else() -> None:
    made = silos(QUICK, split_table(people(), "class", clients=2), KEPT)
    one = made["client-1"]
    rows, _, report = one.ready
    assert report["holds"]
    assert report["promises"][0]["reached"] >= 3
    cells = [index for index, name in enumerate(one.schema.encoder.names) if name.startswith(("age", "town"))]
    _, sizes = np.unique(rows[:, cells], axis=0, return_counts=True)
    assert sizes.min() >= 3


@pytest.mark.parametrize("model", ["logistic", "mlp", "boosting"])
def test_masked_sums_give_the_plain_model(model: Any) -> None:
    exact = {"cell_epsilon": 0} if model == "boosting" else {}
    plan = replace(QUICK, model=model, rounds=2, depth=2, **exact)
    plain, masked = learnt(plan), learnt(replace(plan, sum="masked"))
    for name, held in plain.model.arrays.items():
        assert np.allclose(held, masked.model.arrays[name], atol=1e-5)


def test_under_a_hidden_sum_rows_are_told_in_tens() -> None:
    """The difference of exact numbers in two runs tells that somebody came."""
    for sums, told in (("masked", 240), ("plain", 247)):
        plan, schema = LearningPlan(model="logistic", sum=sums), propose_schema(people(), "class")
        silo = TrainingSilo("a", people(247), schema, plan).for_grid()
        agreed = plan.fingerprint(schema.fingerprint())
        body = {"protocol": 1, "agreed": agreed, "rounds": 1}
        answer = silo.answer(Message("prepare", "run", 0, body)).body
        assert answer == {"report": {"anonymised": False, "rows": told}}


@settings(max_examples=8, deadline=None)
@given(st.integers(5, 36), st.sampled_from([2, 3, 40]), st.integers(0, 1))
def test_what_a_hidden_sum_tells_of_a_silo_is_the_same_for_all_tables_of_as_many_tens(
    tens: int, k: int, diverse: int
) -> None:
    """Of classes and their mean size, or from why a policy cannot be kept, the server got the exact rows."""
    plan, schema = LearningPlan(model="logistic", sum="masked"), propose_schema(people(), "class")
    sensitive = {"sensitive": {"class": {"l": 3}}} if diverse else {}
    told = []
    for rows in (10 * tens, 10 * tens + 3, 10 * tens + 9):
        policy = {"quasi": ["age", "town"], "k": k, **sensitive}
        silo = TrainingSilo("a", people(rows), schema, plan, policy).for_grid()
        agreed = plan.fingerprint(schema.fingerprint())
        body = {"protocol": 1, "agreed": agreed, "rounds": 1}
        try:
            told.append(silo.answer(Message("prepare", "run", 0, body)).body)
        except InvalidInput as error:
            told.append({"why": str(error)})
    asked = [{"model": "k-anonymity", "wanted": k, "holds": True, "column": None}]
    if diverse:
        asked += [{"model": "distinct-l-diversity", "wanted": 3, "holds": True, "column": "class"}]
    assert told[0] in (
        {"report": {"anonymised": True, "holds": True, "promises": asked, "rows": 10 * tens}},
        {"why": "this silo cannot take part; where what it sends is hidden or noisy it tells nobody why"},
    )
    if 10 * tens >= k:
        assert told[0] == told[1] == told[2]


def test_a_masked_client_refuses_to_send_weights_in_the_clear() -> None:
    plan = replace(QUICK, sum="masked")
    (silo, *_) = silos(plan, {"a": people(), "b": people()}).values()
    with pytest.raises(InvalidInput, match="hidden only"):
        silo.for_grid().answer(Message("train", "r", 1, {"weights": np.zeros(3, np.float32)}))


def test_under_a_hidden_sum_no_weights_of_the_server_make_a_silo_refuse() -> None:
    """From refusals at weights of its own choice a server could tell a silo's update."""
    plan = replace(QUICK, sum="masked", rounds=4)
    silo = silos(plan, {"a": people(), "b": people()})["a"]
    size = plan.weights_in(silo.ready[0].shape[1], len(silo.schema.classes))
    for number, edge in enumerate((0.0, 1000.0, -1000.0), 2):  # where a run begins is agreed on
        numbers = silo.numbers("train", {"weights": np.full(size, edge, np.float32), "round": number})
        assert numbers.shape == (size + 1,)


@pytest.mark.parametrize(("aggregate", "clients"), [("median", 3), ("trimmed", 3), ("krum", 5)])
def test_robust_rules_learn_where_the_mean_is_led_astray(aggregate: Any, clients: int) -> None:
    plan = replace(QUICK, rounds=5)
    liar = {"client_2": lambda silo: Lying(silo, lambda weights: -20 * np.sign(weights))}
    assert accuracy(learnt(plan, clients, **liar).model) < 0.6
    assert accuracy(learnt(replace(plan, aggregate=aggregate), clients, **liar).model) > 0.8


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        (lambda weights: np.full_like(weights, np.nan), "not numbers"),
        (lambda weights: np.full_like(weights, np.inf), "not numbers"),
        (lambda weights: np.full_like(weights, 1e30), "beyond"),
        (lambda weights: weights[:-1], "another shape"),
        (lambda weights: weights.astype(np.int64), "no weights"),
        (lambda _: "none", "no weights"),
    ],
)
def test_weights_that_cannot_be_are_refused_client_by_client(lie: Any, why: str) -> None:
    found = learnt(QUICK, client_2=lambda silo: Lying(silo, lie))
    assert found.nodes == ("client-1", "client-3")
    assert all(why in told for told in found.refused["client-2"].values())
    assert len(found.refused["client-2"]) == 3
    with pytest.raises(Infeasible):
        learnt(QUICK, client_1=lambda silo: Lying(silo, lie), client_2=lambda silo: Lying(silo, lie))


def test_a_silo_that_cannot_keep_its_policy_is_left_out_and_named() -> None:
    parts = split_table(people(), "class", clients=3)
    parts["tiny"] = people(2)
    plan = LearningPlan(model="boosting", rounds=3, depth=2)
    found = learn_together(LocalGrid(silos(plan, parts, KEPT)), propose_schema(people(), "class"), plan)
    assert found.nodes == ("client-1", "client-2", "client-3")
    assert list(found.left_out) == ["tiny"]
    assert "k" in found.left_out["tiny"]
    hard = {**KEPT, "k": 5000}
    with pytest.raises(Infeasible):
        learn_together(LocalGrid(silos(plan, parts, hard)), propose_schema(people(), "class"), plan)


def test_one_quasi_identifier_may_be_named_alone_and_trees_that_were_agreed_on_are_used() -> None:
    tree = Hierarchy.from_rows([("ash", "soft", "*"), ("elm", "hard", "*"), ("oak", "hard", "*")])
    schema = replace(propose_schema(people(), "class"), hierarchies={"town": tree})
    silo = TrainingSilo("a", people(60).head(9), schema, QUICK, {"quasi": "town", "k": 4})
    rows, _, report = silo.ready
    assert report["holds"]
    towns = [place for place, name in enumerate(schema.encoder.names) if name.startswith("town=")]
    shares = {tuple(row) for row in rows[:, towns].astype(np.float64).round(4).tolist()}
    assert shares <= {(1, 0, 0), (0, 0.5, 0.5), (0.3333, 0.3333, 0.3333), (0, 1, 0), (0, 0, 1)}
    assert shares & {(0, 0.5, 0.5), (0.3333, 0.3333, 0.3333)}


def test_a_client_of_another_plan_schema_or_table_is_left_out() -> None:
    made = silos(QUICK, split_table(people(), "class", clients=4))
    made["client-1"].plan = replace(QUICK, rate=0.5)
    made["client-2"].frame = people().drop("town")
    found = learn_together(LocalGrid(made), propose_schema(people(), "class"), QUICK)
    assert found.nodes == ("client-3", "client-4")
    assert "agreed" in found.left_out["client-1"]
    assert "town" in found.left_out["client-2"]


def test_a_client_that_drops_out_of_boosting_is_left_out_for_good() -> None:
    plan = LearningPlan(model="boosting", rounds=4, depth=2)
    made = silos(plan, split_table(people(), "class", clients=3))
    lost = lambda node, message: node == "client-3" and message.round == plan.depth * 2  # noqa: E731
    found = learn_together(LocalGrid(made, lost=lost), propose_schema(people(), "class"), plan)
    assert list(found.left_out) == ["client-3"]
    assert found.model.rounds == 4
    assert accuracy(found.model) > 0.8


def test_trees_of_silos_are_those_of_all_rows_together() -> None:
    plan = LearningPlan(model="boosting", rounds=5, depth=3)
    schema = propose_schema(people(), "class")
    together, alone = learnt(plan).model, train_alone(people(), schema, plan).model
    assert np.array_equal(together.arrays["forest-feature"], alone.arrays["forest-feature"])
    assert np.allclose(together.arrays["forest-value"], alone.arrays["forest-value"], atol=1e-4)


def test_three_classes_are_learnt() -> None:
    names = pl.Series("class", np.digitize(people()["age"].to_numpy(), [40, 65])).cast(pl.String)
    frame = people().with_columns(names)
    schema = propose_schema(frame, "class")
    for plan in (LearningPlan(model="boosting", rounds=8, depth=2), LearningPlan(rounds=20, rate=0.1)):
        model = train_alone(frame, schema, plan).model
        assert (model.predict(frame) == frame["class"].to_numpy()).mean() > 0.9


def test_few_of_many_clients_take_part_and_few_are_held() -> None:
    plan = replace(QUICK, fraction=0.1, rounds=8)
    parts = split_table(people(2000), "class", clients=100)
    schema = propose_schema(people(), "class")
    pool = ClientPool(tuple(parts), lambda name: TrainingSilo(name, parts[name], schema, plan), keep=12)
    counts: list[int] = []
    found = learn_together(LocalGrid(pool), schema, plan, after=lambda _, clients: counts.append(clients))
    assert counts == [10] * 8
    assert 10 < len(found.nodes) <= 80
    assert len(pool._held) <= 12
    assert accuracy(found.model) > 0.8


def test_drawn_clients_may_add_under_masks() -> None:
    plan = replace(QUICK, fraction=0.5, rounds=3)
    plain, masked = learnt(plan, 8), learnt(replace(plan, sum="masked"), 8)
    assert plain.nodes == masked.nodes
    assert np.allclose(plain.model.arrays["weights"], masked.model.arrays["weights"], atol=1e-5)


def test_a_schema_and_a_model_come_back_as_they_were() -> None:
    schema = propose_schema(people(), "class")
    assert (
        SharedSchema.from_dict(json.loads(json.dumps(schema.as_dict()))).fingerprint() == schema.fingerprint()
    )
    model = learnt(QUICK).model
    back = SharedModel.from_bytes(model.to_bytes())
    assert np.array_equal(back.scores(people()), model.scores(people()))
    for bad in (b"", b"nothing", model.to_bytes()[:-40]):
        with pytest.raises(InvalidInput):
            SharedModel.from_bytes(bad)


def test_a_run_folder_holds_model_rounds_pictures_and_a_report_for_each_silo(tmp_path: Path) -> None:
    said = simulate(
        people(),
        "class",
        tmp_path / "run",
        WeightsSimulation(plan=QUICK, anonymise=KEPT, policies={"client-2": {"k": 6}}),
    )
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {
        "model.npz",
        "learning.csv",
        "learning.svg",
        "rounds.csv",
        "privacy.json",
        "summary.json",
    } <= names
    reports = json.loads((tmp_path / "run" / "privacy.json").read_text(encoding="utf-8"))
    assert {name: report["promises"][0]["wanted"] for name, report in reports.items()} == {
        "client-1": 3,
        "client-2": 6,
        "client-3": 3,
    }
    assert said["bytes"]["up"] > 0
    assert SharedModel.load(tmp_path / "run").rounds == 3
    with pytest.raises(InvalidParameter, match="finished"):
        simulate(people(), "class", tmp_path / "run", WeightsSimulation(plan=QUICK))


def test_a_stopped_run_goes_on_after_its_last_round_and_ends_in_the_same_model(tmp_path: Path) -> None:
    for plan in (replace(QUICK, rounds=4), LearningPlan(model="boosting", rounds=4, depth=2)):
        whole, half = tmp_path / f"{plan.model}-whole", tmp_path / f"{plan.model}-half"
        simulate(people(), "class", whole, WeightsSimulation(plan=plan))
        told: list[str] = []

        def stop(line: str, told: list[str] = told) -> None:
            told.append(line)
            if len(told) == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            simulate(people(), "class", half, WeightsSimulation(plan=plan), tell=stop)
        assert "the same command goes on" in told[-1]
        told.clear()
        simulate(people(), "class", half, WeightsSimulation(plan=plan), tell=told.append)
        assert told[0].startswith("going on after round")
        first, second = SharedModel.load(whole), SharedModel.load(half)
        for name, held in first.arrays.items():
            assert np.allclose(held, second.arrays[name], atol=1e-6)
        assert (half / "learning.csv").read_text() == (whole / "learning.csv").read_text()


def test_a_stopped_run_that_is_to_have_fewer_rounds_than_it_had_begins_anew(tmp_path: Path) -> None:
    def stop(line: str) -> None:
        if line.startswith("round 3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(
            people(), "class", tmp_path / "run", WeightsSimulation(plan=replace(QUICK, rounds=5)), tell=stop
        )
    simulate(people(), "class", tmp_path / "run", WeightsSimulation(plan=replace(QUICK, rounds=1)))
    assert SharedModel.load(tmp_path / "run").rounds == 1
    assert len((tmp_path / "run" / "learning.csv").read_text().splitlines()) == 2  # names, and one round


def test_a_stopped_run_does_not_go_on_with_another_table_of_the_same_shape(tmp_path: Path) -> None:
    def stop(line: str) -> None:
        if line.startswith("round 1"):
            raise KeyboardInterrupt

    schema = propose_schema(people(), "class")
    with pytest.raises(KeyboardInterrupt):
        simulate(people(), "class", tmp_path / "run", WeightsSimulation(plan=QUICK, schema=schema), tell=stop)
    told: list[str] = []
    simulate(
        people().reverse(),
        "class",
        tmp_path / "run",
        WeightsSimulation(plan=QUICK, schema=schema),
        tell=told.append,
    )
    assert not any(line.startswith("going on") for line in told)


@pytest.mark.parametrize(
    "bad",
    [
        {"anonymise": {"k": 3, "quasi": ("nobody",)}},
        {"policies": {"client-9": {"k": 3}}},
        {"anonymise": {"quasi": ("age",)}},
        {"source": people(1500).with_columns(name=pl.int_range(1500).cast(pl.String) + "x")},
        {"split": "odd"},
        {"split": "dirichlet", "alpha": 0},
        {"test": 1.5},
        {"test": 0},
    ],
)
def test_bad_settings_are_refused_before_anything_is_written(bad: dict[str, Any], tmp_path: Path) -> None:
    bad = dict(bad)
    with pytest.raises(InvalidParameter):
        source = bad.pop("source", people())
        sharing = TableSharing(**{name: bad.pop(name) for name in ("split", "alpha", "test") if name in bad})
        simulate(source, "class", tmp_path / "run", WeightsSimulation(plan=QUICK, sharing=sharing, **bad))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "shared",
    [TableSharing(split="dirichlet", alpha=0.3), TableSharing(by="town"), TableSharing(split="skewed")],
)
def test_uneven_silos_learn_too(shared: TableSharing, tmp_path: Path) -> None:
    said = simulate(
        people(),
        "class",
        tmp_path / "run",
        WeightsSimulation(plan=LearningPlan(model="boosting", rounds=4), sharing=shared),
    )
    assert said["figures"]["accuracy"] > 0.75
