"""Everything that is listed can be loaded, is a setting that people can say, and keeps its contract."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mahrem.cli.federating._options import plan_from, plan_panels, rows_of_spec
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.federated.flower import FederationSettings
from mahrem.federated.rules import RulesPlan
from mahrem.federated.runs import SHAPES, ClientSettings, RunSettings, TableSharing
from mahrem.federated.sums import SCHEMES, SUMS
from mahrem.federated.weights import AGGREGATIONS, MODELS, PROTECTIONS, LearningPlan, Protections
from mahrem.federated.weights._defence import JudgedUpdates
from mahrem.settings import settings_of

VALUES = {"noise": 1.0, "epsilon": 4.0, "quantise": 4, "strikes": 2, "sparse": 0.5}
SPECS = (
    RulesPlan,
    LearningPlan,
    Protections,
    TableSharing,
    RunSettings,
    ClientSettings,
    FederationSettings,
)


def switched_on(name: str) -> Protections:
    clip = {"clip": 1.0} if name in {"noise", "epsilon"} else {}
    return Protections(**{name: VALUES.get(name, 1.0), **clip})  # type: ignore[arg-type]


@pytest.mark.parametrize("entries", [SUMS, SCHEMES, MODELS, AGGREGATIONS, PROTECTIONS, SHAPES])
def test_every_entry_has_a_home(entries: object) -> None:
    for entry in entries.values():  # type: ignore[attr-defined]
        assert callable(entry.load())


@pytest.mark.parametrize("name", list(PROTECTIONS))
def test_a_protection_is_a_switch_that_comes_back_from_a_file(name: str) -> None:
    protections = switched_on(name)
    assert Protections.from_dict(protections.as_dict()) == protections
    assert name in settings_of(Protections)


@pytest.mark.parametrize("name", list(PROTECTIONS))
@pytest.mark.parametrize("way", [name for name, entry in SUMS.items() if entry.hides])
def test_what_looks_at_single_updates_or_shrinks_them_is_refused_under_a_hidden_sum(
    name: str, way: str
) -> None:
    entry = PROTECTIONS[name]
    if entry.vets or entry.shrinks:
        with pytest.raises(InvalidParameter, match=f"^{name}="):
            LearningPlan(sum=way, protections=switched_on(name))
    else:
        assert LearningPlan(sum=way, protections=switched_on(name)).hides


@pytest.mark.parametrize("name", [name for name, entry in PROTECTIONS.items() if entry.by_client])
def test_a_defence_judges_every_update_and_changes_no_honest_one(name: str) -> None:
    rng = np.random.default_rng(0)
    updates = 0.01 * rng.normal(size=(5, 8)) + 0.1
    judged = JudgedUpdates(np.zeros(8), updates.copy())
    PROTECTIONS[name].load()(9.0, lambda _: 0.0).judge(judged)
    assert judged.reasons == [[]] * 5
    assert np.allclose(judged.updates, updates)


@pytest.mark.parametrize("name", list(AGGREGATIONS))
def test_a_rule_of_aggregation_agrees_with_clients_that_agree(name: str) -> None:
    plan = replace(LearningPlan(aggregate=name), malicious=1)
    rule = plan.aggregation()
    same = np.tile(np.arange(4.0), (7, 1))
    assert np.allclose(rule(same, np.ones(7)), same[0])
    with pytest.raises(Infeasible):
        rule.require(0)
    if AGGREGATIONS[name].compares:
        with pytest.raises(InvalidParameter, match="compares single clients' weights"):
            LearningPlan(aggregate=name, sum="masked")


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.__name__)
def test_every_setting_has_words_for_the_command_line(spec: type) -> None:
    for name, _, spelling, _, means in rows_of_spec(spec):
        assert spelling.startswith("-")
        assert means, name
        assert "`" not in means


def test_what_plans_know_the_command_line_offers() -> None:
    offered = {row[0] for rows in plan_panels().values() for row in rows}
    specs = (RulesPlan, LearningPlan, Protections)
    assert offered == {name for spec in specs for name in settings_of(spec)}
    for name in (name for name, known in MODELS.items() if not known.own):
        assert plan_from({"model": name}, "plain") == LearningPlan(model=name)
    with pytest.raises(InvalidParameter, match="support: --support does not go with --model mlp"):
        plan_from({"model": "mlp", "support": 0.1}, "plain")
