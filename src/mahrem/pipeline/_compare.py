"""Sweep methods over k on one table: what each costs, what it leaves, and which to take."""

from __future__ import annotations

import inspect
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mahrem import check
from mahrem.errors import Infeasible, InvalidParameter, spelled
from mahrem.metrics import average_risk, c_avg, highest_risk, measure
from mahrem.models import KAnonymity
from mahrem.partition import METHODS, Admission, build_method
from mahrem.pipeline._auto import suits
from mahrem.pipeline._comparison import Comparison
from mahrem.pipeline._draft import Draft, draft
from mahrem.pipeline._kept import Kept
from mahrem.pipeline._learning_measure import ORIGINAL, LearningMeasure
from mahrem.pipeline._prepare import Prepared, prepare
from mahrem.release import GivenPolicy, Policy, Settings, policy_from
from mahrem.table import as_polars
from mahrem.verify import Verdict, verify
from mahrem.words import Note, Progress, in_silence

__all__ = [
    "Comparison",
    "Sweep",
    "SweepSettings",
    "compare",
]

CUSTOMARY = (2, 3, 5, 10, 20, 50)
_STOPPABLE = {"anytime": False}  # ctrl-C ends the sweep, not the run that is on
WARM_UP = 64  # rows of a trial run, so that loading kernels is not counted as a method's time


@dataclass(frozen=True)
class _Case:
    method: str
    strategy: str | None  # None: the method does not cut
    k: int
    seed: int | None  # None: the method does not draw

    def within(self, policy: Policy) -> Policy:
        own = _own_options({**policy.options, **_STOPPABLE}, self.method)
        strategy = policy.strategy if self.strategy is None else self.strategy
        return replace(policy, method=self.method, strategy=strategy, k=self.k, seed=self.seed, options=own)

    def named(self) -> dict[str, Any]:
        return {"method": self.method, "strategy": self.strategy, "k": self.k, "seed": self.seed}


