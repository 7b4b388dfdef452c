"""Networks of a user's own making, and other ways to learn, through the same plans, sums and noise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated import (
    LearningPlan,
    LocalGrid,
    Protections,
    SharedModel,
    TrainingSilo,
    WeightsSimulation,
    WeightsTask,
    learn_together,
    predict_rows,
    propose_schema,
    report_run,
    simulate,
)
from mahrem.federated.networks import Network, OwnNetwork, client_seed
from mahrem.federated.runs import ClientSettings, RunSettings, TableSharing, split_table
from mahrem.federated.weights._server_step import server_step
from mahrem.learning.private import TrainingPlan, new_stream

torch = pytest.importorskip("torch")


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, dose = rng.integers(18, 90, rows), rng.integers(0, 40, rows)
    site = rng.choice(["left", "right"], rows)
    ill = (age + dose * np.where(site == "left", 1, -1) > 55) ^ (rng.random(rows) < 0.03)
    return pl.DataFrame({"age": age, "dose": dose, "site": site, "ill": np.where(ill, "yes", "no")})


TABLE, JUDGED = people(900, 1), people(400, 2)
SCHEMA = propose_schema(TABLE, "ill")
PARTS = split_table(TABLE, "ill", clients=3, split="dirichlet", alpha=0.3, seed=1)


def dense(width: int, classes: int) -> Any:
    return torch.nn.Sequential(
        torch.nn.Linear(width, 16), torch.nn.Tanh(), torch.nn.Dropout(0.1), torch.nn.Linear(16, classes)
    )


def same_as_ours(width: int, classes: int) -> Any:
    return torch.nn.Sequential(torch.nn.Linear(width, 8), torch.nn.ReLU(), torch.nn.Linear(8, classes))


def one_output(width: int, classes: int) -> Any:  # noqa: ARG001 - of two classes
    return torch.nn.Linear(width, 1)


def hinge(outputs: Any, labels: Any) -> Any:
    return torch.nn.functional.multi_margin_loss(outputs, labels)


def linear(width: int, classes: int) -> Any:  # noqa: ARG001
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="log_loss", alpha=1e-4)


def warm(width: int, classes: int) -> Any:  # noqa: ARG001
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(warm_start=True, max_iter=50)


def plan_of(make: Any, loss: Any = None, **more: Any) -> LearningPlan:
    usual = {"rounds": 12, "rate": 0.3, "batch": 16, "model": "own"}
    return LearningPlan(**{**usual, **more}, own=OwnNetwork(make, loss))


def learnt(plan: LearningPlan) -> Any:
    silos = {name: TrainingSilo(name, part, SCHEMA, plan) for name, part in PARTS.items()}
    grid = LocalGrid({name: silo.for_grid() for name, silo in silos.items()})
    return learn_together(grid, SCHEMA, plan)


def accuracy(model: SharedModel) -> float:
    return float((model.predict(JUDGED) == JUDGED["ill"].to_numpy()).mean())


@pytest.mark.parametrize(
    ("make", "loss"),
    [(dense, None), (dense, hinge), (one_output, None), (linear, None), (warm, None)],
    ids=["module", "own loss", "one output", "sgd", "warm start"],
)
def test_any_network_learns_under_masks(make: Any, loss: Any) -> None:
    result = learnt(plan_of(make, loss, sum="masked", least_clients=3))
    assert accuracy(result.model) > 0.75
    assert result.nodes == tuple(sorted(PARTS))


def test_the_same_network_takes_the_same_steps_as_ours() -> None:
    rows, labels = SCHEMA.rows(TABLE)
    ours = Network(hidden=(8,), rate=0.1, batch=50)
    theirs = OwnNetwork(same_as_ours).trained_by(rate=0.1, batch=50, epochs=1)
    width = rows.shape[1]
    assert theirs.size(width, 2) == ours.size(width, 2)
    weights = ours.start(width, 2, 0)
    drift = np.random.default_rng(0).normal(size=len(weights)) / 100
    one = ours.train(weights, rows, labels, 2, seed=3, proximal=0.5, drift=drift, even=True)
    other = theirs.train(weights, rows, labels, 2, seed=3, proximal=0.5, drift=drift)
    assert np.allclose(one, other, atol=1e-5)
    assert np.allclose(ours.scores(one, rows, 2), theirs.scores(other, rows, 2), atol=1e-5)
    for layers in (0, 1, 2):
        assert np.array_equal(ours.last_layers(width, 2, layers), theirs.last_layers(width, 2, layers))
    plan = TrainingPlan(rows=900, batch=180, steps=6, clip=0.1, noise_multiplier=1e-9, delta=1e-5)
    stream = new_stream(1)
    private = [
        each.train_privately(weights, rows, labels, 2, plan, stream, range(6)) for each in (ours, theirs)
    ]
    assert np.allclose(*private, atol=1e-5)


def test_private_steps_of_a_module_move_by_no_more_than_the_clip_for_one_row() -> None:
    rows, labels = SCHEMA.rows(TABLE)
    own = OwnNetwork(dense).trained_by(rate=1.0, batch=10, epochs=1)
    weights = own.start(rows.shape[1], 2, 0)
    plan = TrainingPlan(rows=900, batch=900, steps=1, clip=0.01, noise_multiplier=1e-9, delta=1e-5)
    wild = np.vstack([rows, np.full((1, rows.shape[1]), np.nan)])  # its gradient is no number
    moved = [
        own.train_privately(weights, part, truth, 2, plan, new_stream(1), range(1))
        for part, truth in ((rows, labels), (rows[1:], labels[1:]), (wild, np.append(labels, 1)))
    ]
    assert np.linalg.norm(moved[0] - moved[1]) * plan.divisor <= 0.01 * 1.01
    assert np.allclose(moved[0], moved[2], atol=1e-7)


def test_an_own_network_with_masks_and_differential_privacy(tmp_path: Path) -> None:
    protections = Protections(unit="row", clip=1.0, epsilon=8, rows=400)
    plan = plan_of(dense, sum="masked", least_clients=3, protections=protections, batch=64, rounds=8)
    sharing = TableSharing(split="dirichlet", alpha=5.0)
    said = simulate(people(1500, 3), "ill", tmp_path / "run", WeightsSimulation(plan=plan, sharing=sharing))
    assert said["promise"]["epsilon"] <= 8.0001
    assert said["figures"]["accuracy"] > 0.7
    with pytest.raises(InvalidParameter, match=r"OwnNetwork\.read"):
        SharedModel.load(tmp_path / "run").predict(JUDGED)
    own = OwnNetwork(dense)
    assert accuracy(SharedModel.load(tmp_path / "run", own)) > 0.7
    with pytest.raises(InvalidParameter, match="another file than was agreed on"):
        SharedModel.load(tmp_path / "run", OwnNetwork(same_as_ours))


FILE = """
import torch

