"""What a real run would give, from samples: classes, loss, time and memory."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from mahrem import check
from mahrem.drafts import draft, prepare
from mahrem.errors import Infeasible, InvalidParameter, either, in_our_words
from mahrem.pipeline.releasing._publish import checked_frame
from mahrem.pipeline.releasing._summary import summarise
from mahrem.release import decided
from mahrem.release.decisions import GivenPolicy, Policy, policy_from, reading_of
from mahrem.table import Source, open_source
from mahrem.words import Note, Progress, in_silence

if TYPE_CHECKING:
    from mahrem.release.decisions import ReleaseKeywords

SAMPLE = 20_000  # rows of the largest sample
_FIRST = 500  # rows that are run first and not measured: kernels are loaded then
_MEMORY = 120 * 2**20  # libraries and kernels, before there is any row
_COPIES = 3.0  # of the published table: as read, as written, as read back
_ARRAYS = 5  # arrays of 8 bytes for each row and quasi-identifier while classes are made
_ROW = 120  # bytes for each row: labels, orders, hashes


@dataclass(frozen=True, kw_only=True)
class DryRun:
    """What to expect; nothing was written."""

    report: Mapping[str, Any]


@dataclass(frozen=True)
class _Sample:
    rows: int
    seconds: float
    classes: int
    gcp: float
    suppressed: int


@in_our_words
def dry_run(
    source: object,
    *,
    policy: GivenPolicy = None,
    sample: int = SAMPLE,
    html: bool = True,
    progress: Progress | None = None,
    **settings: Unpack[ReleaseKeywords],
) -> DryRun:
    """Say what anonymising a table would give, without doing so.

    Three samples, each twice as large as the one before, are anonymised and verified in memory. Classes grow
    and loss falls with the power of the rows that the samples show, and time is that of ``n log n`` or of
    ``n²``, whichever fits the samples better. Memory is worked out from the table's width.

    Args:
        source: As for :func:`mahrem.anonymize`.
        policy: As for :func:`mahrem.anonymize`.
        sample: Rows of the largest sample; a table that has no more is run as a whole.
        html: The real run would draw a report.
        progress: Called with the name of each stage as it begins.
        **settings: As for :func:`mahrem.anonymize`.

    Raises:
        Infeasible: If the promise cannot be kept in any sample.

    Guarantees:
        - Nothing is written anywhere.
        - The report holds figures only.

    Example:
        >>> import mahrem as mh
        >>> from mahrem.pipeline import dry_run
        >>> found = dry_run(mh.demo_patients(400), quasi=["age", "zip"], rest="drop", k=5).report
        >>> found["rows"], found["sampled"], found["holds_in_samples"]
        (400, 400, True)
    """
    check.at_least(100, sample=check.whole(sample=sample))
    policy = policy_from(policy, settings)
    if policy.engine == "spark":
        raise InvalidParameter(
            f"dry_run is for engine='local'{either('', '; on Spark --explain prints the plan')}"
        )
    if not policy.promises():
        raise InvalidParameter("k=None: no promise was asked for; say at least k")
    step = progress or in_silence
    step(Note("stage.reading"))
    began = time.perf_counter()
    opened = open_source(source, reading_of(policy))
    policy = decided(policy, opened)
    rows = opened.rows
    table = opened.take(opened.columns)
    reading = time.perf_counter() - began
    order = np.random.default_rng(policy.seed).permutation(rows)
    largest = min(sample, rows)
    sizes = sorted({max(1, largest // 4), max(1, largest // 2), largest})
    _try(table[order[: min(_FIRST, largest)]], policy, report=html)  # not measured
    samples = []
    for size in sizes:
        step(Note("stage.trying", {"size": size, "rows": rows}))
        if (tried := _try(table[order[:size]], policy, report=html)) is not None:
            samples.append(tried)
    if not samples:
        prepare(
            _sample(table[order[:largest]], policy), policy, to_publish=False
        )  # says itself what cannot be reached
        raise Infeasible(f"no sample of up to {largest} rows keeps the promise; ask for less")
    return DryRun(report=_report(samples, rows, table, policy, reading))


def _sample(table: pl.DataFrame, policy: Policy) -> Source:
    reading = reading_of(policy)
    return open_source(table, type(reading)(decimal=reading.decimal, null=reading.null))


def _try(table: pl.DataFrame, policy: Policy, *, report: bool) -> _Sample | None:
    """Anonymise and verify a sample; None where the promise cannot be kept in it."""
    began = time.perf_counter()
    try:
        trial = draft(prepare(_sample(table, policy), policy, to_publish=False), policy)
        verdict = checked_frame(trial, trial.table())
    except Infeasible:
        return None
    figures = summarise(trial, verdict, seconds=0.0, pictures=report).utility
    return _Sample(
        table.height,
        time.perf_counter() - began,
        int(figures["classes"] or 0),
        float(figures["gcp"] or 0.0),
        int(figures["suppressed"] or 0),
    )


def _report(
    samples: Sequence[_Sample], rows: int, table: pl.DataFrame, policy: Policy, reading: float
) -> dict[str, object]:
    last = samples[-1]
    whole = last.rows == rows
    growth = rows / last.rows
    seconds, form = fitted([sample.rows for sample in samples], [sample.seconds for sample in samples], rows)
    classes = round(_carried(samples, "classes", rows, least=0.0, most=1.0))
    writing = reading  # a file is written about as quickly as it is read
    return {
        "dry_run": True,
        "rows": rows,
        "sampled": last.rows,
        "exact": whole,
        "holds_in_samples": True,
        "classes": classes,
        "mean_class_size": (rows - round(last.suppressed * growth)) / max(classes, 1),
        "gcp": _carried(samples, "gcp", rows, least=-0.5, most=0.0),
        "suppressed": round(last.suppressed * growth),
        "seconds": round(reading + writing + seconds, 2),
        "seconds_follow": form,
        "memory_mb": round((_MEMORY + _bytes(table, policy)) / 2**20),
        "samples": [
            {
                "rows": sample.rows,
                "classes": sample.classes,
                "gcp": sample.gcp,
                "seconds": round(sample.seconds, 4),
            }
            for sample in samples
        ],
    }


def _bytes(table: pl.DataFrame, policy: Policy) -> float:
    return _COPIES * table.estimated_size() + table.height * (_ROW + 8 * _ARRAYS * len(policy.quasi))


def _carried(samples: Sequence[_Sample], figure: str, rows: int, *, least: float, most: float) -> float:
    """Carry a figure on along a power of the rows, the one the two largest samples show."""
    last = float(getattr(samples[-1], figure))
    before = float(getattr(samples[-2], figure)) if len(samples) > 1 else 0.0
    if rows == samples[-1].rows or last <= 0 or before <= 0:
        return last
    power = math.log(last / before) / math.log(samples[-1].rows / samples[-2].rows)
    return float(last * (rows / samples[-1].rows) ** min(max(power, least), most))


def fitted(sizes: Sequence[int], seconds: Sequence[float], rows: int) -> tuple[float, str]:
    """Carry measured times on to more rows, along ``a + b n log n`` or ``a + b n²``.

    The second is taken only if it fits at least four times better: a little noise must not frighten anybody.

    Returns:
        The time for ``rows``, and the form it follows.

    Example:
        >>> fitted([1000, 2000, 4000], [1.0, 4.0, 16.0], 8000)
        (64.0, 'n²')
    """
    forms: dict[str, Callable[[float], float]] = {
        "n log n": lambda n: n * math.log2(n + 1),
        "n²": lambda n: n * n,
    }
    fits: dict[str, tuple[float, float]] = {}
    for name, form in forms.items():
        cost = np.array([form(size) for size in sizes])
        design = np.column_stack([np.ones(len(cost)), cost / cost[-1]])
        (fixed, slope), *_ = np.linalg.lstsq(design, np.array(seconds), rcond=None)
        if fixed < 0 or len(sizes) < 2:  # nothing takes less than no time
            fixed, slope = 0.0, float(np.dot(design[:, 1], seconds) / np.dot(design[:, 1], design[:, 1]))
        slope = max(float(slope), 0.0)
        error = float(np.square(design @ [fixed, slope] - seconds).sum())
        fits[name] = error, float(fixed + slope * form(rows) / cost[-1])
    name = "n²" if len(sizes) > 2 and fits["n²"][0] * 4 < fits["n log n"][0] else "n log n"
    return max(round(fits[name][1], 6), seconds[-1] if rows >= sizes[-1] else 0.0), name
