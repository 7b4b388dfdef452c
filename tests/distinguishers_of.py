"""What an attacker learns from many answers about two neighbours: lower bounds on epsilon, with confidence.

For a set of answers S, P[S on one] <= exp(epsilon) P[S on the other] + delta must hold. Half of the answers
choose S, the other half count how often it happened; both chances are bounded by exact (Clopper-Pearson)
intervals. Groups of one answer have noise of their own, so a question "by g" is asked as often as there are
groups, in one call of the public verb.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
from scipy import stats

from mahrem.dp import Ledger, Relation

Scores = npt.NDArray[np.float64]
Draw = Callable[[int, int], Scores]  # which of two neighbours, how often; gives (runs, kinds)
TAILS = 200  # thresholds that are tried on the first half
GROUPS = 1000  # of one answer


def lower_bound(one: Scores, other: Scores, delta: float, alarm: float) -> float:
    """Bound epsilon from below by scores of many answers about each of two neighbours.

    Args:
        one: ``(n, kinds)`` scores of answers about one table; each kind is an attacker's own.
        other: The same of its neighbour.
        delta: The delta of the claim.
        alarm: How often the bound may lie above the truth.
    """
    half = len(one) // 2
    best = max(
        _events(one[:half], other[:half]), key=lambda event: _bound(event, one, other, half, delta, alarm)
    )
    first, second = (one, other) if best.on_one else (other, one)
    return _loss(best.hits(first[half:]), best.hits(second[half:]), len(one) - half, delta, alarm)


@dataclass(frozen=True)
class Event:
    """Answers whose score of one kind lies above, or below, a threshold."""

    kind: int
    threshold: float
    above: bool
    on_one: bool

    def hits(self, scores: Scores) -> int:
        column = scores[:, self.kind]
        return int(np.sum(column >= self.threshold if self.above else column <= self.threshold))


def _events(one: Scores, other: Scores) -> Iterator[Event]:
    for kind in range(one.shape[1]):
        seen = np.unique(np.concatenate([one[:, kind], other[:, kind]]))
        chosen = seen if len(seen) <= TAILS else np.quantile(seen, np.linspace(0, 1, TAILS), method="nearest")
        for threshold in chosen.tolist():
            yield from (Event(kind, threshold, above, on) for above in (True, False) for on in (True, False))


def _bound(event: Event, one: Scores, other: Scores, half: int, delta: float, alarm: float) -> float:
    first, second = (one, other) if event.on_one else (other, one)
    return _loss(event.hits(first[:half]), event.hits(second[:half]), half, delta, alarm)


def _loss(here: int, there: int, runs: int, delta: float, alarm: float) -> float:
    low = stats.beta.ppf(alarm / 2, here, runs - here + 1) if here else 0.0
    high = stats.beta.ppf(1 - alarm / 2, there + 1, runs - there) if there < runs else 1.0
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


@dataclass(frozen=True, kw_only=True)
class Verb:
    """A public verb, asked again and again about a table, or about its neighbour."""

    name: str
    draw: Draw
    epsilon: float = 1.0
    delta: float = 0.0
    runs: int = 20_000  # on each of the two tables

    def bound(self, runs: int | None = None, alarm: float = 1e-4) -> float:
        """Say what epsilon is at least."""
        many = runs or self.runs
        return lower_bound(self.draw(0, many), self.draw(1, many), self.delta, alarm)


def budget(**facts: Any) -> Ledger:
    """Give a ledger that covers any number of runs; what is tried here is each run alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return Ledger.temporary(epsilon=1e6, **{"delta": 0.5, **facts})


def _runs(once: Callable[[], Sequence[float]], runs: int) -> Scores:
    return np.array([once() for _ in range(runs)], dtype=np.float64)


NAMES = [f"g{place}" for place in range(GROUPS)]
FACTS: Mapping[str, Any] = {
    "x": {"lower": 0, "upper": 10},
    "ward": {"categories": ["1", "2", "3"]},
    "g": {"categories": NAMES},
}


