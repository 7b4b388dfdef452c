"""The people an attacker knows: those of the original table, and everyone it might have been drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.contents import content_hashes
from mahrem.drafts import plain_text, rewritten
from mahrem.errors import InvalidInput, spelled
from mahrem.matching import People, Published, fit_of, match, read_people
from mahrem.release.decisions import Policy, coarsened_by_row, members_in, reading_of, without_columns
from mahrem.table import Source, open_source
from mahrem.table.cells import SUPPRESSED, numbers_of_text
from mahrem.table.columns import apply_missing, as_people
from mahrem.types import Integers, Mask

_FITTING = 0.5  # share of the looked-at classes that must fit the original


def people_of(given: object, published: Published, policy: Policy, parameter: str) -> People:
    """Read people with the columns of a release."""
    opened = open_source(given, reading_of(policy))
    lacking = [name for name in published.quasi if name not in opened.columns]
    if lacking:
        raise InvalidInput(f"{parameter} does not match the release: it has no column={lacking[0]!r}")
    shown = (*published.quasi, *published.sensitive, *published.plain)
    names = [name for name in shown if name in opened.columns]
    gone = frozenset(coarsened_by_row(policy)) - {*opened.columns}
    # What is said to show nothing must not: then no figure may depend on it.
    silent = tuple(name for name in policy.suppress if (published.cells[name] == SUPPRESSED).all())
    policy = replace(policy, suppress=silent)
    # Who knows a value knows the cell it is published in.
    opened, policy = rewritten(opened, without_columns(policy, gone))
    _refuse_durations(opened, names, parameter)
    frame = _between_ends(plain_text(opened, names, policy), published, policy)
    there = np.arange(frame.height)
    if parameter == "original":  # whoever shows nothing cannot be looked for
        asked = [name for name in names if name not in published.plain]
        outcome = apply_missing(frame.select(asked), policy.missing)
        there = np.flatnonzero(outcome.keep & ~outcome.suppress)
    rows, whole = content_hashes(_as_seen(frame[there], published)), content_hashes(frame[there])
    owners = None
    if policy.subject is not None and policy.subject in opened.columns:
        subjects = as_people(opened.take([policy.subject]).to_series()).gather(there)
        owners = np.unique(subjects.rank("dense").fill_null(0).to_numpy(), return_inverse=True)[1]
    # Draws must not depend on how rows stand, nor on what people are called; on what is hidden only among
    # those whom the release does not tell apart.
    order = np.lexsort((whole, rows) if owners is None else (whole, _sums(rows, owners), rows))
    read = read_people(frame[there[order]], published)
    numbers = None if owners is None else _by_appearance(owners[order])
    return replace(read, owners=numbers, stood=np.argsort(np.argsort(there[order])))


def _between_ends(frame: pl.DataFrame, published: Published, policy: Policy) -> pl.DataFrame:
    """Put values of quasi-identifiers beyond a declared end on that end, as the release did."""
    changed = []
    for name in published.quasi:
        low, high = policy.bottom.get(name), policy.top.get(name)
        if low is None and high is None:
            continue
        texts = frame[name].cast(pl.String)
        numbers = numbers_of_text(texts, decimal=policy.decimal)
        for end, beyond in ((low, numbers < (low or 0)), (high, numbers > (high or 0))):
            if end is not None:
                texts = texts.set(beyond.fill_null(value=False), f"{end:g}")
        changed.append(texts.alias(name))
    return frame.with_columns(changed)


def _as_seen(frame: pl.DataFrame, published: Published) -> pl.DataFrame:
    """Write quasi-identifiers as far as the release tells them apart: draws must not depend on more."""
    matching = match(published, read_people(frame, published))
    return frame.with_columns(
        column.seen_as.gather(column.of_person).alias(name)
        for name, column in zip(published.quasi, matching.columns, strict=True)
    )


def _sums(rows: NDArray[np.uint64], owners: Integers) -> NDArray[np.uint64]:
    """Give for every row a sum over all rows of whose it is."""
    total = np.zeros(int(owners.max(initial=-1)) + 1, np.uint64)
    np.add.at(total, owners, rows)
    return total[owners]


def _by_appearance(owners: Integers) -> Integers:
    _, first, where = np.unique(owners, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[where]


def _refuse_durations(opened: Source, names: Sequence[str], parameter: str) -> None:
    kinds = opened.scan(names).collect_schema()
    held = next((name for name in names if isinstance(kinds[name], pl.Duration)), None)
    if held is not None:
        raise InvalidInput(
            f"{parameter}: column={held!r} holds durations, which are not compared with published cells; "
            "write them as numbers, days or seconds, in both tables"
        )


def refuse_others(published: Published, people: People) -> None:
    """Refuse an original that cannot be what the release was made of."""
    if people.count < published.rows:
        raise InvalidInput(
            f"original={people.count} rows does not match the release, which shows {published.rows}"
        )
    fitting, looked_at, unread = fit_of(published, people)
    if unread == published.rows:
        raise InvalidInput(
            "original does not match the release: no row of it can be read against the original; "
            f"give the hierarchies its labels come from: {spelled('hierarchy', {'COL': 'FILE'})}"
        )
    if looked_at and fitting < _FITTING * looked_at:
        raise InvalidInput(
            f"original does not match the release: {fitting} of {looked_at} classes fit as many people "
            f"as they have rows"
        )


def members_among(people: People, everyone: People) -> Mask:
    """Say who of a population is in the original, one for one by quasi-identifiers."""
    texts = [pl.col(name).cast(pl.String) for name in people.quasi]
    return members_in(everyone.frame.select(texts), people.frame.select(texts), "original")
