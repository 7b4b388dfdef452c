from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mahrem.cli._app import _run
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.runs import RunSettings, WeightsTask, split_table
from mahrem.federated.sums import MaskedClient
from mahrem.federated.weights import LearningPlan, Protections, learn_together, propose_schema
from mahrem.federated.weights._anomaly import anomaly_scores
from mahrem.federated.weights._norm_bound import bound_norms
from mahrem.federated.wire import LocalGrid, Message
from silo_learning import Lying, accuracy, learnt, people, silos

QUICK = LearningPlan(model="logistic", rounds=3, rate=0.1)
numbers = arrays(np.float64, (5, 4), elements=st.floats(-100, 100, width=32))


def protected(**switches: Any) -> LearningPlan:
    return replace(QUICK, protections=Protections(**switches))


@pytest.mark.parametrize(
    ("switches", "plan", "why"),
    [
        ({"noise": 1.0}, {}, "needs clip"),
        ({"epsilon": 1.0}, {}, "needs clip"),
        ({"noise": 1.0, "epsilon": 1.0, "clip": 1.0}, {}, "one of the two"),
        ({"unit": "row", "clip": 1.0}, {}, "needs noise"),
        ({"unit": "row", "clip": 1.0, "noise": 1.0}, {}, "needs rows"),
        ({"unit": "row", "clip": 1.0, "noise": 1.0, "rows": 9}, {}, "batch=32 must be at most rows=9"),
        ({"unit": "row", "clip": 1.0, "noise": 1.0, "rows": 99}, {"proximal": 0.1}, "no pull"),
        ({"noise_by": "sum"}, {"sum": "masked"}, "unit='client'"),
        ({"noise_by": "sum", "clip": 1.0, "noise": 1.0}, {}, "hidden sum"),
        ({"norm_bound": 1.0}, {"sum": "masked"}, "hides"),
        ({"anomaly": 3.5}, {"sum": "homomorphic"}, "hides"),
        ({"held_out": 0.1}, {"sum": "masked"}, "hides"),
        ({"strikes": 2}, {"sum": "masked"}, "hides"),
        ({}, {"sum": "homomorphic", "aggregate": "median"}, "hides"),
        ({"sparse": 0.1}, {"sum": "masked"}, "full width"),
        ({"quantise": 8}, {"sum": "homomorphic"}, "full width"),
        ({"sparse": 0.1}, {"aggregate": "median"}, "nothing"),
        ({"sparse": 0.1, "anomaly": 3.5}, {}, "nothing"),
        ({"clip": 1.0, "noise": 1.0}, {"model": "boosting"}, "no updates"),
        ({"clip": 0.0}, {}, "above 0"),
        ({"clip": float("nan")}, {}, "finite"),
        ({"noise": -1.0, "clip": 1.0}, {}, "at least"),
        ({"delta": 0.0}, {}, "between"),
        ({"quantise": 1}, {}, "between"),
        ({"sparse": 0.0}, {}, "above 0"),
        ({"strikes": 0}, {}, "at least"),
        ({"held_out": -1.0}, {}, "at least"),
        ({"unit": "town"}, {}, "one of"),
    ],
)
def test_unsound_switches_are_refused_with_a_reason(
    switches: dict[str, Any], plan: dict[str, Any], why: str
) -> None:
    with pytest.raises(InvalidParameter, match=why):
        LearningPlan(protections=Protections(**switches), **plan)


def test_a_plan_with_protections_comes_back_from_a_file() -> None:
    plan = LearningPlan(sum="masked", protections=Protections(clip=1.0, noise=2.0, noise_by="sum"))
    said = json.loads(json.dumps(plan.as_dict()))
    assert said["protections"] == {"clip": 1.0, "noise": 2.0, "noise_by": "sum"}
    assert LearningPlan.from_dict(said).as_dict() == said
    assert LearningPlan.from_dict(said) == replace(plan, rate=plan.learning_rate)
    assert plan.fingerprint("s") != replace(plan, protections=Protections()).fingerprint("s")
    with pytest.raises(InvalidParameter, match="clap"):
        LearningPlan.from_dict({**said, "protections": {"clap": 1.0}})
    with pytest.raises(InvalidParameter, match="summ"):
        LearningPlan.from_dict({**said, "summ": "plain"})