def make(width, classes):
    return torch.nn.Linear(width, classes)
"""


def test_a_run_of_a_file_is_asked_with_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(FILE)
    plan = LearningPlan(model="own", rounds=3, rate=0.3, own=OwnNetwork.read(tmp_path / "net.py"))
    simulate(TABLE, "ill", tmp_path / "run", WeightsSimulation(plan=plan))
    found = predict_rows(tmp_path / "run", JUDGED, network=tmp_path / "net.py")
    assert found.accuracy is not None
    assert found.accuracy > 0.7
    assert report_run(tmp_path / "run").content["model"]["kind"] == "own"


def test_a_file_is_run_where_it_is_named_and_must_be_the_agreed_one(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(FILE)
    (tmp_path / "other.py").write_text(FILE + "\n# another\n")
    own = OwnNetwork.read(tmp_path / "net.py")
    agreed = LearningPlan.from_dict({"model": "own", "code": own.digest, "rounds": 2, "rate": 0.1})
    assert agreed == LearningPlan.from_dict(agreed.as_dict())
    task = WeightsTask(SCHEMA, agreed)
    with pytest.raises(InvalidParameter, match="give it: own="):
        task.begin(tmp_path / "run", RunSettings())
    assert task.with_network(tmp_path / "net.py").plan.network().size(3, 2) == 8
    with pytest.raises(InvalidParameter, match=r"network='other.py' is another file"):
        task.with_network(tmp_path / "other.py")
    with pytest.raises(InvalidParameter, match="model='own'"):
        WeightsTask(SCHEMA, LearningPlan()).with_network(None)
        LearningPlan(own=own)
    for text, why in (("1/0", "cannot be run"), ("x = 1", "must define make")):
        (tmp_path / "bad.py").write_text(text)
        with pytest.raises(InvalidInput, match=why):
            OwnNetwork.read(tmp_path / "bad.py")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda width, classes: torch.nn.BatchNorm1d(width), "statistics of rows"),  # noqa: ARG005
        (lambda width, classes: torch.nn.Tanh(), "with parameters"),  # noqa: ARG005
        (lambda width, classes: object(), "must make a torch"),  # noqa: ARG005
    ],
)
def test_what_cannot_be_trained_is_refused_in_the_plan(make: Any, why: str) -> None:
    with pytest.raises(InvalidParameter, match=why):
        LearningPlan(model="own", own=OwnNetwork(make, digest="0" * 64))


def test_server_optimisers_follow_their_definition() -> None:
    rng = np.random.default_rng(0)
    for how in ("momentum", "adam", "yogi"):
        weights, kept = np.zeros(4), {}
        moment, variance = np.zeros(4), np.full(4, 1e-6)
        for _ in range(5):
            mean = weights + rng.normal(size=4)
            found, kept = server_step(how, 0.5, weights, mean, kept)
            change = mean - weights
            if how == "momentum":
                moment = 0.9 * moment + change
                slow = weights + 0.5 * moment
            else:
                moment = 0.9 * moment + 0.1 * change
                square = change**2
                variance = (
                    0.99 * variance + 0.01 * square
                    if how == "adam"
                    else variance - 0.01 * square * np.sign(variance - square)
                )
                slow = weights + 0.5 * moment / (np.sqrt(variance) + 1e-3)
            assert np.allclose(found, slow)
            weights = found


@pytest.mark.parametrize(
    "more",
    [
        {"server": "adam"},
        {"server": "yogi"},
        {"server": "momentum", "rate": 0.05},
        {"scaffold": True},
        {"proximal": 0.1},
    ],
    ids=lambda more: next(iter(more)) + str(next(iter(more.values()))),
)
@pytest.mark.parametrize("sums", ["plain", "masked"])
def test_every_way_of_learning_works_on_uneven_silos(more: dict[str, Any], sums: str) -> None:
    plan = LearningPlan(
        **{"model": "logistic", "rounds": 12, "rate": 0.3, "sum": sums, "least_clients": 3, **more}
    )
    result = learnt(plan)
    assert accuracy(result.model) > 0.75
    again = SharedModel.from_bytes(result.model.to_bytes())
    assert np.array_equal(again.predict(JUDGED), result.model.predict(JUDGED))


def test_scaffold_brings_uneven_silos_nearer_to_one_place() -> None:
    """With many local steps FedAvg drifts; control variates take it back (Karimireddy et al., figure 3)."""
    shares = split_table(TABLE, "ill", clients=3, split="skewed")
    rows, labels = SCHEMA.rows(TABLE)

    def loss(scaffold: bool) -> float:  # noqa: FBT001
        plan = LearningPlan(model="logistic", rounds=15, rate=0.1, epochs=5, batch=30, scaffold=scaffold)
        silos = {name: TrainingSilo(name, part, SCHEMA, plan) for name, part in shares.items()}
        scores = learn_together(LocalGrid(silos), SCHEMA, plan).model.scores_of_rows(rows)
        return float(-np.log(np.maximum(scores[np.arange(len(labels)), labels], 1e-12)).mean())

    assert loss(scaffold=True) < loss(scaffold=False)


def test_personal_layers_never_leave_and_serve_their_owner() -> None:
    """Two silos that mean the opposite by the same cells: no common model, but personal ones."""
    first = TABLE.head(450)
    second = TABLE.tail(450).with_columns(pl.col("ill").replace({"yes": "no", "no": "yes"}))
    plan = LearningPlan(hidden=(16,), rounds=15, rate=0.2, personal=1, sum="masked")
    silos = {name: TrainingSilo(name, part, SCHEMA, plan) for name, part in (("a", first), ("b", second))}
    result = learn_together(LocalGrid({n: silo.for_grid() for n, silo in silos.items()}), SCHEMA, plan)
    start = SharedModel.fresh(SCHEMA, plan).arrays["weights"]
    own = plan.network().last_layers(SCHEMA.encoder.width, 2, 1)
    assert np.allclose(
        result.model.arrays["weights"][own], start[own], atol=1e-6
    )  # what the server has of it
    for name, like_judged in (("a", True), ("b", False)):
        right = silos[name].personal_model(result.model).predict(JUDGED) == JUDGED["ill"].to_numpy()
        assert bool(right.mean() > 0.75) is like_judged


def test_a_personal_model_is_written_for_its_owner_alone(tmp_path: Path) -> None:
    plan = LearningPlan(model="logistic", rounds=2, personal=1)
    kept = tmp_path / "mine.npz"
    silo = TrainingSilo("a", TABLE, SCHEMA, plan, keep_model=kept)
    learn_together(LocalGrid({"a": silo, "b": TrainingSilo("b", TABLE, SCHEMA, plan)}), SCHEMA, plan)
    assert kept.stat().st_mode & 0o077 == 0
    assert SharedModel.from_bytes(kept.read_bytes()).rounds == 2
    with pytest.raises(InvalidParameter, match="keep_model"):
        WeightsTask(SCHEMA, LearningPlan())._refuse_unused(ClientSettings(keep_model=kept))


@pytest.mark.parametrize("sums", ["plain", "masked"])
def test_rounds_end_when_rows_that_clients_keep_back_say_so(sums: str) -> None:
    plan = LearningPlan(model="logistic", rounds=60, rate=0.5, early_stop=3, validation=0.3, sum=sums)
    validated = []
    silos = {name: TrainingSilo(name, part, SCHEMA, plan) for name, part in PARTS.items()}
    result = learn_together(
        LocalGrid({name: silo.for_grid() for name, silo in silos.items()}),
        SCHEMA,
        plan,
        after=lambda done, _: validated.append(done.validated),
    )
    best = int(np.argmax(validated)) + 1
    assert len(validated) == best + 3 < 60
    assert result.model.rounds == best  # the weights of the best round
    right = total = 0
    for name, silo in silos.items():
        rows, labels = silo._kept_back
        seed = client_seed(plan.seed, 0, f"{name}/kept")
        assert len(labels) == max(1, int(0.3 * PARTS[name].height)), seed
        hits = int((result.model.scores_of_rows(rows).argmax(axis=1) == labels).sum())
        right += hits - hits % 5  # told in groups of people
        total += len(labels) - len(labels) % 5
    assert right / total == pytest.approx(max(validated))


@pytest.mark.parametrize(
    "said",
    [
        {"scaffold": True, "protections": Protections(clip=1)},
        {"scaffold": True, "server": "adam"},
        {"scaffold": True, "aggregate": "median"},
        {"scaffold": True, "fraction": 0.5},
        {"server": "adam", "model": "boosting"},
        {"personal": 1, "protections": Protections(dummies=1)},
        {"early_stop": 2, "protections": Protections(clip=1, epsilon=8)},
        {"personal": 1, "protections": Protections(unit="row", clip=1, epsilon=8, rows=100)},
        {"server_rate": 0.1},
        {"server": "adagrad"},
        {"model": "own"},
    ],
)
def test_ways_of_training_that_contradict_each_other_are_refused(said: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        LearningPlan(**said)
    assert replace(LearningPlan(), rounds=3).rounds == 3
