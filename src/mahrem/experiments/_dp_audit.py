"""The attackers' side on Adult: an overfitted network and its private twin, audits of true and false claims.

``membership``: a network that knows its 1000 training rows by heart, and its twin at epsilon 1, attacked by
their losses and with shadow models of the same kind (private ones for the private twin). ``claims``: the same
private training audited 20 times, and trainings that claim as much and forgot their noise. ``domain``: a row
with a value nobody declared joins the table, and every mechanism is watched. Noise of private trainings has
no seed, so figures differ a little from run to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl

from mahrem.attacks import binomial_tail
from mahrem.attacks.on_models import (
    AuditedBound,
    Examples,
    FewShadows,
    Lira,
    LossThreshold,
    ModelFinding,
    OneRunAudit,
)
from mahrem.datasets import find
from mahrem.dp import Facts, Ledger, assert_dp, public_cells
from mahrem.experiments._adult_facts import ADULT_FACTS, ADULT_TARGET
from mahrem.experiments._dp_synthesis import ADULT_SCHEMA, SYNTHESIS_FACTS
from mahrem.experiments._row import Place, Row, TableRun
from mahrem.learning.private import (
    PlainNetwork,
    PrivateClassifier,
    PublicInputs,
    SecretStream,
    TrainingPlan,
    new_stream,
)
from mahrem.learning.private.steps import Descent
from mahrem.learning.synthesis import make_synthesiser
from mahrem.learning.training import Canaries
from mahrem.types import Floats

EPSILON, DELTA = 1.0, 1e-6
CLASSES = ADULT_FACTS[ADULT_TARGET].categories or ()
INPUTS = PublicInputs(
    facts=Facts(columns=ADULT_FACTS), features=tuple(name for name in ADULT_FACTS if name != ADULT_TARGET)
)
SECURE = 0.05  # how often a bound may lie above the truth


@dataclass(frozen=True)
class _Size:
    """How much is done."""

    rows: int = 1000
    hidden: int = 128
    epochs: int = 100
    few: int = 4
    shadows: int = 16
    audited: int = 2000
    canaries: int = 200
    runs: int = 20
    broken: int = 5
    watched: int = 2000


QUICK = _Size(
    rows=300, hidden=32, epochs=30, few=2, shadows=2, audited=600, canaries=40, runs=2, broken=3, watched=500
)


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table."""
    makers = {"membership": _membership, "claims": _claims, "domain": _domain}
    return makers[run.table](run, QUICK if run.quick else _Size())


@cache
def _adult(count: int) -> tuple[Floats, Any]:
    """Give inputs and labels of so many rows, in an order that is always the same."""
    frame = pl.read_csv(find("adult_train"))
    order = np.random.default_rng(0).permutation(len(frame))[:count]
    places = public_cells(frame, INPUTS.facts, [ADULT_TARGET])[ADULT_TARGET][order].astype(int)
    return INPUTS(frame)[order], np.array(CLASSES, dtype=object)[places]


@cache
def _noise(rows: int, batch: float, epochs: float) -> float:
    """Find the noise for the claim once; every run has the same plan."""
    plan = TrainingPlan.make(rows=rows, batch=batch, epochs=epochs, epsilon=EPSILON, delta=DELTA)
    return plan.noise_multiplier


def _private(size: _Size, rows: int, *, epochs: float = 10, **changes: Any) -> PrivateClassifier:
    batch = rows / 5
    settings: dict[str, Any] = {
        "options": {"hidden": (size.hidden,)},
        "classes": CLASSES,
        "noise_multiplier": _noise(rows, batch, epochs),
        "delta": DELTA,
        "epochs": epochs,
        "batch": batch,
        "descent": Descent(learning_rate=1.0),
        "device": "cpu",
    }
    return PrivateClassifier(**settings | changes)


@dataclass(frozen=True)
class _Twin:
    """A private network that pays from a ledger of its own, as a shadow model is asked for."""

    size: _Size

    def fit(self, X: object, y: object) -> PrivateClassifier:
        """Train."""
        ledger = Ledger.temporary(epsilon=EPSILON, delta=DELTA, rows=self.size.rows)
        return _private(self.size, self.size.rows).fit(X, y, ledger=ledger)


def _membership(run: TableRun, size: _Size) -> Iterator[Row]:
    rows, labels = _adult(2 * size.rows)
    inside = Examples(rows[: size.rows], labels[: size.rows])
    outside = Examples(rows[size.rows :], labels[size.rows :])

    def overfitted(seed: int) -> PlainNetwork:
        options = {"hidden": (size.hidden,)}
        return PlainNetwork(options=options, classes=CLASSES, epochs=size.epochs, batch=100, seed=seed)

    kinds: Mapping[str, Callable[[int], Any]] = {"overfitted": overfitted, "private": lambda _: _Twin(size)}
    for kind, make in kinds.items():
        run.step(f"membership: the {kind} network")
        model = make(99).fit(inside.inputs, inside.labels)
        place = run.place("adult", epsilon=EPSILON if kind == "private" else "inf", rows=size.rows)
        yield place.row(kind, "accuracy, training rows", _right(model, inside))
        yield place.row(kind, "accuracy, others", _right(model, outside))
        yield from _attacked(place, kind, LossThreshold(classes=CLASSES)(model, inside, outside))
        few, many = FewShadows(shadows=size.few, classes=CLASSES), Lira(shadows=size.shadows, classes=CLASSES)
        for attack in (few, many):
            run.step(f"membership: the {kind} network, {attack.shadows} shadows")
            yield from _attacked(place, kind, attack(model, inside, outside, make=make))


