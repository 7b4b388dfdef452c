"""The people an attacker knows: those of the original table, and everyone it might have been drawn from."""

from __future__ import annotations

import polars as pl

from mahrem.drafts import plain_text, rewritten
from mahrem.errors import InvalidInput, spelled
from mahrem.matching import People, Published, fit_of, read_people
from mahrem.release import Policy, coarsened_by_row, members_in, reading_of, without_columns
from mahrem.table import open_source
from mahrem.types import Mask

_FITTING = 0.5  # share of the looked-at classes that must fit the original


def people_of(given: object, published: Published, policy: Policy, what: str) -> People:
    """Read people with the columns of a release."""
    opened = open_source(given, reading_of(policy))
    lacking = [name for name in published.quasi if name not in opened.columns]
    if lacking:
        raise InvalidInput(f"{what} does not match the release: it has no column={lacking[0]!r}")
    shown = (*published.quasi, *published.sensitive, *published.plain)
    names = [name for name in shown if name in opened.columns]
    gone = frozenset(coarsened_by_row(policy)) - {*opened.columns}
    # Who knows a value knows the cell it is published in.
    opened, policy = rewritten(opened, without_columns(policy, gone))
    return read_people(plain_text(opened, names, policy), published)


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