def _by_groups(question: str, tables: Sequence[object], relation: str, settings: Mapping[str, Any]) -> Draw:
    """Ask a question by groups, each of which holds a table of its own: one call is many runs."""
    from mahrem.dp.queries import answer_query

    def draw(neighbour: int, runs: int) -> Scores:
        found: list[list[float]] = []
        while len(found) < runs:
            ledger = budget(columns=FACTS, relation=relation)
            answer = answer_query(tables[neighbour], question, ledger=ledger, epsilon=1.0, **settings)
            values: dict[str, list[float]] = {name: [] for name in NAMES}
            for row in answer.rows:
                values[row["g"]].append(float(row["value"]))
            found += [[*held, sum(held)] for held in values.values()]
        return np.array(found[:runs])

    return draw


def asked(
    question: str, one: Sequence[float], other: Sequence[float], relation: str = "add-remove", **settings: Any
) -> Verb:
    """Give a question about numbers, of two neighbours."""
    tables = [
        pl.DataFrame({"x": [*held] * GROUPS, "g": [name for name in NAMES for _ in held]})
        for held in (one, other)
    ]
    return Verb(
        name=", ".join([question, relation, *settings.get("mechanism", "laplace").split()]),
        draw=_by_groups(f"{question} by g", tables, relation, settings),
        delta=settings.get("delta", 0.0),
        runs=GROUPS if question.startswith("quantile") else 20_000,
    )


def odd_cell() -> Verb:
    """Give a question about frames that differ in one empty cell, which makes other numbers of a column."""
    people = pd.DataFrame(
        {"ward": [3, 2, 1, 3, 3, 3] * GROUPS, "g": [name for name in NAMES for _ in range(6)]}
    )
    more = pd.concat([people, pd.DataFrame({"ward": [None], "g": ["g0"]})], ignore_index=True)
    more["ward"] = more["ward"].astype(float)  # as pandas has them
    question = "count() where ward = '3' by g"
    return Verb(
        name="count() where ward = '3', one empty cell",
        draw=_by_groups(question, [people, more], "add-remove", {}),
    )


def _bounds() -> Verb:
    from mahrem.dp.queries import answer_query

    tables = [pl.DataFrame({"x": held}) for held in ([1.0] * 30, [1.0] * 29 + [900.0])]

    def draw(neighbour: int, runs: int) -> Scores:
        def once() -> Sequence[float]:
            ledger = budget(relation="replace")
            (row,) = answer_query(tables[neighbour], "bounds(x)", ledger=ledger, epsilon=1.0).rows
            return [-1e300 if row[end] is None else row[end] for end in ("lower", "upper")]

        return _runs(once, runs)

    return Verb(name="bounds(x), replace", draw=draw, runs=400)


def _answered(ask: Callable[[Any], Any], values: tuple[int, int]) -> Draw:
    """Let a person answer for one of two truths."""

    def draw(neighbour: int, runs: int) -> Scores:
        drawn = np.asarray(ask(np.full(runs, values[neighbour])), dtype=np.float64).reshape(runs, -1)
        same = [drawn[:, 0] == value for value in values]
        return np.column_stack([drawn, drawn[:, 0] - drawn[:, -1], *same])

    return draw


def _local() -> Iterator[Verb]:
    from mahrem.dp import RandomisedResponse, UnaryEncoding
    from mahrem.federated.shapes import LabelNoise

    yield Verb(name="randomised response", draw=_answered(RandomisedResponse(epsilon=1.0, values=4), (0, 3)))
    yield Verb(name="unary encoding", draw=_answered(UnaryEncoding(epsilon=1.0, values=4), (0, 3)))
    noise = partial(LabelNoise(epsilon=1.0), classes=2)
    yield Verb(name="labels of silos, another class", draw=_answered(noise, (0, 1)))
    yield Verb(name="labels of silos, none", draw=_answered(noise, (-1, 1)))


