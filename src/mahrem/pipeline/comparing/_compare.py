"""Sweep methods over k on one table: what each costs, what it leaves, and which to take."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from mahrem.drafts import ORIGINAL, Draft, LearningMeasure, Prepared, as_told, draft, prepare, utility_of
from mahrem.errors import Infeasible, InvalidParameter, in_our_words
from mahrem.metrics import METRICS, average_risk, guess_within_classes, highest_risk
from mahrem.models import KAnonymity
from mahrem.partition import Admission, build_method
from mahrem.pipeline.comparing._comparison import Comparison
from mahrem.pipeline.comparing._kept import Kept
from mahrem.pipeline.comparing._sweep import CUSTOMARY, Case, Sweep, own_options
from mahrem.pipeline.releasing import floor_of
from mahrem.release import decided
from mahrem.release.decisions import GivenPolicy, Policy, policy_from, reading_of
from mahrem.table import Source, as_polars, open_source
from mahrem.verify import Verdict, verify
from mahrem.words import Note, Progress, in_silence

if TYPE_CHECKING:
    from mahrem.pipeline.comparing._sweep_keywords import SweepKeywords

WARM_UP = 64  # rows of a trial run, so that loading kernels is not counted as a method's time


@in_our_words
def compare(
    source: object,
    *,
    policy: GivenPolicy = None,
    output: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Unpack[SweepKeywords],
) -> Comparison:
    """Sweep methods over k on one table; nothing is published.

    Args:
        source: As for :func:`mahrem.anonymize`. Of a file that does not fit into ``memory`` (half of what is
            free) as many rows as fit are drawn, and ``left_out`` says so.
        policy: A policy file, a mapping or a :class:`~mahrem.Policy`; settings win over it.
        output: A folder for the files; runs that are kept there are not done again.
        progress: Called with a sentence before each run.
        **settings: What to run (every field of :class:`Sweep`), and every setting of a release;
            ``options`` reach the methods that know them.

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
    policy = policy_from(policy, rest, whole=True, bounded=True)
    target = sweep.target
    step(Note("stage.reading"))
    least = min(sweep.ks) if sweep.ks else policy.k or CUSTOMARY[0]
    whole = open_source(source, reading_of(policy))
    opened = _in_memory(whole, policy)
    policy = replace(decided(policy, opened), memory=None)  # it fits now
    prepared = prepare(opened, replace(policy, k=least, method="mondrian"), to_publish=False)
    chosen, left_out = sweep.methods_for(prepared.taking_part)
    if opened is not whole:
        left_out["rows"] = Note("left_out.sampled", {"rows": opened.rows, "of": whole.rows})
    _refuse_unread_options(policy, chosen)
    cases = list(sweep.cases(chosen, prepared.taking_part, policy))
    learnt = None
    if target is not None:
        learnt = LearningMeasure.of(prepared, policy, target, sweep.classifiers, sweep.splits)
    folder = None if output is None else Path(output)
    kept = Kept.opened(folder, prepared, policy, () if learnt is None else learnt.depends_on)
    run = _CaseRunner(prepared, policy, learnt)
    original = _original(learnt, kept, step)
    rows: list[Mapping[str, object]] = []
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
            asked=policy.k,
            target=target,
            classifiers=() if learnt is None else learnt.classifiers,
            original=original,
        )
        if output is not None and rows:
            comparison.save(output, language=policy.language)
    return comparison


def _in_memory(opened: Source, policy: Policy) -> Source:
    """Give the table, or rows drawn from one that does not fit; what was asked for is kept or refused."""
    from mahrem.spilled import needed_in_memory, sample_that_fits

    sampled = sample_that_fits(opened, policy.memory, policy.seed)
    if sampled is not None:
        return sampled
    if policy.memory is not None and needed_in_memory(opened.rows, len(opened.columns)) > policy.memory:
        raise InvalidParameter(
            f"memory={policy.memory}: the source is a {opened.label}, of which no rows can be drawn; save it "
            f"as Parquet, or leave memory out"
        )
    return opened


def _original(learnt: LearningMeasure | None, kept: Kept, step: Progress) -> Mapping[str, object] | None:
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

    def __call__(self, case: Case) -> dict[str, Any]:
        policy = case.within(self.policy)
        if policy.minimality_safe is None:  # methods are compared as they are
            policy = replace(policy, minimality_safe=False)
        self._warm_up(case, policy)
        began = time.perf_counter()
        try:
            candidate = draft(replace(self.prepared, promises=policy.promises()), policy)
        except Infeasible as error:
            return {
                **case.named(),
                "holds": False,
                **dict.fromkeys((*METRICS, "highest_risk", "average_risk", "guess_gain")),
                "seconds": None,
                **dict.fromkeys(() if self.learnt is None else self.learnt.columns),
                "note": str(error),
            }
        seconds = time.perf_counter() - began
        verdict = as_told(candidate_verdict(candidate), policy, floor_of(policy))
        hidden = verdict.least_hidden
        utility, _ = utility_of(candidate, verdict)
        risk = {
            "highest_risk": highest_risk(hidden),
            "average_risk": average_risk(hidden),
            "guess_gain": _guess_gain(candidate),
        }
        learnt, note = self._learn(candidate, policy)
        figures = {**utility, **risk, "seconds": round(seconds, 4), **learnt, "note": note}
        return {**case.named(), "holds": verdict.holds, **figures}

    def _learn(self, candidate: Draft, policy: Policy) -> tuple[dict[str, object], str]:
        if self.learnt is None:
            return {}, ""
        try:
            return self.learnt(candidate, policy), ""
        except Infeasible as error:  # the training rows are fewer than the rows
            return dict.fromkeys(self.learnt.columns), f"nothing was learnt: {error}"

    def _warm_up(self, case: Case, policy: Policy) -> None:
        if case.method in self._warm:
            return
        self._warm.add(case.method)
        brief = own_options({"seconds": None, "evaluations": 1}, case.method)  # not the budget of a run
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


def _guess_gain(candidate: Draft) -> float | None:
    """Say how much better than chance members of classes are told apart by who was put with whom.

    Of all sensitive columns the one where that is most; None without one.
    """
    points, labels = candidate.prepared.points(), candidate.partition.labels
    values = candidate.prepared.values.values()
    return max((guess_within_classes(points, labels, one.codes).gain for one in values), default=None)


def candidate_verdict(candidate: Draft) -> Verdict:
    """Check the promises on the columns that would be published."""
    prepared = candidate.prepared
    table = (
        candidate.judged()
        if prepared.values
        else as_polars(candidate.table()).select(candidate.judged_columns)
    )
    return verify(
        table.lazy(),
        candidate.claims,
        subjects=candidate.subjects,
        suppressed=candidate.hidden,
        population=prepared.population,
    )


def _refuse_unread_options(policy: Policy, methods: Sequence[str]) -> None:
    for key in policy.options:
        if not any(own_options({key: None}, method) for method in methods):
            raise InvalidParameter(f"option={key!r} is known to none of the methods {', '.join(methods)}")


def _words(case: Case) -> str:
    parts = [case.method, case.strategy, f"k={case.k}", None if case.seed is None else f"seed={case.seed}"]
    return " ".join(part for part in parts if part)
