"""What is said about a release: figures only, no value of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from mahrem.drafts import Draft, guarded_risk, risk_of, singling_columns
from mahrem.metrics import measure
from mahrem.models import Outcome
from mahrem.partition import Levels
from mahrem.recode import Nodes
from mahrem.report import class_size_bins, distribution
from mahrem.table import Role, exported_names
from mahrem.types import Sizes
from mahrem.verify import Verdict, people_per_class, published_classes

__all__ = ["promises_of", "summarise"]

SMALLEST_SHOWN = 3  # a report never shows a count below this, whatever k is


def promises_of(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Give the outcomes as the contract spells them."""
    return [outcome.as_dict() for outcome in outcomes]


def summarise(
    draft: Draft, verdict: Verdict, *, seconds: float, pictures: bool, target: str | None = None
) -> dict[str, Any]:
    """Gather the report of a release; ``pictures`` adds what came before, the red team and relations."""
    policy, prepared = draft.policy, draft.prepared
    sizes = draft.sizes
    utility, per_column = measure(
        sizes,
        draft.cells,
        k=policy.k or 1,
        rows=prepared.rows,
        suppressed=verdict.suppressed,
        published_classes=len(verdict.sizes),
        people=verdict.people,  # k counts people where told so
        weights=policy.weights or None,
    )
    floor = max(policy.k or 1, SMALLEST_SHOWN)
    more: dict[str, Any] = {}
    if target is not None:
        from mahrem.drafts import measure_learning

        more["learning"] = measure_learning(draft, target)
    if pictures:
        from mahrem.drafts import probe, relations

        more |= {"relations": relations(draft, floor=floor), "red_team": probe(draft, floor=floor)}
    return {
        "mahrem": version("mahrem"),
        "created": datetime.now(UTC).date().isoformat(),
        "holds": verdict.holds,
        "promises": promises_of(verdict.outcomes),
        "utility": utility,
        "columns": {
            name: _column(draft, name, per_column, pictures=pictures)
            for name in prepared.source.columns
            if name not in prepared.leave_out or name in policy.identifier
        },
        "published": {
            "quasi": exported_names(draft.quasi, policy.format),
            "sensitive": exported_names(list(prepared.values), policy.format),
        },
        "risk": _risk(draft, verdict, floor, before=pictures),
        **more,
        "class_sizes": class_size_bins(verdict.sizes),
        "rows": prepared.rows,
        "rows_in": len(prepared.keep),
        "dropped": int((~prepared.keep).sum()),
        "missing": {
            "policy": str(policy.missing),
            "dropped": int((~prepared.keep).sum()),
            "suppressed": int(prepared.suppress.sum()),
        },
        "method": draft.method,
        **({} if draft.method_reason is None else {"method_reason": draft.method_reason}),
        "settings": policy.public(),
        "seconds": round(seconds, 3),
        "warnings": list(_caveats(draft)),
    }


def _column(
    draft: Draft, name: str, figures: Mapping[str, Mapping[str, float]], *, pictures: bool
) -> dict[str, Any]:
    prepared = draft.prepared
    if name not in prepared.columns:
        named = name in draft.policy.identifier or name in draft.policy.pseudonym
        return {"role": str(Role.IDENTIFIER if named else Role.INSENSITIVE)}
    column = prepared.columns[name]
    said: dict[str, Any] = {"role": str(column.role), "kind": str(column.kind)}
    if name in figures:
        recoding = draft.recodings[name]
        said |= {"recoding": type(recoding).__name__.lower(), **figures[name]}
        if isinstance(recoding, Nodes) and recoding.level is not None:
            said["level"] = recoding.level
    if name in figures and pictures:
        axis = next(axis for axis in prepared.axes if axis.name == name)
        rows = prepared.taking_part  # without the others of a population
        said["distribution"] = distribution(
            replace(axis, positions=axis.positions[:rows]),
            draft.partition.labels[:rows],
            draft.cells[name],
            floor=max(draft.policy.k or 1, SMALLEST_SHOWN),
        )
    return said


def _risk(draft: Draft, verdict: Verdict, floor: int, *, before: bool) -> dict[str, Any]:
    """Give the risk of what is published and, on demand, of the original."""
    prepared = draft.prepared
    if prepared.population is None:
        risk = risk_of(verdict.people, fraction=draft.policy.fraction)
    else:
        everyone = prepared.population.height
        labels = draft.partition.labels
        fitting = np.bincount(labels[labels >= 0], minlength=draft.partition.classes)
        risk = risk_of(draft.sizes, population=fitting, everybody=everyone)
    if not before:
        return risk
    sizes = _sizes_before(draft)
    everybody = None if prepared.population is None else prepared.population.height
    original = risk_of(sizes, fraction=draft.policy.fraction, everybody=everybody)
    risk["before"] = guarded_risk(original, int(sizes.sum()), floor)
    risk["unique_columns"] = singling_columns(prepared.axes, prepared.taking_part, floor=floor)
    return risk


def _sizes_before(draft: Draft) -> Sizes:
    axes = draft.prepared.axes
    rows = draft.prepared.taking_part
    frame = pl.DataFrame({str(number): axis.positions[:rows] for number, axis in enumerate(axes)})
    if draft.prepared.subjects is None:  # nobody asks which rows they are
        return frame.group_by(frame.columns).len()["len"].to_numpy().astype(np.int64)
    labels, sizes = published_classes(frame, frame.columns)
    return people_per_class(labels, draft.prepared.subjects[:rows], len(sizes))


def _caveats(draft: Draft) -> list[str]:
    policy = draft.policy
    said = list(draft.notes)
    if policy.subject is not None:
        said.append(
            "k counts people, verified before the subject column was left out; the file alone shows rows."
        )
    if policy.bounds == "exact" and any(np.isfinite(axis.span).all() for axis in draft.prepared.axes):
        said.append("Bounds are exact: the smallest and largest values of classes are real values of people.")
    if policy.pseudonym:
        said.append(
            "Pseudonyms tie the rows of one person together: whoever finds one row finds all of them."
        )
    how = draft.partition.how
    if isinstance(how, Levels) and not how.finished:
        said.append("The search ran out of time: there may be levels that lose less than these.")
    if policy.automatic is not None and policy.learn_from is None:
        said.append("Groups were learnt from the table itself: which values share one tells of the target.")
    if policy.k is None:
        said.append("No k was asked for: rows may be singled out.")
    return said