class SweepSettings(Settings, total=False):
    """What may be said to :func:`compare`: every field of :class:`Sweep`, and every setting of a release."""

    methods: Sequence[str] | None
    ks: Sequence[int] | None
    strategies: Sequence[str] | None
    seeds: int
    budget: float | None
    target: Hashable | None
    classifiers: Sequence[str] | None
    splits: int


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What to run, how often, and for how long.

    Args:
        methods: Which to run; by default all that suit the size of the table.
        ks: Which k; by default customary ones up to a tenth of the rows, and the policy's own.
        strategies: ``strict``, ``relaxed`` or both, for methods that cut; by default the policy's.
        seeds: How often to run methods that draw, with seeds 0, 1, 2 …
        budget: Seconds after which no further run begins.
        target: A column to predict: what classifiers trained on anonymised rows reach on untouched ones.
        classifiers: Names of :data:`mahrem.learning.classifiers.CLASSIFIERS`; by default two of them.
        splits: How often rows are split into training and test rows.
    """

    methods: Sequence[str] | None = None
    ks: Sequence[int] | None = None
    strategies: Sequence[str] | None = None
    seeds: int = 1
    budget: float | None = None
    target: Hashable | None = None
    classifiers: Sequence[str] | None = None
    splits: int = 5

    def __post_init__(self) -> None:
        check.at_least(1, seeds=check.whole(seeds=self.seeds))
        if self.budget is not None:
            check.at_least(0, budget=self.budget)
        for name in ("methods", "ks"):
            given = getattr(self, name)
            if given is not None and len(given) == 0:
                raise InvalidParameter(f"{name}=[] must name at least one {name[:-1]}")
        for method in self.methods or ():
            check.one_of(METHODS, method=method)
        if self.classifiers is not None and self.target is None:
            raise InvalidParameter(f"classifiers need a target to predict: {spelled('target', 'COLUMN')}")

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> tuple[Sweep, dict[str, Any]]:
        """Take what is a sweep's out of settings; gives the rest too. One ``method`` is a sweep of one."""
        own = {entry.name: settings[entry.name] for entry in fields(cls) if entry.name in settings}
        rest = {name: value for name, value in settings.items() if name not in own}
        if own.get("methods") is None and rest.get("method"):
            own["methods"] = [rest["method"]]
        return cls(**own), rest

    def methods_for(self, rows: int) -> tuple[list[str], dict[str, str]]:
        """Give the methods to run, the quick ones first, and those left out with the reason."""
        if self.methods is not None:
            return list(dict.fromkeys(self.methods)), {}
        reasons = {name: suits(name, rows) for name in METHODS}
        chosen = [name for name, reason in reasons.items() if reason is None]
        chosen.sort(key=lambda name: METHODS[name].seconds(rows))
        return chosen, {name: reason for name, reason in reasons.items() if reason is not None}

    def ks_for(self, rows: int, own: int | None) -> list[int]:
        """Give the k to run; ``own`` is the policy's."""
        if self.ks is not None:
            return sorted({int(check.at_least(1, k=check.whole(k=k))) for k in self.ks})
        customary = {k for k in CUSTOMARY if k <= max(CUSTOMARY[0], rows // 10)}
        return sorted(customary | ({own} if own else set()))

    def cases(self, methods: Sequence[str], rows: int, policy: Policy) -> Iterator[_Case]:
        """Give every run of some methods on a table."""
        ks, strategies = self.ks_for(rows, policy.k), self.strategies or (policy.strategy,)
        for method in methods:
            known = inspect.signature(METHODS[method].load()).parameters
            cuts: Sequence[str | None] = strategies if "strict" in known else (None,)
            draws: Sequence[int | None] = range(self.seeds) if "seed" in known else (None,)
            yield from (_Case(method, cut, k, seed) for cut in cuts for k in ks for seed in draws)


def compare(
    source: object,
    *,
    policy: GivenPolicy = None,
    output: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Unpack[SweepSettings],
) -> Comparison:
    """Sweep methods over k on one table; nothing is published.

    Args:
        source: As for :func:`mahrem.anonymize`.
        policy: A policy file, a mapping or a :class:`~mahrem.release.Policy`; settings win over it.
        output: A folder for the files; runs that are kept there are not done again.
        progress: Called with a sentence before each run.
        **settings: What to run (every field of :class:`Sweep`: ``methods``, ``ks``, ``strategies``,
            ``seeds``, ``budget``, ``target``, ``classifiers``, ``splits``), and every name of
            :class:`~mahrem.release.Settings`; ``options`` reach the methods that know them.

    Guarantees:
        - Every row was verified on the columns that would be published; ``holds`` says what was found.
        - With ``output``, what is done is kept at once: ctrl-C loses the run in progress and no other.

    Example:
        >>> import mahrem as mh
        >>> patients = mh.demo_patients(300)
        >>> roles = {"quasi": ["age", "sex"], "sensitive": "diagnosis", "rest": "drop"}
        >>> found = mh.compare(patients, methods=["mondrian"], ks=[2, 5], **roles)
        >>> [(row["method"], row["k"], row["holds"]) for row in found.rows]
        [('mondrian', 2, True), ('mondrian', 5, True)]
    """
    began = time.perf_counter()
    step = progress or in_silence
    sweep, rest = Sweep.of(settings)
    policy = policy_from(policy, rest, whole=True)
    target = None if sweep.target is None else check.column_name(target=sweep.target)
    step(Note("stage.reading"))
    least = min(sweep.ks) if sweep.ks else policy.k or CUSTOMARY[0]
    prepared = prepare(source, replace(policy, k=least, method="mondrian"))
    chosen, left_out = sweep.methods_for(prepared.taking_part)
    _refuse_unread_options(policy, chosen)
    cases = list(sweep.cases(chosen, prepared.taking_part, policy))
    learnt = None
    if target is not None:
        learnt = LearningMeasure.of(prepared, policy, target, sweep.classifiers, sweep.splits)
    folder = None if output is None else Path(output)
    kept = Kept.opened(folder, prepared, policy, () if learnt is None else learnt.depends_on)
    run = _CaseRunner(prepared, policy, learnt)
    original = _original(learnt, kept, step)
    rows: list[Mapping[str, Any]] = []
    try:
        for number, case in enumerate(cases, 1):
            row = kept.get(case.named())
            if row is None:
                if sweep.budget is not None and time.perf_counter() - began > sweep.budget:
                    left_out[_words(case)] = Note("left_out.budget", {"budget": sweep.budget})
                    continue
                step(Note("stage.run", {"number": number, "all": len(cases), "case": _words(case)}))
                row = run(case)
                kept.add(row)
            rows.append(row)
    finally:
        comparison = Comparison(
            source=prepared.source.label,
            size=prepared.rows,
            quasi=policy.quasi,
            rows=tuple(rows),
            left_out=left_out,
            target=target,
            classifiers=() if learnt is None else learnt.classifiers,
            original=original,
        )
        if output is not None and rows:
            comparison.save(output)
    return comparison


def _original(learnt: LearningMeasure | None, kept: Kept, step: Progress) -> Mapping[str, Any] | None:
    """Give the figures of the table itself, kept like every run."""
    if learnt is None:
        return None
    named = {"method": ORIGINAL, "strategy": None, "k": None, "seed": None}
    row = kept.get(named)
    if row is None:
        step(Note("stage.original"))
        row = {**named, **learnt.original()}
        kept.add(row)
    return row


@dataclass(frozen=True)
class _CaseRunner:
    """One case after the other on one prepared table."""

    prepared: Prepared
    policy: Policy
    learnt: LearningMeasure | None
    _warm: set[str] = field(default_factory=set)

    def __call__(self, case: _Case) -> dict[str, Any]:
        policy = case.within(self.policy)
        self._warm_up(case, policy)
        began = time.perf_counter()
        try:
            candidate = draft(replace(self.prepared, promises=policy.promises()), policy)
        except Infeasible as error:
            return {
                **case.named(),
                "holds": False,
                **dict.fromkeys(_FIGURES),
                "seconds": None,
                **dict.fromkeys(() if self.learnt is None else self.learnt.columns),
                "note": str(error),
            }
        seconds = time.perf_counter() - began
        verdict = _verdict(candidate)
        utility, _ = measure(
            candidate.sizes,
            candidate.cells,
            k=policy.k or 1,
            rows=self.prepared.rows,
            suppressed=verdict.suppressed,
            published_classes=len(verdict.sizes),
            weights=policy.weights or None,
        )
        people = verdict.people  # rows, or people where k counts them
        utility = replace(utility, c_avg=c_avg(people, policy.k or 1))
        risk = {"highest_risk": highest_risk(people), "average_risk": average_risk(people)}
        learnt, note = self._learn(candidate, policy)
        figures = {**utility.as_dict(), **risk, "seconds": round(seconds, 4), **learnt, "note": note}
        return {**case.named(), "holds": verdict.holds, **figures}

    def _learn(self, candidate: Draft, policy: Policy) -> tuple[dict[str, Any], str]:
        if self.learnt is None:
            return {}, ""
        try:
            return self.learnt(candidate, policy), ""
        except Infeasible as error:  # the training rows are fewer than the rows
            return dict.fromkeys(self.learnt.columns), f"nothing was learnt: {error}"

    def _warm_up(self, case: _Case, policy: Policy) -> None:
        if case.method in self._warm:
            return
        self._warm.add(case.method)
        brief = _own_options({"seconds": None, "evaluations": 1}, case.method)  # not the budget of a run
        options = {**policy.options, **brief}
        method = build_method(
            case.method, strict=policy.strategy == "strict", seed=case.seed, options=options
        )
        pairs = np.random.default_rng(0).random((WARM_UP // 2, len(self.prepared.axes)))
        points = np.repeat(pairs, 2, axis=0)
        # Two equal rows of one person are refused as a class of two: what merges is loaded as well.
        plain = len(policy.promises()) == 1 and self.prepared.subjects is None
        people = None if plain else np.repeat(np.arange(WARM_UP // 2, dtype=np.int32), 2)
        method(points, Admission(((KAnonymity(2), None),), rows=WARM_UP, subjects=people))


_FIGURES = (
    *("classes", "published_classes", "dm", "mean_class_size", "c_avg", "gcp", "gcp_sum", "iloss"),
    *("distortion", "suppressed", "highest_risk", "average_risk"),
)


def _verdict(candidate: Draft) -> Verdict:
    """Check the promises on the columns that would be published."""
    prepared = candidate.prepared
    table = candidate.judged() if prepared.values else as_polars(candidate.table()).select(candidate.quasi)
    return verify(
        table.lazy(),
        candidate.claims,
        subjects=candidate.subjects,
        suppressed=candidate.hidden,
        population=prepared.population,
    )


def _own_options(options: Mapping[str, Any], method: str) -> dict[str, Any]:
    known = inspect.signature(METHODS[method].load()).parameters
    return {key: value for key, value in options.items() if key in known}


def _refuse_unread_options(policy: Policy, methods: Sequence[str]) -> None:
    for key in policy.options:
        if not any(_own_options({key: None}, method) for method in methods):
            raise InvalidParameter(f"option={key!r} is known to none of the methods {', '.join(methods)}")


def _words(case: _Case) -> str:
    parts = [case.method, case.strategy, f"k={case.k}", None if case.seed is None else f"seed={case.seed}"]
    return " ".join(part for part in parts if part)
