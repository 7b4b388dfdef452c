"""Values changed by noise, swaps and chance; measured, and never called k-anonymous."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from mahrem import check
from mahrem.disclosed import of_crowd, published
from mahrem.errors import GuaranteeBroken, InvalidParameter, in_our_words
from mahrem.metrics.perturbed import (
    eigenvalue_change,
    il1s,
    interval_share,
    linked_share,
    moment_changes,
    slope_change,
)
from mahrem.perturbation import PERTURBATIONS
from mahrem.pipeline.masking._masked import MaskedRelease, MaskedSource, open_masked, publish_masked
from mahrem.pipeline.masking._perturbed_steps import PerturbationStep, numbers_of
from mahrem.pipeline.masking._settings import PerturbationSettings
from mahrem.release import refuse_giving_away
from mahrem.settings import split_settings
from mahrem.table.cells import as_text
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.pipeline.masking._keywords import PerturbationKeywords

CROWD = 100  # rows below which nothing is said about how far values moved


@in_our_words
def perturb(
    source: object,
    *,
    output: str | Path | None = None,
    force: bool = False,
    **settings: Unpack[PerturbationKeywords],
) -> MaskedRelease:
    """Change values by chance. Nothing is promised about k: what is given away is measured instead.

    Args:
        source: A frame, a file or a database.
        output: Write a release folder there; without it the table is only checked in memory.
        force: Replace an earlier release under ``output``.
        **settings: Every name of :class:`~mahrem.pipeline.masking.PerturbationKeywords`.
            ``steps``: what is done to which columns, in this order:
            ``{"income,tax": "noise:share=0.2"}``, a mapping with its ``method`` instead of the text,
            or texts ``"income=rank-swap:percent=10"``; the methods are
            :data:`~mahrem.perturbation.PERTURBATIONS`. ``seed``: for experiments alone, whoever knows it can
            undo what was done; never told. Further roles of columns, how the source is read, ``format``.

    Guarantees:
        - Columns that no step names are published as they were; rows are as many.
        - The matrix by which words were changed is published with them.
        - The report says that k is not promised, how many records are still linked, and how far values moved.

    Example:
        >>> import mahrem as mh
        >>> patients = mh.demo_patients(300)
        >>> changed = perturb(patients, steps={"age": "noise:share=0.3"}, quasi=["age"], rest="drop")
        >>> changed.report["promises_k"]
        False
    """
    asked, rest = split_settings(PerturbationSettings, settings)
    steps, seed = _steps(asked), asked.seed
    looks_at = [name for step in steps for name in step.looks_at]
    opened = open_masked(source, rest, to_publish=False, looks_at=looks_at)
    named = [name for step in steps for name in step.columns]
    check.columns_exist(named, opened.table.columns)
    if opened.policy.weights:
        raise InvalidParameter("weights say what hidden cells cost; here they would do nothing")
    rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
    table, notes = opened.table, []
    for step in steps:
        table, more = step(table, opened.beside, rng)
        notes.append(
            {
                "columns": list(step.columns),
                "method": step.method,
                "options": published(dict(step.options)),
                **published(more),
            }
        )
    policy = opened.policy
    refuse_giving_away(table, policy, named=(*policy.quasi, *policy.sensitive, *policy.insensitive))

    def verified(shown: pl.DataFrame) -> None:
        if shown.height != table.height or shown.columns != table.columns:
            raise GuaranteeBroken("the published table does not have the rows and columns it should have")

    report = {
        "holds": True,
        "promises_k": False,
        "promises": [],
        "method": "perturbation",
        "steps": notes,
        "measures": _measures(opened, table, steps),
        "warnings": [str(Note("warning.perturbed"))],
        "rows": published(table.height),
        "settings": published(policy.public()),
    }
    return publish_masked(table, report, opened, output=output, force=force, verified=verified)


def _steps(settings: PerturbationSettings) -> list[PerturbationStep]:
    if not settings.steps:
        raise InvalidParameter("steps=() must say what to change, such as {'income': 'noise'}")
    return [PerturbationStep.of(columns, step) for columns, step in settings.steps]


def _measures(
    opened: MaskedSource, table: pl.DataFrame, steps: Sequence[PerturbationStep]
) -> dict[str, object]:
    """Measure what moved, over all rows and to two digits; of few rows nothing is said."""
    if table.height < CROWD:
        return {"too_few_rows": True}
    numeric = [
        name for step in steps if PERTURBATIONS[step.method].takes == "numbers" for name in step.columns
    ]
    measures: dict[str, object] = {}
    if numeric:
        names = list(dict.fromkeys(numeric))
        old, new = numbers_of(opened.table, names), numbers_of(table, names)
        whole = ~(np.isnan(old) | np.isnan(new)).any(axis=1)
        if int(whole.sum()) >= CROWD:
            measures |= _of_numbers(old[whole], new[whole])
    others = [name for step in steps for name in step.columns if name not in numeric]
    changed = {
        name: int((as_text(opened.table[name]) != as_text(table[name])).sum()) / table.height
        for name in others
    }
    measures |= {"changed_share": changed} if changed else {}
    return dict(of_crowd(_rounded(measures)))


def _of_numbers(old: np.ndarray[Any, Any], new: np.ndarray[Any, Any]) -> dict[str, float]:
    means, covariances = moment_changes(old, new)
    return {
        "record_linkage": linked_share(old, new),
        "interval_disclosure": interval_share(old, new),
        "il1s": il1s(old, new),
        "largest_change_of_a_mean": means,
        "largest_change_of_a_covariance": covariances,
        "eigenvalues": eigenvalue_change(old, new),
        "largest_change_of_a_coefficient": slope_change(old, new),
    }


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    return float(f"{value:.2g}")