@settings(max_examples=30, deadline=None)
@given(numbers, st.floats(0.01, 50))
def test_a_bound_shortens_long_updates_and_leaves_the_others(updates: Any, bound: float) -> None:
    found = bound_norms(updates, bound)
    before, after = np.linalg.norm(updates, axis=1), np.linalg.norm(found, axis=1)
    assert (after <= bound * (1 + 1e-12)).all()
    assert np.array_equal(found[before <= bound], updates[before <= bound])
    assert np.allclose(found * before[:, None], updates * after[:, None], atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(numbers, st.permutations(range(5)), st.sampled_from([0.25, 4.0]))
def test_scores_do_not_depend_on_order_or_a_common_factor(updates: Any, order: Any, factor: float) -> None:
    found = anomaly_scores(updates)
    assert (found >= 0).all()
    assert np.allclose(anomaly_scores(updates[order]), found[order], rtol=1e-6, atol=1e-6)
    assert np.allclose(anomaly_scores(factor * updates), found, rtol=1e-6, atol=1e-6)


def test_scores_by_hand() -> None:
    # the middle is (10, 0): distances are 0, 1, 1, 2, 30; their middle is 1 and the median deviation 1
    updates = np.array([[10.0, 0], [11, 0], [9, 0], [12, 0], [-20, 0]])
    found = anomaly_scores(updates)
    assert found[3] == pytest.approx(1 / 1.4826)
    assert found[4] == pytest.approx(max(29 / 1.4826, 2 / 0.05))
    assert found[:3].tolist() == [0, 0, 0]


POISON = {"client_2": lambda silo: Lying(silo, lambda weights: -20 * np.sign(weights))}


@pytest.mark.parametrize("switch", [{"norm_bound": 0.5}, {"anomaly": 3.5}, {"held_out": 0.1}])
def test_each_defence_learns_where_the_mean_is_led_astray(switch: dict[str, Any]) -> None:
    more = {"held_out": people(60, seed=5)} if "held_out" in switch else {}
    plan = replace(protected(**switch), rounds=8)
    assert accuracy(learnt(replace(QUICK, rounds=8), 5, **POISON).model) < 0.6
    found = learnt(plan, 5, more=more, **POISON)
    assert accuracy(found.model) > 0.8
    bad = [one for one in found.verdicts if one.client == "client-2"]
    assert all(one.why for one in bad)
    assert len(found.verdicts) == 5 * 8
    if "norm_bound" not in switch:
        assert not any(one.taken for one in bad)
        assert set(found.refused) == {"client-2"}


def test_a_bound_does_not_make_a_long_update_look_like_the_others() -> None:
    enlarged = {"client_2": lambda silo: Lying(silo, lambda weights: 50 * weights)}
    found = learnt(protected(norm_bound=0.05, anomaly=3.5), 5, **enlarged)
    first = next(one for one in found.verdicts if one.client == "client-2")
    assert not first.taken
    assert first.norm is not None
    assert first.norm > 0.05


def test_under_a_hidden_sum_a_part_that_cannot_be_stops_the_run_and_names_nobody() -> None:
    def huge(silo: Any) -> MaskedClient:
        return MaskedClient(silo.name, lambda *asked: 10**9 * silo.numbers(*asked), silo.answer)

    with pytest.raises(InvalidInput, match="nobody can say"):
        learnt(replace(QUICK, sum="masked"), client_2=huge)


def test_without_a_lie_defences_change_nothing() -> None:
    plain = learnt(QUICK, 5).model.arrays["weights"]
    loose = protected(norm_bound=50.0, anomaly=1e6, held_out=10.0, strikes=1)
    found = learnt(loose, 5, more={"held_out": people(60, seed=5)})
    assert np.allclose(found.model.arrays["weights"], plain, atol=1e-6)
    assert not found.refused


@pytest.mark.parametrize("switch", [{"norm_bound": 50.0}, {"anomaly": 1e6}])
def test_a_lie_about_the_number_of_rows_does_not_outweigh_vetted_clients(switch: dict[str, Any]) -> None:
    class Crowd(Lying):
        def answer(self, message: Message) -> Message:
            said = super().answer(message)
            return message.reply(**{**said.body, "rows": 1 << 26}) if message.kind == "train" else said

    lie = {"client_2": lambda silo: Crowd(silo, lambda weights: 1.3 * weights)}
    alike = {"client_2": lambda silo: Lying(silo, lambda weights: 1.3 * weights)}
    plan = replace(protected(**switch), rounds=1)
    found, honest = (learnt(plan, 5, **client).model.arrays["weights"] for client in (lie, alike))
    assert np.array_equal(found, honest)


def test_a_client_that_is_refused_too_often_is_left_out() -> None:
    wrong = {"client_2": lambda silo: Lying(silo, lambda _: "no")}
    found = learnt(replace(protected(strikes=2), rounds=4), 4, **wrong)
    assert list(found.refused["client-2"]) == [1, 2]
    assert "2 rounds" in found.left_out["client-2"]
    assert found.nodes == ("client-1", "client-3", "client-4")


def test_strikes_are_kept_when_a_run_goes_on(tmp_path: Path) -> None:
    plan = replace(protected(strikes=2), rounds=4)

    def learn(last: int) -> Any:
        run = WeightsTask(propose_schema(people(), "class"), plan).begin(tmp_path / "run", RunSettings())
        made = silos(plan, split_table(people(), "class", clients=4))
        made["client-2"] = Lying(made["client-2"], lambda _: "no")

        def stop(_: str, message: Message) -> bool:
            if message.round == last:
                raise KeyboardInterrupt
            return False

        return run.learn(LocalGrid(made, lost=stop))

    with pytest.raises(KeyboardInterrupt):
        learn(2)
    with pytest.raises(KeyboardInterrupt):
        learn(3)
    found = learn(9)
    assert list(found.refused["client-2"]) == [1, 2]
    assert "2 rounds" in found.left_out["client-2"]
    assert sum(not one.taken for one in found.verdicts) == 2


@pytest.mark.parametrize(
    ("switches", "lie"),
    [
        ({}, lambda weights: np.full_like(weights, np.nan)),
        ({"anomaly": 3.5}, lambda weights: weights[:-1]),
        ({"strikes": 1, "norm_bound": 1.0}, lambda weights: np.full_like(weights, 1e9)),
        ({"held_out": 0.0}, lambda weights: -weights),
    ],
)
def test_if_every_client_lies_there_is_no_model(switches: dict[str, Any], lie: Any) -> None:
    bad = {f"client_{at}": lambda silo: Lying(silo, lie) for at in (1, 2, 3)}
    with pytest.raises(Infeasible, match=r"client-1(, client-2, client-3)?: ") as error:
        learnt(protected(**switches), more={"held_out": people(60, seed=5)}, **bad)
    assert error.value.reached == 0


def test_too_few_clients_to_compare_are_refused_before_anything_is_asked() -> None:
    with pytest.raises(Infeasible, match="anomaly"):
        learnt(protected(anomaly=3.5), 2)


def test_held_out_rows_are_needed_and_must_have_agreed_classes() -> None:
    with pytest.raises(InvalidParameter, match="no client has"):
        learnt(protected(held_out=0.1))
    strange = people(9).with_columns(pl.lit("maybe").alias("class"))
    with pytest.raises(InvalidInput, match="held-out"):
        learnt(protected(held_out=0.1), more={"held_out": strange})


def test_a_tiny_silo_is_left_out_of_hidden_sums_too() -> None:
    plan = replace(QUICK, sum="masked")
    parts = {**split_table(people(), "class", clients=3), "tiny": people(2)}
    made = silos(plan, parts, {"quasi": ("age", "town"), "k": 3})
    grid = LocalGrid({name: silo.for_grid() for name, silo in made.items()})
    found = learn_together(grid, propose_schema(people(), "class"), plan)
    assert list(found.left_out) == ["tiny"]
    assert found.nodes == ("client-1", "client-2", "client-3")


def simulate(folder: Path, *said: str) -> int:
    people(400).write_csv(folder / "people.csv")
    command = f"federate simulate {folder}/people.csv --target class --model logistic --rounds 2 --quiet"
    return _run([*command.split(), "-o", str(folder / "run"), *said])


def test_the_command_vets_and_writes_a_verdict_for_each_client_and_round(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate(tmp_path, *["--anomaly", "50", "--held-out", "5", "--norm-bound", "0.001", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["vetting"] == {"taken": 6, "shortened": 6, "refused": 0}
    assert found["plan"]["protections"] == {"norm_bound": 0.001, "anomaly": 50.0, "held_out": 5.0}
    with (tmp_path / "run" / "vetting.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [(line["round"], line["client"]) for line in lines] == [
        (str(number), f"client-{at}") for number in (1, 2) for at in (1, 2, 3)
    ]
    assert all(float(line["norm"]) > 0.001 and "shortened" in line["why"] for line in lines)


def test_the_command_says_when_every_update_was_refused_and_keeps_the_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate(tmp_path, "--anomaly", "0.0000001", "--clients", "4") == 3
    assert "anomaly score" in capsys.readouterr().err
    assert "anomaly score" in (tmp_path / "run" / "vetting.csv").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "run" / "state.json").read_text(encoding="utf-8"))["state"] == "failed"
    assert not (tmp_path / "run" / "model.npz").exists()


@pytest.mark.parametrize(
    "said",
    [
        "--sum masked --anomaly 3.5",
        "--noise 1",
        "--sparse 2",
        "--unit row --clip 1 --noise 1",
        "--unit row --clip 1 --noise 1 --silo-rows 100 --anonymize k=3",
    ],
)
def test_the_command_refuses_unsound_switches_and_leaves_no_folder(said: str, tmp_path: Path) -> None:
    assert simulate(tmp_path, *said.split()) == 2
    assert not (tmp_path / "run").exists()