def _numbers() -> Iterator[Verb]:
    from mahrem.dp.accounting import epsilon_of, gaussian_multiplier
    from mahrem.dp.noise import GaussianNoise, LaplaceNoise
    from mahrem.learning.votes import GaussianVotes, LaplaceVotes

    def number(noise: Callable[[float], float]) -> Draw:
        return lambda neighbour, runs: _runs(lambda: [noise(float(neighbour))], runs)

    sigma = gaussian_multiplier(1.0, 1e-5)
    yield Verb(name="one number, laplace", draw=number(LaplaceNoise(scale=1.0, sensitivity=1.0)))
    yield Verb(
        name="one number, gaussian", draw=number(GaussianNoise(sigma=sigma, sensitivity=1.0)), delta=1e-5
    )

    def votes(rule: Any) -> Draw:
        def draw(neighbour: int, runs: int) -> Scores:
            counts = np.tile([[11, 9]] if neighbour else [[10, 10]], (runs, 1))
            return np.asarray(rule(counts, Relation.ADD_REMOVE), dtype=np.float64)[:, None]

        return draw

    for name, rule, delta in (("laplace", LaplaceVotes(2.0), 0.0), ("gaussian", GaussianVotes(6.0), 1e-5)):
        cost = epsilon_of(rule.event(1), delta, Relation.ADD_REMOVE)
        yield Verb(name=f"votes of teachers, {name}", draw=votes(rule), epsilon=cost, delta=delta)


ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]] * 4)
LABELS = np.array([1, 0, 0] * 4)
WITH_ODD = np.vstack([ROWS, [[0.6, 0.8]]]), np.append(LABELS, 1)


def _learnt(name: str, make: Callable[[], Any], runs: int) -> Verb:
    """Learn again and again; the attacker looks at weights, and along what the odd row changes."""

    def draw(neighbour: int, runs: int) -> Scores:
        rows, labels = WITH_ODD if neighbour else (ROWS, LABELS)

        def once() -> Sequence[float]:
            found = np.zeros(3)
            weights = _weights(make().fit(rows, labels, ledger=budget(rows=12)))[:3]
            found[: len(weights)] = weights
            return [*found, 0.6 * found[0] + 0.8 * found[1]]

        return _runs(once, runs)

    return Verb(name=name, draw=draw, delta=1e-5, runs=runs)


def _weights(model: Any) -> Scores:
    if hasattr(model, "coef_"):
        return np.ravel(model.coef_).astype(np.float64)
    from mahrem.learning.training import model_weights

    return np.concatenate([np.ravel(part) for part in model_weights(model).values()]).astype(np.float64)


def _models() -> Iterator[Verb]:
    from mahrem.learning import private

    both: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5, "classes": (0, 1)}
    steps: dict[str, Any] = {"network": "logistic", "epsilon": 1.0, "epochs": 4, "batch": 12}
    linear = {
        "linear regression, functional": partial(
            private.FunctionalLinear, epsilon=1.0, delta=1e-5, bounds=(0, 1)
        )
    }
    classes = {
        "logistic regression, functional": partial(private.FunctionalLogistic, **both),
        "logistic regression, objective": partial(private.ObjectivePerturbation, **both),
        "logistic regression, output": partial(private.OutputPerturbation, **both, regularisation=1.0),
    }
    networks = {
        "network of classes": partial(private.PrivateClassifier, classes=(0, 1), **steps),
        "network of numbers": partial(private.PrivateRegressor, lower=0, upper=1, **steps),
    }
    for name, make in linear.items():
        yield _learnt(name, make, 20_000)
    for name, make in classes.items():
        yield _learnt(name, make, 2_000)
    for name, make in networks.items():
        yield _learnt(name, make, 60)


def _score() -> Verb:
    """Give the paid score of a model, about rows of which one is wrong or not."""
    from mahrem.learning.private import PrivateBoosting

    model = PrivateBoosting(epsilon=1.0, classes=(0, 1), rounds=2)
    model.fit(np.full((9, 1), 0.5), np.ones(9), ledger=budget())
    said = model.predict([[0.5]]).tolist()

    def draw(neighbour: int, runs: int) -> Scores:
        rows, labels = np.full((4, 1), 0.5), said * 3 + (said if neighbour else [None])

        def once() -> Sequence[float]:
            return [model.score(rows, labels, ledger=budget(relation="replace"), epsilon=1.0)]

        return _runs(once, runs)

    return Verb(name="score of a model, replace", draw=draw)


