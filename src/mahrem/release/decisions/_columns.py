"""What a policy means for a table: how it is read, roles, kinds, hierarchies, cells, and a method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import Infeasible, InvalidParameter, spelled
from mahrem.partition import Partitioner, build_method
from mahrem.recode import Recoding, default_recoding, heaped
from mahrem.release.decisions._policy import Policy
from mahrem.release.decisions._refusals import refuse_unheard
from mahrem.table import EVERY, Axis, Column, Domain, Kind, Leaves, Numbers, Reading, Role, Words, read_kind
from mahrem.table.columns import assign_roles, refuse_lookalikes, refuse_mixed_zones
from mahrem.table.reading import Spelling

if TYPE_CHECKING:
    from mahrem.table import Hierarchy


def roles_of(columns: Sequence[str], policy: Policy) -> tuple[str, ...]:
    """Check every column's role and give those that are not published."""
    named = {*policy.quasi, *policy.sensitive, *policy.insensitive}
    hidden = [*policy.identifier, *policy.pseudonym]
    if policy.subject is not None and policy.subject not in named:
        hidden.append(policy.subject)
    roles = assign_roles(
        columns,
        quasi=policy.quasi,
        sensitive=tuple(policy.sensitive),
        identifier=tuple(dict.fromkeys(hidden)),
        insensitive=policy.insensitive,
        rest=policy.rest,
    )
    refuse_unheard(policy, columns, roles)
    _refuse_unread_dates(policy, columns, roles)
    return tuple(
        name
        for name, role in roles.items()
        if role is None or (role is Role.IDENTIFIER and name not in policy.pseudonym)
    )


def _refuse_unread_dates(policy: Policy, columns: Sequence[str], roles: Mapping[str, Role | None]) -> None:
    """Refuse formats of columns that are not published: they would do nothing."""
    named = [name for name in policy.date_format if name != EVERY]
    check.columns_exist(named, columns)
    for name in named:
        if roles[name] in (None, Role.IDENTIFIER):
            raise InvalidParameter(
                f"date_format.{name} would do nothing: column={name!r} is not published; leave one out"
            )


def column_of(
    policy: Policy, series: pl.Series, role: Role, hierarchies: Mapping[str, Hierarchy]
) -> tuple[Column, pl.Series]:
    """Decide what a column is, as declared, else as its values look; gives the values as read on the way."""
    name = series.name
    order = policy.order.get(name)
    hierarchy = hierarchies.get(name)
    if name in policy.kind:
        kind = policy.kind[name]
    elif order is not None:
        kind = Kind.ORDINAL
    elif hierarchy is not None:
        kind = Kind.CATEGORICAL
    else:
        kind, series = read_kind(series, decimal=policy.decimal)
        refuse_mixed_zones(series, name)  # not dates, but not meant to be words either
        if kind is Kind.CATEGORICAL:
            refuse_lookalikes(series, decimal=policy.decimal)
    if kind is Kind.ORDINAL and order is None:
        raise InvalidParameter(
            f"kind.{name}='ordinal' needs its order: {spelled('order', {name: 'lowest,…,highest'})}"
        )
    words = policy.kind.get(name) is Kind.CATEGORICAL
    return Column(name=name, role=role, kind=kind, order=order, hierarchy=hierarchy, words=words), series


def hierarchies_of(policy: Policy, names: Sequence[str] | None = None) -> dict[str, Hierarchy]:
    """Give the hierarchies that a policy names, of all its columns or of some."""
    return {
        name: hierarchy_of(name, given)
        for name, given in policy.hierarchy.items()
        if names is None or name in names
    }


def hierarchy_of(name: str, given: object) -> Hierarchy:
    """Give a hierarchy that was given as such or as a file."""
    from mahrem.table import Hierarchy

    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, str | Path):
        from mahrem.table import read_hierarchy

        return read_hierarchy(Path(given))
    raise InvalidParameter(f"hierarchy.{name} must be a file or a Hierarchy")


def recoding_of(
    axis: Axis, policy: Policy, level: int | None, *, heaps: Callable[[Axis], bool] = heaped
) -> Recoding:
    """Give how a column is written; with a level, as the nodes of that level.

    ``heaps`` says whether values are heaped on lines of the grid, where the axis has not all of them.
    """
    if axis.name in policy.suppress:
        from mahrem.recode import Whole

        return Whole()
    if level is not None:
        from mahrem.recode import Nodes

        return Nodes(level=level)
    if policy.cells == "centroid":
        from mahrem.recode import Centroids

        return Centroids()
    ends = policy.bottom.get(axis.name), policy.top.get(axis.name)
    inner = _in_blocks(axis, policy)
    if inner is None:
        step = _step(axis, policy)  # one that was asked for has its lines at round numbers
        shifted = policy.bounds == "grid" and step is None and heaps(_between(axis, ends))
        inner = default_recoding(axis, bounds=policy.bounds, step=step, shifted=shifted)
    if ends == (None, None):
        return inner
    from mahrem.recode import OpenEnded

    return OpenEnded(inner, *ends)


def least_step(policy: Policy, name: str) -> tuple[str, Any] | None:
    """Give what says how fine the cells of a quasi-identifier may be: the setting and its step."""
    for setting in ("bands", "at_least", "round", "prefix"):
        if name in getattr(policy, setting):
            return setting, getattr(policy, setting)[name]
    return None


