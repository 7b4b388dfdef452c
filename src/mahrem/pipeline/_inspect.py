"""A first look at a table: what the columns are, and which roles they might play. Only a suggestion."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from mahrem.errors import in_our_words
from mahrem.release import GivenPolicy, Policy, policy_from, reading_of
from mahrem.table import Kind, Role, open_source
from mahrem.table.columns import infer_kind
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.release import ReleaseKeywords

# Words that name a column's meaning, in the languages of our users; matched as whole words of the name.
_IDENTIFIERS = """
    id name surname firstname lastname email mail phone mobile ssn passport iban account address street
    patient subject person record mrn tckn tc kimlik ad soyad isim telefon adres
    vorname nachname adresse strasse telefonnummer
"""
_QUASI = """
    age sex gender zip zipcode postcode postal plz city town county state region country native race
    ethnicity nationality birth birthday birthdate dob born admission discharge visit date year education
    degree marital relationship occupation job profession workclass hours household height weight
    yas cinsiyet posta il ilce sehir ulke uyruk dogum tarih egitim medeni meslek
    alter geschlecht ort stadt land geburt geburtsdatum datum bildung familienstand beruf
"""
_SENSITIVE = """
    disease diagnosis diagnoses icd illness condition symptom treatment medication drug salary income wage
    cost charge debt religion political party orientation hiv genetic crime offence
    tani hastalik ilac maas gelir borc din krankheit diagnose befund gehalt einkommen kosten schulden
"""
_HINTS: Mapping[Role, frozenset[str]] = {
    Role.IDENTIFIER: frozenset(_IDENTIFIERS.split()),
    Role.SENSITIVE: frozenset(_SENSITIVE.split()),
    Role.QUASI: frozenset(_QUASI.split()),
}


@dataclass(frozen=True, kw_only=True)
class ColumnFacts:
    """What can be said of one column without showing a value of it."""

    name: str
    kind: Kind
    rows: int
    missing: int
    distinct: int
    unique_share: float  # share of rows whose value nobody else has
    suggested_role: Role
    reason: Note

    def as_dict(self) -> dict[str, Any]:
        """Give the facts as plain data."""
        return {**asdict(self), "reason_note": self.reason.as_dict()}


@dataclass(frozen=True)
class Inspection:
    """What a table looks like, column by column."""

    source: str
    rows: int
    columns: tuple[ColumnFacts, ...]

    def as_dict(self) -> dict[str, Any]:
        """Give the facts as plain data."""
        return {
            "source": self.source,
            "rows": self.rows,
            "columns": [facts.as_dict() for facts in self.columns],
        }


@in_our_words
def inspect(
    source: object,
    *,
    policy: GivenPolicy = None,
    **settings: Unpack[ReleaseKeywords],
) -> Inspection:
    """Look at a table and suggest a role for every column, with the reason.

    A suggestion is read off names and counts; it cannot know what others know. The decision stays with you.
    """
    policy = policy_from(policy, settings)
    opened = open_source(source, reading_of(policy))
    facts = [_facts(opened.take([name])[name], policy) for name in opened.columns]
    return Inspection(opened.label, opened.rows, tuple(facts))


def _facts(series: pl.Series, policy: Policy) -> ColumnFacts:
    present = series.drop_nulls()
    kind = policy.kind.get(series.name) or infer_kind(series, decimal=policy.decimal)
    distinct = present.n_unique()
    unique = int(present.is_unique().sum())
    share = unique / len(present) if len(present) else 0.0
    role, reason = _suggest(series.name, kind, len(present), distinct, share)
    return ColumnFacts(
        name=series.name,
        kind=kind,
        rows=len(series),
        missing=series.null_count(),
        distinct=distinct,
        unique_share=round(share, 4),
        suggested_role=role,
        reason=reason,
    )


def _plain(name: str) -> str:
    """Write a name in small letters without accents: ``yaş`` becomes ``yas``."""
    decomposed = unicodedata.normalize("NFKD", name.lower().replace("\u0131", "i").replace("ß", "ss"))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _suggest(name: str, kind: Kind, present: int, distinct: int, unique: float) -> tuple[Role, Note]:
    words = set(re.findall(r"[a-z]+", _plain(re.sub(r"([a-z])([A-Z])", r"\1 \2", name))))
    measured = kind in {Kind.NUMERIC, Kind.DATE}
    if present > 1 and unique == 1.0 and not measured:
        return Role.IDENTIFIER, Note("reason.unique")
    for role, hints in _HINTS.items():
        if words & hints:
            return role, Note(f"reason.{role}")
    if present > 20 and unique > 0.9 and kind is Kind.NUMERIC:
        return Role.QUASI, Note("reason.own_values")
    if present and unique > 0.05:
        return Role.QUASI, Note("reason.share", {"share": round(unique, 2)})
    if distinct <= 1:
        return Role.INSENSITIVE, Note("reason.one_value")
    return Role.INSENSITIVE, Note("reason.nothing")
