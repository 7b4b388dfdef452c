"""Sweep methods over k on one table: what each costs, what it leaves, and which to take."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mahrem import check
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.metrics import average_risk, c_avg, highest_risk, measure
from mahrem.models import KAnonymity
from mahrem.partition import METHODS, Admission, build_method
from mahrem.pipeline._anonymize import Progress, policy_from
from mahrem.pipeline._auto import TRAITS, suits
from mahrem.pipeline._draft import Draft, draft
from mahrem.pipeline._kept import Kept, write_comparison
from mahrem.pipeline._prepare import Prepared, prepare
from mahrem.release import Policy, Settings
from mahrem.verify import Verdict, verify

__all__ = ["Comparison", "compare"]

CUSTOMARY = (2, 3, 5, 10, 20, 50)
WARM_UP = 64  # rows of a trial run, so that loading kernels is not counted as a method's time


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What a sweep found: one row per method, strategy, k and seed, and what was left out and why.

    A row has ``method``, ``strategy``, ``k``, ``seed``, ``holds``, every figure of utility, the highest and
    average risk, ``seconds`` (partition and recoding, kernels loaded before) and ``note``.
    """

    source: str
    size: int  # rows of the table
    quasi: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    left_out: Mapping[str, str]  # method or setting -> why it was not run

    def best(self, k: int) -> str | None:
        """Name the method with the least loss at one k, over seeds and strategies; None without rows."""
        found = [row for row in self.rows if row["k"] == k and row["gcp"] is not None and row["holds"]]
        return min(found, key=lambda row: (row["gcp"], row["seconds"]))["method"] if found else None

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        ks = sorted({row["k"] for row in self.rows})
        return {
            "source": self.source,
            "rows": self.size,
            "quasi": list(self.quasi),
            "results": [dict(row) for row in self.rows],
            "best": {str(k): self.best(k) for k in ks},
            "left_out": dict(self.left_out),
        }

    def save(self, folder: str | Path) -> Path:
        """Write ``comparison.csv``, ``comparison.json``, ``frontier.svg`` and ``comparison.html``."""
        return write_comparison(self.as_dict(), Path(folder))


@dataclass(frozen=True)
class _Case:
    method: str
    strategy: str | None  # None: the method does not cut
    k: int
    seed: int | None  # None: the method does not draw

    def within(self, policy: Policy) -> Policy:
        own = _own_options(policy.options, self.method)
        strategy = policy.strategy if self.strategy is None else self.strategy
        return replace(policy, method=self.method, strategy=strategy, k=self.k, seed=self.seed, options=own)

    def said(self) -> dict[str, Any]:
        return {"method": self.method, "strategy": self.strategy, "k": self.k, "seed": self.seed}