def _in_blocks(axis: Axis, policy: Policy) -> Recoding | None:
    """Give how a column is written whose cells may not be finer than something."""
    least = least_step(policy, axis.name)
    if least is None:
        return None
    setting, step = least
    match axis.domain:
        case Leaves():
            from mahrem.recode import Nodes

            return Nodes(least=int(step))
        case Words(labels):
            from mahrem.recode import Prefixes

            return Prefixes(most=int(step) if setting == "prefix" else max(map(len, labels)) - int(step))
        case _:
            from mahrem.recode import Blocks

            return Blocks(step, single=setting == "bands")


def _step(axis: Axis, policy: Policy) -> float | str | None:
    """Give the step of a grid, as asked for, or so that its lines end cells where they must end."""
    step, most = policy.grid.get(axis.name), policy.at_most.get(axis.name)
    if step is not None or most is None or isinstance(axis.domain, Words | Leaves):
        return step
    from mahrem.recode import dividing_step, moment_step, nest

    if isinstance(axis.domain, Numbers):
        return dividing_step(axis.domain, float(most))
    usual = moment_step(axis.domain)
    return usual if nest(usual, str(most)) else most


def _between(axis: Axis, ends: tuple[float | None, float | None]) -> Axis:
    """Leave out what was put on a declared end: many may lie there."""
    given = [end for end in ends if end is not None]
    if not given:
        return axis
    return replace(axis, positions=np.where(np.isin(axis.positions, given), np.nan, axis.positions))


def unordered(domains: Sequence[Domain]) -> tuple[int, ...]:
    """Give the places of quasi-identifiers whose values have no order."""
    return tuple(
        place
        for place, domain in enumerate(domains)
        if isinstance(domain, Leaves) or (isinstance(domain, Words) and not domain.ordered)
    )


def method_of(policy: Policy, name: str, domains: Sequence[Domain], **more: Any) -> Partitioner:
    """Build the method of a name for columns, as the policy says; ``more`` wins over it."""
    given = {
        "strict": policy.strategy == "strict",
        "seed": policy.seed,
        "categorical": unordered(domains),
        "hierarchies": tuple(domain.hierarchy if isinstance(domain, Leaves) else None for domain in domains),
        "options": dict(policy.options),
    }
    return build_method(name, **{**given, **more})


def refuse_beyond_limit(share: float, policy: Policy) -> None:
    """Refuse to suppress a larger share of the rows for missing values than the policy allows."""
    if policy.suppression_limit is not None and share > policy.suppression_limit:
        raise Infeasible(
            f"suppression_limit={policy.suppression_limit} is too small: missing values would suppress "
            f"{share:.2f} of the rows; raise it or choose another {spelled('missing')}",
            reached=round(share, 2),
        )


class ReadingSettings(TypedDict, total=False):
    """How to read a source: every key is a field of :class:`~mahrem.table.Reading`, or ``sql``."""

    delimiter: str | None
    encoding: str | None
    decimal: Literal[".", ","] | None
    null: str | Sequence[str]
    query: str | None
    sql: str | None  # another word for query
    table: str | None
    header: bool | None
    names: str | Sequence[str]
    skip_rows: int | None


def reading_from(settings: Mapping[str, object]) -> Reading:
    """Read what was said by the keys of :class:`ReadingSettings`; others are refused."""
    check.unknown_keys(settings, tuple(ReadingSettings.__annotations__), where="setting")
    given = {name: value for name, value in settings.items() if value is not None}
    return Reading(**check.under_one_name(given, "sql", "query"))


def reading_of(policy: Policy) -> Reading:
    """Give how the policy says a source is to be read."""
    return Reading(
        delimiter=policy.delimiter,
        encoding=policy.encoding,
        decimal=policy.decimal,
        null=policy.null,
        query=policy.query,
        table=policy.table,
        header=policy.header,
        names=policy.names,
        skip_rows=policy.skip_rows,
        skip_last=policy.skip_last,
        spelling=Spelling(
            decimal=policy.decimal,
            thousands=policy.thousands,
            date_format=policy.date_format,
            verbatim=frozenset(_taken_as_written(policy)),
        ),
        honoured=True,
    )


def reading_beside(policy: Policy) -> Reading:
    """Give how a second table that the policy names is read: in the same form, but all of it."""
    return replace(
        reading_of(policy),
        query=None,
        table=None,
        header=policy.header or None,
        names=(),
        skip_rows=None,
        skip_last=None,
        honoured=False,
    )


def reading_of_release(policy: Policy) -> Reading:
    """Give how the table in a release of ours is read: it has a header, and cells as we write them."""
    return replace(reading_beside(policy), header=True, spelling=None)


def _taken_as_written(policy: Policy) -> Iterator[str]:
    """Give columns whose cells are names, words or codes whatever they look like."""
    yield from (name for name, kind in policy.kind.items() if kind not in (Kind.NUMERIC, Kind.DATE))
    yield from (*policy.order, *policy.hierarchy, *policy.pseudonym, *policy.identifier)
    if policy.subject is not None:
        yield policy.subject