def _teachers() -> Verb:
    """Give a student of teachers whose answers are counted; answers of one class teach nothing."""
    from sklearn.dummy import DummyClassifier

    from mahrem.errors import Infeasible
    from mahrem.learning.votes import LaplaceVotes, Pate

    class Remembers:
        def fit(self, _: object, labels: Any) -> Remembers:
            self.ones = float(np.sum(labels))
            return self

        def predict(self, rows: Any) -> Any:
            return np.zeros(len(rows), np.int64)

    def draw(neighbour: int, runs: int) -> Scores:
        rows, labels = np.zeros((3, 1)), np.array([0, 1, neighbour])

        def once() -> Sequence[float]:
            pate = Pate(
                teacher=DummyClassifier,
                student=Remembers,
                classes=(0, 1),
                teachers=3,
                votes=LaplaceVotes(20.0),
                questions=10,
            )
            try:
                return [
                    pate.fit(
                        rows, labels, public=np.zeros((10, 1)), ledger=budget(relation="replace")
                    ).model_.ones
                ]
            except Infeasible:
                return [-1.0]

        return _runs(once, runs)

    return Verb(name="teachers and a student, replace", draw=draw, runs=1_000)


def _synthesis() -> Verb:
    from mahrem.learning.synthesis import Marginals

    facts = {"ward": {"categories": ["1", "2"]}, "ill": {"categories": ["no", "yes"]}}
    held = pl.DataFrame({"ward": ["1"] * 1000, "ill": ["no"] * 1000})
    tables = [held, pl.concat([held, pl.DataFrame({"ward": ["2"], "ill": ["yes"]})])]

    def draw(neighbour: int, runs: int) -> Scores:
        def once() -> Sequence[float]:
            ledger = budget(columns=facts, rows=1000)
            fitted = Marginals(epsilon=1.0, delta=1e-5).fit(tables[neighbour], ledger=ledger)
            drawn = fitted.sample(1000, seed=1)
            odd = (drawn["ward"] == "2"), (drawn["ill"] == "yes")
            return [float(odd[0].sum()), float(odd[1].sum()), float((odd[0] & odd[1]).sum())]

        return _runs(once, runs)

    return Verb(name="synthetic table", draw=draw, delta=1e-5, runs=400)