def compare(
    source: object,
    *,
    policy: str | Path | Mapping[str, Any] | Policy | None = None,
    methods: Sequence[str] | None = None,
    ks: Sequence[int] | None = None,
    strategies: Sequence[str] | None = None,
    seeds: int = 1,
    budget: float | None = None,
    output: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> Comparison:
    """Sweep methods over k on one table; nothing is published.

    Args:
        source: A pandas, polars or pyarrow frame; a CSV, Parquet, Arrow or DuckDB file; a PostgreSQL URI.
        policy: A policy file, a mapping or a :class:`~mahrem.release.Policy`; settings win over it.
        methods: Which to run; by default all that suit the size of the table.
        ks: Which k; by default customary ones up to a tenth of the rows, and the policy's own.
        strategies: ``strict``, ``relaxed`` or both, for methods that cut; by default the policy's.
        seeds: How often to run methods that draw, with seeds 0, 1, 2 …
        budget: Seconds after which no further run begins.
        output: A folder for the files; runs that are kept there are not done again.
        progress: Called with a sentence before each run.
        **settings: Every name of :class:`~mahrem.release.Settings`; ``options`` reach the methods that know
            them.

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
    step = progress or (lambda _: None)
    said = policy_from(policy, settings)
    wanted = _methods(methods, settings)
    check.at_least(1, seeds=check.whole(seeds=seeds))
    if budget is not None:
        check.at_least(0, budget=budget)
    step("reading")
    prepared = prepare(source, replace(said, k=min(ks) if ks else said.k or CUSTOMARY[0], method="mondrian"))
    chosen, left_out = _suiting(wanted, prepared.taking_part)
    _refuse_unread_options(said, chosen)
    cases = list(_cases(chosen, _ks(ks, said, prepared.taking_part), strategies or (said.strategy,), seeds))
    kept = Kept.opened(None if output is None else Path(output), prepared, said)
    run = _Run(prepared, said)
    rows: list[Mapping[str, Any]] = []
    try:
        for number, case in enumerate(cases, 1):
            row = kept.get(case.said())
            if row is None:
                if budget is not None and time.perf_counter() - began > budget:
                    left_out[_words(case)] = f"budget={budget:g} seconds were over; run it again to go on"
                    continue
                step(f"{number} of {len(cases)}: {_words(case)}")
                row = run(case)
                kept.add(row)
            rows.append(row)
    finally:
        found = Comparison(
            source=prepared.source.label,
            size=prepared.rows,
            quasi=said.quasi,
            rows=tuple(rows),
            left_out=left_out,
        )
        if output is not None and rows:
            found.save(output)
    return found


@dataclass(frozen=True)
class _Run:
    """One case after the other on one prepared table."""

    prepared: Prepared
    policy: Policy
    _warm: set[str] = field(default_factory=set)

    def __call__(self, case: _Case) -> dict[str, Any]:
        policy = case.within(self.policy)
        self._warm_up(case, policy)
        began = time.perf_counter()
        try:
            made = draft(self.prepared, policy)
        except Infeasible as error:
            return {
                **case.said(),
                "holds": False,
                **dict.fromkeys(_FIGURES),
                "seconds": None,
                "note": str(error),
            }
        seconds = time.perf_counter() - began
        verdict = _verdict(made)
        utility, _ = measure(
            made.sizes,
            made.cells,
            k=policy.k or 1,
            rows=self.prepared.rows,
            suppressed=verdict.suppressed,
            published_classes=len(verdict.sizes),
            weights=policy.weights or None,
        )
        people = verdict.people  # rows, or people where k counts them
        utility = replace(utility, c_avg=c_avg(people, policy.k or 1))
        risk = {"highest_risk": highest_risk(people), "average_risk": average_risk(people)}
        figures = {**utility.as_dict(), **risk, "seconds": round(seconds, 4), "note": ""}
        return {**case.said(), "holds": verdict.holds, **figures}

    def _warm_up(self, case: _Case, policy: Policy) -> None:
        if case.method in self._warm:
            return
        self._warm.add(case.method)
        method = build_method(
            case.method, strict=policy.strategy == "strict", seed=case.seed, options=policy.options
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


def _verdict(made: Draft) -> Verdict:
    """Check the promises on the columns that would be published."""
    prepared = made.prepared
    subjects = None
    if prepared.subjects is not None:
        subjects = np.full(prepared.rows, -1, np.int32)
        subjects[~prepared.suppress] = prepared.subjects[: prepared.taking_part]
    return verify(
        made.judged().lazy(),
        quasi=made.quasi,
        promises=made.policy.promises(),
        sensitive={name: prepared.columns[name] for name in prepared.values},
        subjects=subjects,
        suppressed=prepared.suppress,
        population=prepared.population,
    )


def _methods(methods: Sequence[str] | None, settings: Mapping[str, Any]) -> list[str] | None:
    if methods is None:
        methods = [settings["method"]] if settings.get("method") else None
    if methods is None:
        return None
    if len(methods) == 0:
        raise InvalidParameter("methods=[] must name at least one method")
    return list(dict.fromkeys(check.one_of(tuple(METHODS), method=name) for name in methods))


def _suiting(wanted: list[str] | None, rows: int) -> tuple[list[str], dict[str, str]]:
    """Give the methods to run, the quick ones first, and those left out with the reason."""
    if wanted is not None:
        return wanted, {}
    reasons = {name: suits(name, rows) for name in METHODS}
    chosen = [name for name, reason in reasons.items() if reason is None]
    chosen.sort(key=lambda name: TRAITS[name].seconds(rows))
    return chosen, {name: reason for name, reason in reasons.items() if reason is not None}


def _ks(ks: Sequence[int] | None, policy: Policy, rows: int) -> list[int]:
    if ks is not None:
        if len(ks) == 0:
            raise InvalidParameter("ks=[] must name at least one k")
        return sorted({int(check.at_least(1, k=check.whole(k=k))) for k in ks})
    customary = {k for k in CUSTOMARY if k <= max(CUSTOMARY[0], rows // 10)}
    return sorted(customary | ({policy.k} if policy.k else set()))


def _cases(
    methods: Sequence[str], ks: Sequence[int], strategies: Sequence[str], seeds: int
) -> Iterator[_Case]:
    for method in methods:
        known = inspect.signature(METHODS[method]).parameters
        cuts: Sequence[str | None] = strategies if "strict" in known else (None,)
        draws: Sequence[int | None] = range(seeds) if "seed" in known else (None,)
        yield from (_Case(method, cut, k, seed) for cut in cuts for k in ks for seed in draws)


def _own_options(options: Mapping[str, Any], method: str) -> dict[str, Any]:
    known = inspect.signature(METHODS[method]).parameters
    return {key: value for key, value in options.items() if key in known}


def _refuse_unread_options(policy: Policy, methods: Sequence[str]) -> None:
    for key in policy.options:
        if not any(_own_options({key: None}, method) for method in methods):
            raise InvalidParameter(f"option={key!r} is known to none of the methods {', '.join(methods)}")


def _words(case: _Case) -> str:
    parts = [case.method, case.strategy, f"k={case.k}", None if case.seed is None else f"seed={case.seed}"]
    return " ".join(part for part in parts if part)