def _right(model: Any, examples: Examples) -> float:
    return float(np.mean(np.asarray(model.predict(examples.inputs)) == examples.labels))


def _attacked(place: Place, kind: str, finding: ModelFinding) -> Iterator[Row]:
    shadows = finding.details.get("shadows")
    method = f"{kind}: {finding.attack}" + (f", {shadows}" if shadows is not None else "")
    low, high = finding.area_interval
    yield place.row(method, "AUC", finding.area, note=f"{low:.3f} to {high:.3f}; chance is 0.5")
    (low, high), (least, most) = finding.interval or (0.0, 1.0), finding.chance
    note = f"{low:.4f} to {high:.4f}; chance gives {least:.4f} to {most:.4f}"
    yield place.row(method, "found at 1 % false alarms", finding.rate, note=note)


class _Forgetful(TrainingPlan):
    """A plan that claims its cost and draws no noise."""

    def draw_noise(self, stream: SecretStream, step: int, count: int) -> Floats:
        return np.zeros_like(super().draw_noise(stream, step, count))


class _Broken(PrivateClassifier):
    """A trainer that forgot its noise."""

    def plan(self, ledger: Ledger) -> TrainingPlan:
        honest = super().plan(ledger)
        settings = {name: value for name, value in honest.as_dict().items() if name != "epsilon"}
        return _Forgetful(**settings)


def _audited(size: _Size, kind: type[PrivateClassifier]) -> tuple[float, AuditedBound]:
    """Train with canaries; gives what was claimed and what the audit shows."""
    model = kind(**_private(size, size.audited, network="logistic", options={}).get_params())
    canaries = Canaries.draw(new_stream(), size.canaries, INPUTS, CLASSES, None, model=model)
    rows, labels, _ = canaries.added(*_adult(size.audited), None)
    ledger = Ledger.temporary(epsilon=EPSILON, delta=DELTA, rows=size.audited)
    scores = canaries.fit(model, partial(model.fit, rows, labels, ledger=ledger))
    return model.cost_[0], OneRunAudit()(scores, canaries.inside, delta=DELTA)


def _claims(run: TableRun, size: _Size) -> Iterator[Row]:
    place = run.place("adult", epsilon=EPSILON, rows=size.audited, canaries=size.canaries)
    cases = {"honest": (PrivateClassifier, size.runs), "noise forgotten": (_Broken, size.broken)}
    for method, (kind, runs) in cases.items():
        audits = []
        for number in range(runs):
            run.step(f"claims: {method}, run {number + 1} of {runs}")
            audits.append(_audited(size, kind))
        bounds = [bound.epsilon for _, bound in audits]
        above = sum(bound.epsilon > claimed for claimed, bound in audits)
        chance = binomial_tail(above, runs, SECURE)
        ceiling = f"{runs} runs; {size.canaries} canaries can show {audits[0][1].ceiling:.3f} at most"
        yield place.row(method, "claimed epsilon, highest", max(claimed for claimed, _ in audits))
        yield place.row(method, "audited bound, lowest", min(bounds), note=ceiling)
        yield place.row(method, "audited bound, highest", max(bounds), note=ceiling)
        note = f"of {runs}; as many or more have a chance of {chance:.3g} if the claim is true"
        yield place.row(method, "bounds above the claim", above, note=note)


def _domain(run: TableRun, size: _Size) -> Iterator[Row]:
    table = pl.read_csv(find("adult_train"))[: size.watched]
    place = run.place("adult", epsilon=EPSILON, rows=size.watched)

    def synthesiser(rows: pl.DataFrame) -> object:
        ledger = Ledger.temporary(epsilon=EPSILON, delta=DELTA, columns=SYNTHESIS_FACTS, rows=size.watched)
        marginals = make_synthesiser(
            "marginals", epsilon=EPSILON, delta=DELTA, target=ADULT_TARGET, schema=ADULT_SCHEMA
        )
        fitted = marginals.fit(rows, ledger=ledger)
        return fitted.describe(), fitted.sample(100, seed=1)

    def trainer(rows: pl.DataFrame) -> object:
        ledger = Ledger.temporary(epsilon=EPSILON, delta=DELTA, columns=ADULT_FACTS, rows=size.watched)
        model = _private(size, size.watched, epochs=1, target=ADULT_TARGET, seed=1)  # the same batches twice
        return model.fit(rows, ledger=ledger).predict_proba(table[:10])

    cases = {"marginals": (synthesiser, "race"), "private network": (trainer, ADULT_TARGET)}
    for method, (pipeline, column) in cases.items():
        run.step(f"domain: {method}")
        strange = table[:1].with_columns(pl.lit("Nowhere").alias(column))
        seen = assert_dp(pipeline, table, pl.concat([table, strange]))
        note = f"largest change before noise in {len(seen.moved)} mechanisms; what comes out is equal"
        yield place.row(method, f"a row with an undeclared {column}", max(seen.moved), note=note)