def _federated() -> Iterator[Verb]:
    from mahrem.federated import LearningPlan, LocalGrid, Protections, SharedSchema, learn_together
    from mahrem.federated.rules import perturb_rules
    from mahrem.federated.weights import TrainingSilo
    from mahrem.learning.classifiers import DeclaredNumbers
    from mahrem.learning.rules import Rule, RuleList

    schema = SharedSchema(
        columns={"x": DeclaredNumbers(lower=0, upper=10, cuts=())}, target="y", classes=("a", "b")
    )
    tables = [pl.DataFrame({"x": [0.0] * 6, "y": ["a"] * 6}), pl.DataFrame({"x": [10.0] * 6, "y": ["b"] * 6})]
    others = pl.DataFrame({"x": [0.0, 10.0] * 3, "y": ["a", "b"] * 3})
    near = [others, pl.DataFrame({"x": [0.0, 10.0] * 3 + [10.0], "y": ["a", "b"] * 3 + ["a"]})]
    usual: dict[str, Any] = {"model": "logistic", "rounds": 1, "batch": 6, "rate": 1.0}
    hidden = {"clip": 0.5, "epsilon": 1.0, "delta": 1e-5}
    plans = {
        "update of a silo": (Protections(**hidden), "plain", tables, 1),
        "sum of silos": (Protections(**hidden, noise_by="sum"), "masked", tables, 3),
        "private steps of a silo": (Protections(**hidden, unit="row", rows=6), "plain", near, 1),
    }

    def draw(neighbour: int, runs: int, *, plan: LearningPlan, held: Any, clients: int) -> Scores:
        def once() -> Sequence[float]:
            frames = [held[neighbour], *([others] * (clients - 1))]
            silos = {
                f"c{place}": TrainingSilo(f"c{place}", frame, schema, plan)
                for place, frame in enumerate(frames)
            }
            grid = LocalGrid({name: silo.for_grid() for name, silo in silos.items()})
            weights = learn_together(grid, schema, plan).model.arrays["weights"].astype(np.float64)
            return [*weights[:4], float(weights @ np.resize([1.0, 1.0, -1.0, -1.0], len(weights)))]

        return _runs(once, runs)

    for name, (protections, how, held, clients) in plans.items():
        plan = LearningPlan(**usual, sum=how, least_clients=clients, protections=protections)
        yield Verb(name=name, draw=partial(draw, plan=plan, held=held, clients=clients), delta=1e-5, runs=400)

    def rules(neighbour: int, runs: int) -> Scores:
        counts = (5, 4) if neighbour else (4, 4)
        known = (Rule((("sky", "blue"),), "dry", 0.5, 0.5, counts),)
        found = RuleList(("sky",), ("dry", "wet"), known, "wet", 10 + neighbour)

        def once() -> Sequence[float]:
            noisy = perturb_rules(found, 1.0).rules
            support, sure = (noisy.rules[0].support, noisy.rules[0].confidence) if len(noisy) else (0.0, 0.0)
            return [noisy.rows, support * noisy.rows, sure, noisy.rows + support * noisy.rows]

        return _runs(once, runs)

    yield Verb(name="rules of a silo", draw=rules, runs=20_000)


def cheap_verbs() -> Iterator[Verb]:
    """Give the verbs of which a run costs about a millisecond, or less."""
    low, high = [0.0] * 5, [10.0] * 5
    half = [*low[:3], *high[:3]]
    yield asked("count()", half, [*half, 10.0])
    yield asked("count()", half, [*half, 10.0], mechanism="gaussian", delta=1e-5)
    yield asked("count() where x >= 5", half, [*half[:5], 0.0], "replace")
    yield asked("sum(x)", half, [*half, 10.0])
    yield asked("sum(x)", half, [*half[:5], 0.0], "replace")
    yield asked("mean(x)", low, [*low, 10.0])
    yield asked("variance(x)", low, [*low, 10.0])
    yield asked("histogram(x, 2)", half, [*half, 10.0])
    yield odd_cell()
    yield from _local()
    yield from _numbers()


def every_verb() -> Iterator[Verb]:
    """Give all verbs that are tried."""
    yield from cheap_verbs()
    half = [0.0] * 3 + [10.0] * 3
    yield asked("median(x)", half, [*half, 10.0])
    yield asked("quantile(x, 0.25, 0.75)", half, [*half, 10.0])
    yield _bounds()
    yield from _models()
    yield _score()
    yield _teachers()
    yield _synthesis()
    yield from _federated()


@contextmanager
def inferred_types() -> Iterator[None]:
    """Put back what was mended: cells are compared as their whole column is written."""
    from mahrem.dp import _tally_frame

    def place_by_column(
        column: str, _: pl.DataType, declared: tuple[str, ...], _decimal: str | None = None
    ) -> pl.Expr:
        text = pl.col(column).cast(pl.String)
        return text.replace_strict(declared, range(len(declared)), default=None, return_dtype=pl.Int64)

    with patch.object(_tally_frame, "place_alone", place_by_column):
        yield


@contextmanager
def halved_noise() -> Iterator[None]:
    """Draw noise of half the scale that was paid for."""
    from mahrem.dp.noise import _mechanisms

    whole = _mechanisms.integer_sampler
    with patch.object(_mechanisms, "integer_sampler", lambda kind, scale: whole(kind, scale / 2)):
        yield


FAULTS: Mapping[str, Callable[[], Any]] = {
    "type inference put back": inferred_types,
    "noise halved": halved_noise,
}
