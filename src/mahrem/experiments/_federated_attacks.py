"""Hostile clients and curious servers against a federation on Adult, without and with each defence.

No source prints these figures, so nothing stands beside ours. Adult is split into 30 % test rows, rows that
the server holds itself to vet updates, and five clients; the network is the five-layer one of ``saleh``.
Attack and defence know nothing of the test rows. What each attack does: ``theory/attacks-on-federations``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mahrem.attacks import Examples, Finding, Misled
from mahrem.errors import Infeasible
from mahrem.experiments._federated_attacks_runs import (
    CLIENTS,
    CULPRIT,
    DEFENCES,
    VETTING,
    Hostility,
    World,
    honest,
    learnt,
    share_refused,
    world,
)
from mahrem.experiments._federated_leaks import Said, inversion_rows, membership_rows
from mahrem.experiments._row import Row
from mahrem.federated import Backdoor, FreeRider, LabelFlip, Together

__all__ = ["TABLES", "rows_of"]

PAPER = "federated-attacks"
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
TABLES = ("backdoor", "labels", "free-rider", "membership", "inversion")


def rows_of(tables: Sequence[str], *, quick: bool, step: Callable[[str], None]) -> Iterator[Row]:
    """Give the rows of some tables."""
    for table in tables:
        if table == "membership":
            found = membership_rows(quick=quick, step=step)
        elif table == "inversion":
            found = inversion_rows(quick=quick, step=step)
        else:
            found = _attacked(table, quick=quick, step=step)
        for setting, method, metric, value, note in found:
            yield Row.rounded(PAPER, table, "adult", setting, method, metric, value, note=note)


def _attacked(table: str, *, quick: bool, step: Callable[[str], None]) -> Iterator[Said]:
    """Attack with each hostile client, under each defence, over several splits."""
    worlds = [world(seed, quick=quick) for seed in range(QUICK_SEEDS if quick else SEEDS)]
    for attack in (one for one in ATTACKS if one.table == table):
        for defence in DEFENCES:
            setting = {"clients": CLIENTS, "malicious": 1, "attack": attack.name}
            try:
                found = []
                for place in worlds:
                    step(f"{attack.name}, {defence}: seed {place.seed}")
                    found.append(_outcome(attack, defence, place))
            except Infeasible as error:
                yield setting, defence, "accuracy", None, f"the run stopped: {error}"
                continue
            told = _told(found, wanted=attack.table != "free-rider", vets=defence in VETTING)
            yield from ((setting, defence, *rest) for rest in told)


@dataclass(frozen=True)
class _Outcome:
    """What one attack reached under one defence."""

    finding: Finding
    accuracy: float
    usual: float  # accuracy without the hostile client's hostility
    culprit: float  # share of the rounds in which the hostile client was refused
    others: float


def _outcome(attack: _Attack, defence: str, place: World) -> _Outcome:
    attacked, usual = learnt(place, defence, attack.hostile), honest(place, defence)
    return _Outcome(
        _reached(attack, place, attacked, usual),
        place.accuracy(attacked.model),
        place.accuracy(usual.model),
        share_refused(attacked, [CULPRIT]),
        share_refused(attacked, [name for name in place.parts if name != CULPRIT]),
    )


def _reached(attack: _Attack, place: World, attacked: Together, usual: Together) -> Finding:
    """Ask both models about test rows: of the class that is renamed, or with the trigger."""
    frame = place.judged if attack.door is None else attack.door.stamp(place.judged)
    rows, labels = place.schema.rows(frame)
    classes = place.schema.classes
    asked = Examples(rows, labels)
    if attack.source is not None:
        asked = asked.take(np.asarray(labels) == classes.index(attack.source))
    into = None if attack.into is None else classes.index(attack.into)
    return Misled(into=into, classes=attacked.model.classes_)(attacked.model, asked, usual.model)


def _told(found: Sequence[_Outcome], *, wanted: bool, vets: bool) -> Iterator[tuple[str, float, str]]:
    """Give means over the splits; a free rider wants nothing said, and only vetting refuses anybody."""
    many = f"mean of {len(found)} splits"
    if wanted:
        ends = [end for one in found for end in one.finding.interval or (0.0, 1.0)]
        about = f"{many}, whose 95 % intervals lie between {min(ends):.3f} and {max(ends):.3f}"
        yield "attack_success", _mean([one.finding.rate or 0.0 for one in found]), about
        about = "the same share by the model of honest clients alone, same defence"
        yield "without_attacker", _mean([one.finding.baseline or 0.0 for one in found]), about
    accuracy = [one.accuracy for one in found]
    yield "accuracy", _mean(accuracy), f"{many}, {min(accuracy):.3f} to {max(accuracy):.3f}, on test rows"
    yield "accuracy_without_attacker", _mean([one.usual for one in found]), many
    if vets:
        yield "refused", _mean([one.culprit for one in found]), "share of the rounds, the attacker"
        yield (
            "honest_refused",
            _mean([one.others for one in found]),
            "share of the rounds, the honest clients",
        )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
