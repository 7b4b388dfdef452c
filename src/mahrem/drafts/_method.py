"""Which method partitions a table, with which settings, under which promises."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem import check
from mahrem.drafts._coarse_axes import partition_in_blocks
from mahrem.drafts._prepare import Prepared
from mahrem.drafts._rewritten import past_the_door
from mahrem.errors import InvalidParameter, spelled
from mahrem.models import KAnonymity, PrivacyModel, Promise
from mahrem.partition import METHODS, Admission, Admits, Levels, Partition
from mahrem.partition.judging import within_patterns
from mahrem.release.decisions import BOUNDING, COARSENING, Policy, method_of, unordered
from mahrem.table import Leaves, Values
from mahrem.types import Mask, Rows
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.partition import Partitioner
    from mahrem.partition.judging import ColumnCosts

_ROUNDING = 1e-9


def chosen_method(prepared: Prepared, policy: Policy) -> tuple[str, Note | None, dict[str, Any]]:
    """Give the method, why it was chosen if it was, and its own options."""
    options = dict(policy.options)
    if policy.method != "auto":
        name = check.one_of(METHODS, method=policy.method)
        return name, None, options_in_time(policy, name)
    from mahrem.partition import LIGHT, MethodEvidence, choose_method

    evidence = MethodEvidence(
        rows=prepared.taking_part,
        columns=len(prepared.axes),
        unordered=len(unordered([axis.domain for axis in prepared.axes])),
        k=policy.k or 1,
        apart=policy.delta_presence is not None,
        demanding=_demanding(prepared, policy, LIGHT),
        seconds=options.get("seconds") if policy.seconds is None else policy.seconds,
    )
    name, reason = choose_method(evidence)
    if name != "mosaic":  # the time allowed had its say
        options.pop("seconds", None)
        return name, reason, options
    options = options_in_time(policy, name)
    if _about_values(prepared):
        options.setdefault("blind", True)
    return name, reason, options


def options_in_time(policy: Policy, method: str) -> dict[str, Any]:
    """Give the options of a method, with the time it may take; one that cannot end early is refused that."""
    options = dict(policy.options)
    if policy.seconds is None:
        return options
    if "seconds" in options:
        raise InvalidParameter("seconds is said twice, as a setting and as an option of the method")
    if METHODS[method].takes("seconds"):
        return {**options, "seconds": policy.seconds}
    if policy.repair:
        return options
    raise InvalidParameter(
        f"seconds is for methods that can end early; method={method!r} cannot: leave it out, "
        f"or let its classes be repaired with {spelled('repair', True)}"
    )


def _about_values(prepared: Prepared) -> bool:
    """Say whether values are promised something: members chosen by their values would tell of them."""
    return any(promise.column is not None for promise in prepared.promises)


def refuse_for_levels(policy: Policy, method: str) -> None:
    """Refuse what a method that lifts whole columns cannot do."""
    policy = past_the_door(policy)
    if policy.local and policy.suppressed != "hidden":
        raise InvalidParameter(f"suppressed={policy.suppressed!r} does not go with local; leave one out")
    lacking = [name for name in policy.quasi if name not in policy.hierarchy]
    if policy.profitability is not None and lacking:
        raise InvalidParameter(
            f"profitability reckons with what cells lose: say the hierarchy of {lacking[0]!r}, "
            f"{spelled('hierarchy', {lacking[0]: 'FILE'})}"
        )
    for name in ("jitter", "repair", *COARSENING, *BOUNDING):
        if getattr(policy, name):
            raise InvalidParameter(
                f"{name} is for methods that cut; method={method!r} lifts whole columns to levels: "
                f"choose another method, or say it in a hierarchy"
            )


def refuse_without_levels(policy: Policy, method: str) -> None:
    """Refuse what only a method that lifts whole columns can do."""
    if policy.profitability is not None:
        raise InvalidParameter(
            f"profitability reckons with levels of hierarchies; method={method!r} cuts: choose 'flash', say"
        )
    if policy.local:
        raise InvalidParameter(
            f"local is for methods that lift whole columns; method={method!r} cuts: choose 'flash', say"
        )
    if policy.suppressed != "hidden":
        raise InvalidParameter(
            f"suppressed={policy.suppressed!r} is for methods that suppress rows; method={method!r} cuts and "
            f"suppresses none: choose one that lifts whole columns, such as 'flash'"
        )


def refuse_for_hidden_cells(policy: Policy, method: str) -> None:
    """Refuse what makes no sense where a cell shows a value or nothing at all."""
    for name in ("jitter", "repair", "at_most", "automatic"):
        if getattr(policy, name):
            raise InvalidParameter(
                f"{name} is for methods that widen cells; method={method!r} shows a value or hides it: "
                f"choose another method, or leave it out"
            )
    if policy.cells not in {"text", "pairs"}:
        raise InvalidParameter(
            f"cells={policy.cells!r} needs something in every cell; method={method!r} hides some of them: "
            f"say cells='text' or 'pairs'"
        )


def partitioner_of(
    prepared: Prepared, policy: Policy, name: str, options: Mapping[str, object]
) -> Partitioner:
    """Build a method for a table."""
    domains = [axis.domain for axis in prepared.axes]
    limit = _limit(prepared, policy)
    if METHODS[name].full_domain:
        from mahrem.drafts._full_domain import objective_options

        options = objective_options(prepared, policy, options)
        method = method_of(policy, name, domains, options=options, suppression_limit=limit)
        return _locally(method) if policy.local else method
    # With jitter columns get random weights: what cells cost is no longer known by places.
    priced = name == "mosaic" or METHODS[name].hides or options.get("cut") == "cells"
    known = policy.jitter is None and (priced or policy.repair)
    cells: tuple[ColumnCosts, ...] = ()
    if known:
        from mahrem.release.decisions import cell_costs

        cells = cell_costs(prepared.axes, policy)
    method = method_of(policy, name, domains, options=options, suppression_limit=limit, cells=cells)
    if policy.repair:
        from mahrem.partition import Repaired
        from mahrem.partition.mosaic import Repair

        how = Repair(blind=_about_values(prepared), seconds=policy.seconds)
        method = Repaired(method, how, cells=cells)
    return method


def _locally(method: Partitioner) -> Partitioner:
    from mahrem.partition import LocalRecoding
    from mahrem.partition.lattice import FullDomain

    if not isinstance(method, FullDomain):
        raise InvalidParameter("local is for our methods that lift whole columns")
    return LocalRecoding(method)


def partition_rows(
    prepared: Prepared, policy: Policy, name: str, options: Mapping[str, object], judge: Admission
) -> Partition:
    """Sort rows into classes by a method, under the promises of a judge."""
    domains = [axis.domain for axis in prepared.axes]
    limit = _limit(prepared, policy)
    method = partitioner_of(prepared, policy, name, options)
    if policy.jitter is not None:
        from mahrem.partition import Jittered

        trees = tuple(isinstance(domain, Leaves) for domain in domains)
        method = Jittered(method, share=policy.jitter, trees=trees, seed=policy.seed)
    points, absent = prepared.points(), prepared.absent()

    def sort(rows: Rows | None, admits: Admits) -> Partition:
        if rows is None:
            return within_patterns(method, points, absent, admits)
        return within_patterns(method, points[rows], absent[rows], admits)

    partition = partition_in_blocks(sort, prepared.axes, policy, judge, limit)
    return partition if prepared.members is None else _of_the_table(partition, prepared.members)


def _of_the_table(partition: Partition, members: Mask) -> Partition:
    """Leave out classes in which nobody of the table is: they are not published."""
    labels = partition.labels[members]
    some = np.bincount(labels[labels >= 0], minlength=partition.classes) > 0
    if some.all():
        return partition
    numbers = np.append(np.where(some, np.cumsum(some) - 1, -1), -1)  # the last place is label -1
    how = partition.how if isinstance(partition.how, Levels) else None  # cuts count all classes
    return Partition(labels=numbers[partition.labels], classes=int(some.sum()), how=how)


def admission(
    prepared: Prepared, promises: Sequence[Promise] | None = None, *, keeps_sensitive: bool = False
) -> Admission:
    """Give the judge of candidate classes for what is promised, or for some other promises."""
    judged: list[tuple[PrivacyModel, Values | None]] = []
    promised = prepared.promises if promises is None else promises
    asked = [promise.model for promise in promised]
    for promise in promised:
        if promise.model.of_members:
            judged.append((promise.model, prepared.membership()))
        elif promise.model.by_size:  # rows enough are all that it asks for
            judged.append((KAnonymity(promise.model.least_rows), None))
        elif promise.model.name != "trajectory-k-anonymity" and not (
            promise.model.of_table or promise.model.of_cells
        ):
            readings = prepared.values[promise.column].readings if promise.column else (None,)
            judged.extend((promise.model, values) for values in readings)
    return Admission(
        tuple(judged),
        len(prepared.axes[0].positions),
        subjects=prepared.subjects,
        members=prepared.members,
        keeps_sensitive=keeps_sensitive,
        of_table=tuple(model for model in asked if model.of_table),
        of_cells=tuple(model for model in asked if model.of_cells),
    )


def _demanding(prepared: Prepared, policy: Policy, share: float) -> bool:
    """Say whether many small classes will be refused; distinct l up to a share of k refuses few."""
    from mahrem.models import DistinctDiversity

    light = share * (policy.k or 1)
    beyond = [promise.model for promise in prepared.promises if not isinstance(promise.model, KAnonymity)]
    return policy.subject is not None or not all(
        isinstance(model, DistinctDiversity) and model.l <= light for model in beyond
    )


def _limit(prepared: Prepared, policy: Policy) -> float:
    """Give the share of the rows taking part that a method may suppress, after those that miss values."""
    if policy.suppression_limit is None:
        return 0.0
    left = math.floor(policy.suppression_limit * prepared.rows + _ROUNDING) - int(prepared.suppress.sum())
    return min(1.0, max(0, left) / prepared.taking_part)
