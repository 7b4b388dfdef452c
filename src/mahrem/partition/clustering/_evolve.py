"""kAnonyMeans*: evolve what kAnonyMeans starts from, or the groups themselves."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Event, Lock

import numpy as np

from mahrem import check
from mahrem.arrays import averaging
from mahrem.errors import InvalidParameter
from mahrem.partition._partition import Admits, Partition, Partitioner
from mahrem.partition.clustering._k_anonymeans import KAnonyMeans, Measure, MergeOrder, refine
from mahrem.partition.clustering._k_means import Start, draw_centres
from mahrem.partition.clustering._microaggregation import admit_by_merging, generator, prepare
from mahrem.threads import available_threads
from mahrem.types import Floats, Labels, Points

_EFFORT = 16  # neighbourhoods tried per group in one evaluation
_SLICE = 100  # neighbourhoods between two looks at the clock
_EVALUATIONS = 30  # without any budget


@dataclass(frozen=True)
class KAnonyMeansStar:
    """Evolve groupings made by kAnonyMeans until a budget ends; the best one counts.

    As published (``refine=False``), an individual is a set of centres and its fitness the loss of
    kAnonyMeans from them. The survivors have children that take every centre from one of two parents, and
    some children get random records in the place of ``strength`` centres.

    With ``refine`` (ours, the author's wish "microaggregation directly by evolution") an individual is a
    grouping. The first ones are made by kAnonyMeans; a child takes whole groups of one parent on one side of
    a random plane and those of the other parent elsewhere, and what the border leaves too small is merged;
    mutants have ``strength`` neighbourhoods grouped anew. Every individual is then improved: moves, swaps,
    dissolving and splitting while they lower the squared error, and kAnonyMeans from random centres inside
    small neighbourhoods, kept where it is better.

    It can be interrupted: after ctrl-C it gives the best so far, or stops as anything else does if
    ``anytime`` is False (whoever measures many runs wants that).

    Args:
        population: Individuals of a round.
        survivors: Of them, those that have children.
        mutants: Children that mutate.
        strength: How much of them.
        seconds: A budget of time.
        evaluations: A budget of individuals; 30 without any budget.
        refine: Evolve groupings, not centres.
        anytime: Give the best so far when interrupted.

    The others are those of :class:`~mahrem.partition.KAnonyMeans`.

    Raises:
        InvalidParameter: If a setting does not fit, such as a budget of zero.
        Infeasible: If ``admits`` refuses the table as one class.
        InvalidInput: If a number is not finite.

    Guarantees:
        - Every row has one label; labels are ``0 .. c-1`` and none is empty.
        - ``admits`` accepts every class.
        - A seed and a budget in evaluations give the same groups again.
        - With a plain minimum, more evaluations never make it worse.

    References:
        Stoldt: Datenbankanonymisierung auf Basis von k-means-Algorithmen, 2019.

    Example:
        >>> from mahrem.models import KAnonymity
        >>> from mahrem.partition import Admission
        >>> points = np.array([[0.0], [0.9], [0.1], [1.0]])
        >>> admits = Admission(((KAnonymity(2), None),), rows=4)
        >>> KAnonyMeansStar(evaluations=3, seed=1)(points, admits).sizes
        array([2, 2])
    """

    population: int = 8
    survivors: int = 3
    mutants: int = 2
    strength: int = 4
    seconds: float | None = None
    evaluations: int | None = None
    refine: bool = True
    anytime: bool = True
    kappa: int | None = None
    start: Start = "k-means++"
    order: MergeOrder = "inner"
    measure: Measure = "centre"
    standardise: bool = True
    seed: int | None = None

    def __call__(
        self, points: Points, admits: Admits, *, threads: int | None = None, stop: Event | None = None
    ) -> Partition:
        """Sort rows into classes that ``admits`` accepts.

        Args:
            points: ``(n, d)`` quasi-identifiers.
            admits: Its minimum is k; what it refuses is merged where the squared error grows least.
            threads: How many; None for one per core. With a budget in evaluations the result does not
                depend on it.
            stop: When it is set, from another thread or by ctrl-C, what is there counts.
        """
        _check(self)
        scaled, minimum = prepare(points, admits, standardise=self.standardise)
        if minimum == 1 or len(scaled) < 2 * minimum:
            few = np.arange(len(scaled)) if minimum == 1 else np.zeros(len(scaled), np.int64)
            return admit_by_merging(scaled, few, admits)
        evolution = _Evolution(scaled, minimum, self, stop=Event() if stop is None else stop)
        best = evolution.run(available_threads(threads))
        return admit_by_merging(scaled, best.labels, admits)

    def begin(self, rows: int) -> Partitioner:
        """Give the method for a table of so many rows that comes in parts: one budget, one interrupt."""
        return _Begun(self, rows)


@dataclass(frozen=True)
class _Begun:
    """The method while it goes through the parts of one table."""

    settings: KAnonyMeansStar
    rows: int
    stop: Event = field(default_factory=Event)

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort the rows of one part, in its share of the time."""
        own = self.settings
        if own.seconds is not None:
            own = replace(own, seconds=check.finite(seconds=own.seconds) * len(points) / self.rows)
        return own(points, admits, stop=self.stop)


@dataclass(frozen=True)
class _Individual:
    """A grouping, and the centres it was made from."""

    error: float
    labels: Labels
    centres: Floats


@dataclass(frozen=True)
class _Job:
    """One evaluation: a new individual, or a child of two."""

    seed: int
    parents: tuple[_Individual, _Individual] | None
    mutates: bool


@dataclass
class _Evolution:
    """The search: jobs are drawn one after the other, and done in threads."""

    points: Points
    minimum: int
    settings: KAnonyMeansStar
    deadline: float = np.inf
    stop: Event = field(default_factory=Event)
    best: _Individual | None = None  # also of a round that was interrupted
    lock: Lock = field(default_factory=Lock)  # of the best

    def run(self, threads: int) -> _Individual:
        """Evolve until the budget ends or somebody interrupts; gives the best individual."""
        settings, rng = self.settings, generator(self.settings.seed)
        limit = settings.evaluations
        left = np.inf if limit is None else limit
        if limit is None and settings.seconds is None:
            left = _EVALUATIONS
        if settings.seconds is not None:
            self.deadline = time.monotonic() + settings.seconds
        people: list[_Individual] = []
        try:
            with ThreadPoolExecutor(threads) as pool:
                while left > 0 and not (people and self.late()):
                    jobs = self.jobs(people, rng)[: int(min(left, settings.population))]
                    left -= len(jobs)
                    try:
                        born = list(pool.map(self.work, jobs))
                    except BaseException:
                        self.stop.set()
                        pool.shutdown(cancel_futures=True)
                        raise
                    people = [*people, *(child for child in born if child is not None)]
                    people = sorted(people, key=lambda child: child.error)[: settings.survivors]
        except KeyboardInterrupt:
            self.stop.set()
            if self.best is None or not settings.anytime:
                raise
            return self.best
        return people[0]

    def late(self) -> bool:
        """Whether to end: the time is over, or somebody interrupted."""
        return self.stop.is_set() or time.monotonic() >= self.deadline

    def jobs(self, people: Sequence[_Individual], rng: np.random.Generator) -> list[_Job]:
        """Draw the next round: a first population, or children of the survivors."""
        settings = self.settings
        count = settings.population - settings.survivors if people else settings.population
        jobs = []
        for child in range(count):
            seed = int(rng.integers(2**62))
            parents = None
            if people:
                pair = rng.choice(len(people), 2, replace=len(people) < 2)
                parents = (people[pair[0]], people[pair[1]])
            jobs.append(_Job(seed, parents, mutates=child < settings.mutants))
        return jobs

    def work(self, job: _Job) -> _Individual | None:
        """Make and judge an individual; None when there is no time left and another one is there."""
        if self.best is not None and self.late():
            return None
        rng = np.random.default_rng(job.seed)
        individual = self.directly(job, rng) if self.settings.refine else self.by_centres(job, rng)
        with self.lock:
            if self.best is None or individual.error < self.best.error:
                self.best = individual
        return individual

    def by_centres(self, job: _Job, rng: np.random.Generator) -> _Individual:
        """Run kAnonyMeans from new or recombined centres."""
        centres = self.drawn(rng)
        if job.parents is not None:
            first, second = (parent.centres for parent in job.parents)
            centres = np.where(rng.random((len(first), 1)) < 0.5, first, second)
            if job.mutates:
                count = min(self.settings.strength, len(centres))
                records = rng.choice(len(self.points), count, replace=False)
                centres[rng.choice(len(centres), count, replace=False)] = self.points[records]
        labels = self.grouped(centres)
        error = averaging.squared_error(self.points, labels, int(labels.max()) + 1)
        return _Individual(float(error), labels, centres)

    def directly(self, job: _Job, rng: np.random.Generator) -> _Individual:
        """Make a grouping by kAnonyMeans or from two others, and improve it."""
        if job.parents is None:
            labels = self.grouped(self.drawn(rng))
        else:
            first, second = job.parents
            labels = self.recombined(first.labels, second.labels, rng)
        refine(self.points, labels, self.minimum)
        shakes = self.settings.strength if job.parents is not None and job.mutates else 0
        steps = _EFFORT * (len(self.points) // self.minimum)
        for done in range(0, steps, _SLICE):
            if self.late():
                break
            seed = int(rng.integers(2**62))
            averaging.polish(self.points, labels, self.minimum, shakes, min(_SLICE, steps - done), seed)
            shakes = 0
        error = averaging.squared_error(self.points, labels, len(self.points) // self.minimum)
        return _Individual(float(error), labels, np.empty((0, 0)))

    def drawn(self, rng: np.random.Generator) -> Floats:
        """Draw centres to start from."""
        kappa = self.settings.kappa
        wanted = len(self.points) // self.minimum if kappa is None else kappa
        return self.points[draw_centres(self.points, wanted, self.settings.start, rng)]

    def grouped(self, centres: Floats) -> Labels:
        """Run kAnonyMeans from centres."""
        method = KAnonyMeans(order=self.settings.order, measure=self.settings.measure)
        return method.group(self.points, centres, self.minimum)

    def recombined(self, first: Labels, second: Labels, rng: np.random.Generator) -> Labels:
        """Take the groups of one parent on one side of a random plane, those of the other elsewhere."""
        groups = len(self.points) // self.minimum
        along = self.points @ rng.standard_normal(self.points.shape[1])
        sizes = np.bincount(first, minlength=groups)
        middle = np.bincount(first, weights=along, minlength=groups) / np.maximum(sizes, 1)
        border = np.quantile(middle[sizes > 0], rng.uniform(0.1, 0.9))
        labels = np.where(middle[first] <= border, first, second + groups)
        averaging.groups_from_labels(self.points, labels, 2 * groups, self.minimum, averaging.INNER, False)
        return labels


def _check(settings: KAnonyMeansStar) -> None:
    """Refuse settings that do not fit."""
    check.at_least(2, population=check.whole(population=settings.population))
    check.at_least(1, survivors=check.whole(survivors=settings.survivors))
    if settings.survivors >= settings.population:
        raise InvalidParameter(
            f"survivors={settings.survivors} must be below population={settings.population}"
        )
    check.at_least(0, mutants=check.whole(mutants=settings.mutants))
    check.at_least(0, strength=check.whole(strength=settings.strength))
    if settings.evaluations is not None:
        check.at_least(1, evaluations=check.whole(evaluations=settings.evaluations))
    if settings.seconds is not None and check.finite(seconds=settings.seconds) <= 0:
        raise InvalidParameter(
            f"seconds={settings.seconds!r} must be above 0: a budget of zero finds nothing"
        )
