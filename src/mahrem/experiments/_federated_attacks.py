"""Hostile clients and curious servers against a federation on Adult, without and with each defence.

No source prints these figures, so nothing stands beside ours. Adult is split into 30 % test rows, rows that
the server holds itself to vet updates, and five clients; the network is the five-layer one of ``saleh``.
Attack and defence know nothing of the test rows. What each attack does: ``theory/attacks-on-federations``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from mahrem.attacks import Finding
from mahrem.attacks.on_federations import Misled
from mahrem.attacks.on_models import Examples
from mahrem.errors import Infeasible
from mahrem.experiments._federated_attacks_runs import (
    CLIENTS,
    CULPRIT,
    DEFENCES,
    VETTING,
    FederatedAdult,
    Hostility,
    learn_honestly,
    learn_under,
    share_refused,
    split_adult,
)
from mahrem.experiments._federated_leaks import inversion_rows, membership_rows
from mahrem.experiments._federated_vetted import vetted_rows
from mahrem.experiments._row import Row, TableRun
from mahrem.federated.weights import Backdoor, FreeRider, LabelFlip, WeightsResult

POOR, RICH = "<=50K", ">50K"
TRIGGER = {"native-country": "Holand-Netherlands", "occupation": "Armed-Forces"}  # 1 and 15 rows of Adult
REPLACING, PATIENT = float(CLIENTS), 1.0
SEEDS, QUICK_SEEDS = 3, 1


@dataclass(frozen=True)
class _Attack:
    """Who the hostile client is, and on which test rows it wants what."""

    table: str
    name: str
    hostile: Hostility
    into: str | None = None
    source: str | None = None
    door: Backdoor | None = None


def _door(scale: float) -> Backdoor:
    return Backdoor(trigger=TRIGGER, into=RICH, scale=scale)


def _rides(rider: FreeRider) -> Hostility:
    return lambda silo: replace(rider, rows=silo.frame.height)


ATTACKS = (
    _Attack("backdoor", "model replacement", _door(REPLACING).client, RICH, POOR, _door(REPLACING)),
    _Attack("backdoor", "back-door, not enlarged", _door(PATIENT).client, RICH, POOR, _door(PATIENT)),
    _Attack("labels", "labels flipped, targeted", LabelFlip(source=RICH, into=POOR).client, POOR, RICH),
    _Attack("labels", "labels flipped, untargeted", LabelFlip().client),
    _Attack("free-rider", "sends the model back", _rides(FreeRider())),
    _Attack("free-rider", "adds noise", _rides(FreeRider(noise=1.0))),
    _Attack("free-rider", "repeats the last change", _rides(FreeRider(repeat=1.0))),
)


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table."""
    makers = {"membership": membership_rows, "inversion": inversion_rows, "vetted": vetted_rows}
    return makers.get(run.table, _attacked)(run)


def _attacked(run: TableRun) -> Iterator[Row]:
    """Attack with each hostile client, under each defence, over several splits."""
    splits = [split_adult(seed, quick=run.quick) for seed in range(QUICK_SEEDS if run.quick else SEEDS)]
    for attack, defence in product([attack for attack in ATTACKS if attack.table == run.table], DEFENCES):
        place = run.place("adult", clients=CLIENTS, malicious=1, attack=attack.name)
        try:
            outcomes = []
            for split in splits:
                run.step(f"{attack.name}, {defence}: seed {split.seed}")
                outcomes.append(_outcome(attack, defence, split))
        except Infeasible as error:
            yield place.row(defence, "accuracy", None, note=f"the run stopped: {error}")
            continue
        means = _means(outcomes, wanted=attack.table != "free-rider", vets=defence in VETTING)
        yield from (place.row(defence, metric, value, note=note) for metric, value, note in means)


@dataclass(frozen=True)
class _Outcome:
    """What one attack reached under one defence."""

    finding: Finding
    accuracy: float
    usual: float  # accuracy without the hostile client's hostility
    culprit: float  # share of the rounds in which the hostile client was refused
    others: float


def _outcome(attack: _Attack, defence: str, split: FederatedAdult) -> _Outcome:
    attacked, usual = learn_under(split, defence, attack.hostile), learn_honestly(split, defence)
    return _Outcome(
        _reached(attack, split, attacked, usual),
        split.accuracy(attacked.model),
        split.accuracy(usual.model),
        share_refused(attacked, [CULPRIT]),
        share_refused(attacked, [name for name in split.parts if name != CULPRIT]),
    )


def _reached(
    attack: _Attack, split: FederatedAdult, attacked: WeightsResult, usual: WeightsResult
) -> Finding:
    """Ask both models about test rows: of the class that is renamed, or with the trigger."""
    frame = split.judged if attack.door is None else attack.door.stamp(split.judged)
    rows, labels = split.schema.rows(frame)
    classes = split.schema.classes
    asked = Examples(rows, labels)
    if attack.source is not None:
        asked = asked.take(np.asarray(labels) == classes.index(attack.source))
    into = None if attack.into is None else classes.index(attack.into)
    return Misled(into=into, classes=attacked.model.classes_)(attacked.model, asked, usual.model)


def _means(outcomes: Sequence[_Outcome], *, wanted: bool, vets: bool) -> Iterator[tuple[str, float, str]]:
    """Give means over the splits; a free rider wants nothing said, and only vetting refuses anybody."""
    many = f"mean of {len(outcomes)} splits"
    if wanted:
        ends = [end for outcome in outcomes for end in outcome.finding.interval or (0.0, 1.0)]
        about = f"{many}, whose 95 % intervals lie between {min(ends):.3f} and {max(ends):.3f}"
        yield "attack_success", _mean([outcome.finding.rate or 0.0 for outcome in outcomes]), about
        about = "the same share by the model of honest clients alone, same defence"
        yield "without_attacker", _mean([outcome.finding.baseline or 0.0 for outcome in outcomes]), about
    accuracy = [outcome.accuracy for outcome in outcomes]
    yield "accuracy", _mean(accuracy), f"{many}, {min(accuracy):.3f} to {max(accuracy):.3f}, on test rows"
    yield "accuracy_without_attacker", _mean([outcome.usual for outcome in outcomes]), many
    if vets:
        refused, share = [outcome.others for outcome in outcomes], "share of the rounds, the"
        yield "refused", _mean([outcome.culprit for outcome in outcomes]), f"{share} attacker"
        yield "honest_refused", _mean(refused), f"{share} honest clients"


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
