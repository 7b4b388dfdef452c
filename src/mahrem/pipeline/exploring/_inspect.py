"""A first look at a table: what the columns hold, and which roles they might play. Only a suggestion."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import polars as pl

from mahrem.contents import (
    CONTENTS,
    ColumnSketch,
    ContentFinding,
    Contents,
    TableSketch,
    look_into,
    relate_to,
    sketch_records,
    sketch_table,
)
from mahrem.errors import in_our_words, spelled
from mahrem.release import Doubt, find_doubts, is_rarely_shared, look_at
from mahrem.release.decisions import (
    BOUNDING,
    COARSENING,
    GivenPolicy,
    Policy,
    is_called_so,
    policy_from,
    reading_of,
    release_settings,
    written_policy,
)
from mahrem.table import Kind, Role, is_spark_frame, open_source
from mahrem.table.columns import infer_kind
from mahrem.table.reading import Reading, Spelling, open_records, plain_texts
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.release.decisions import ReleaseKeywords

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
    disease diagnosis diagnoses dx diag icd illness condition symptom complaint treatment medication drug
    salary income wage amount payment cost charge debt religion political party orientation hiv genetic crime
    offence tani teshis hastalik sikayet ilac maas ucret tutar gelir borc din
    krankheit diagnose befund beschwerden anamnese gehalt lohn einkommen betrag kosten schulden
"""
_TOTAL = re.compile(  # what the first cell of a row says that adds up the others
    r"(grand |sub-?)?total( sum)?|sum(me)?|gesamt(summe)?|insgesamt|(genel |ara )?toplam", re.IGNORECASE
)
_ROWS_TO_ADD = 5  # rows from which on a last one may be a total
_SUGGESTED_K = 5
_PEOPLE = 500  # whose rows tell what never changes within a person
_WIDE = 200  # columns above which not every pair of them is compared
_OWN = 0.5  # share of values nobody else has from which words are as good as names
_NAMING = 0.1  # share of different values from which a column that is called a name may be one
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
    contents: tuple[ContentFinding, ...] = ()  # what its cells hold, the weightiest first
    estimated: bool = False  # different values are too many to be counted one by one

    def as_dict(self) -> dict[str, Any]:
        """Give the facts as plain data."""
        return {
            **{known.name: getattr(self, known.name) for known in fields(self)},
            "contents": [finding.as_dict() for finding in self.contents],
            "reason_note": self.reason.as_dict(),
        }


@dataclass(frozen=True)
class Inspection:
    """What a table looks like, column by column, and what columns tell about each other."""

    source: str
    rows: int
    columns: tuple[ColumnFacts, ...]
    hints: tuple[Note, ...] = ()
    subject: str | None = None  # a column that says whose row it is, where people have several
    region: str | None = None  # the country the numbers belong to, where they tell
    reading: Mapping[str, Any] = field(default_factory=dict)  # what was said about how to read the table

    def as_dict(self) -> dict[str, Any]:
        """Give the facts as plain data."""
        return {
            "source": self.source,
            "rows": self.rows,
            "columns": [facts.as_dict() for facts in self.columns],
            "hints": [{**hint.as_dict(), "text": str(hint)} for hint in self.hints],
            "subject": self.subject,
            "region": self.region,
        }

    def roles(self) -> dict[str, Any]:
        """Give the suggested roles as settings of a policy."""
        named = {
            role.value: [facts.name for facts in self.columns if facts.suggested_role is role]
            for role in Role
        }
        return {role: names for role, names in named.items() if names}

    def policy(self) -> str:
        """Write a policy file with the suggested roles, every doubt beside its column."""
        comments = {facts.name: str(facts.reason) for facts in self.columns}
        settings = {**self.reading, **self.roles(), "k": _SUGGESTED_K, "rest": "drop"}
        if self.subject is not None:
            settings["subject"] = self.subject
        return written_policy(settings, comments, [str(hint) for hint in self.hints])


@in_our_words
def inspect(
    source: object,
    *,
    policy: GivenPolicy = None,
    **settings: Unpack[ReleaseKeywords],
) -> Inspection:
    """Look at a table and suggest a role for every column, with the reason.

    What cells hold counts first (e-mail addresses, identity numbers, dates, names, free text …), then what
    columns are called, then counts. It cannot know what others know. The decision stays with you.

    Guarantees:
        - No cell is shown, in a figure, a reason or a hint.
        - The suggested roles pass the gate of a release: nothing that gives people away is called harmless.
    """
    policy = policy_from(policy, settings)
    reading = reading_of(policy)
    opened = _opened(source, replace(reading, spelling=None))  # what is kept of it is spelled below
    table = _spelled(opened.table, reading.spelling)
    contents = look_into(table, region=policy.region)
    called = {name: f"{name} {opened.labels.get(name, '')}" for name in table.columns}
    facts = [_facts(name, called[name], column, contents, policy) for name, column in table.columns.items()]
    people = contents.several_rows[0].column if contents.several_rows else None
    facts = facts if people is None else _with_traits(table, facts, people)
    return Inspection(
        opened.label,
        table.rows,
        tuple(_covered(_safe(table, contents, facts, policy))),
        (*opened.notes, *_hints(opened, contents)),
        people,
        contents.region,
        _said_of_reading(policy),
    )


class _Opened(NamedTuple):
    """A table as it is looked at."""

    label: str
    notes: tuple[Note, ...]
    table: TableSketch
    last: pl.DataFrame  # its last row
    labels: Mapping[str, str] = MappingProxyType({})  # what columns are called in words, where it says


def _opened(source: object, reading: Reading) -> _Opened:
    """Sketch a table: a simple file of text where it lies, anything else after reading it."""
    records = open_records(source, reading)
    sketched = None if records is None else sketch_records(records)
    if records is not None and sketched is not None:
        return _Opened(records.label, records.notes, sketched.table, sketched.last)
    opened = open_source(source, reading)
    frame = opened.take(list(opened.columns))
    return _Opened(opened.label, opened.notes, sketch_table(frame), frame.tail(1), opened.labels)


def _said_of_reading(policy: Policy) -> dict[str, object]:
    """Give what was said about how to read the table: whoever releases it must read it the same way."""
    known = {name: one for name, one in release_settings().items() if one.group in {"reading", "database"}}
    values = {name: getattr(policy, name) for name in known}
    return {name: value for name, value in values.items() if value != known[name].default and value != ()}


def _spelled(table: TableSketch, spelling: Spelling | None) -> TableSketch:
    """Write numbers and dates of a sketch as everybody downstream reads them."""
    columns, sample = dict(table.columns), table.sample
    for name, column in table.columns.items():
        if spelling is None or column.values.dtype != pl.String or spelling.leaves(name):
            continue
        texts = pl.concat([column.values.alias(name), sample[name]])
        if (plain := plain_texts(texts, spelling)) is not None:
            columns[name] = replace(column, values=column.values.replace(plain.written, plain.read))
            sample = sample.with_columns(pl.col(name).replace(plain.written, plain.read))
    return replace(table, columns=columns, sample=sample)


def _facts(name: str, called: str, column: ColumnSketch, contents: Contents, policy: Policy) -> ColumnFacts:
    kind = policy.kind.get(name) or infer_kind(column.values.alias(name), decimal=policy.decimal)
    share = column.rarely_shared(2)
    findings = contents.of(name)
    role, reason = _suggest(called, kind, findings, column.present, column.distinct, share)
    if any(people.column == name for people in contents.several_rows):
        role, reason = Role.IDENTIFIER, Note("reason.people")
    elif role is Role.INSENSITIVE and is_rarely_shared(column, policy.k or _SUGGESTED_K):
        role, reason = Role.QUASI, Note("reason.own_values")
    return ColumnFacts(
        name=name,
        kind=kind,
        rows=column.rows,
        missing=column.rows - column.present,
        distinct=column.distinct,
        unique_share=round(share, 4),
        suggested_role=role,
        reason=reason,
        contents=findings,
        estimated=not column.complete,
    )


def _with_traits(table: TableSketch, facts: Sequence[ColumnFacts], people: str) -> list[ColumnFacts]:
    """Suggest what never changes within a person as known to others: it is part of who somebody is."""
    some = table.columns[people].values.alias(people).head(_PEOPLE).to_frame()
    theirs = table.having([people], some)
    several = theirs.filter(pl.col(people).is_duplicated())
    asked = [
        one.name
        for one in facts
        if one.suggested_role is Role.INSENSITIVE
        and one.distinct > 1
        and not theirs[one.name].dtype.is_nested()
    ]
    each = several.group_by(people).agg(pl.col(asked).drop_nulls().n_unique()).select(pl.col(asked).max())
    steady = {name for name in asked if each[name].item() == 1}
    return [
        replace(one, suggested_role=Role.QUASI, reason=Note("reason.trait")) if one.name in steady else one
        for one in facts
    ]


def _safe(
    table: TableSketch, contents: Contents, facts: Sequence[ColumnFacts], policy: Policy
) -> list[ColumnFacts]:
    """Take roles back that a release would be stopped for: first to what others may know, then out."""
    known = list(facts)
    for role in (Role.QUASI, Role.IDENTIFIER):
        roles: dict[str, Any] = {
            "quasi": [one.name for one in known if one.suggested_role is Role.QUASI],
            "sensitive": [one.name for one in known if one.suggested_role is Role.SENSITIVE],
            "kind": dict(policy.kind),
            "k": policy.k or _SUGGESTED_K,
        }
        shown = table.only([one.name for one in known if one.suggested_role is not Role.IDENTIFIER])
        wide = len(table.columns) > _WIDE  # there only some pairs of columns were compared
        relations = None if wide else relate_to(shown, contents, roles["quasi"])
        doubts = find_doubts(shown, Policy.of(roles), contents=relations)
        stopped = {doubt.column: doubt for doubt in doubts}
        if not stopped:
            break
        known = [_taken_back(one, stopped.get(one.name), role) for one in known]
    return known


def _covered(facts: Sequence[ColumnFacts]) -> Sequence[ColumnFacts]:
    """Take what is left as known to others where nothing else is: a promise needs something to speak of."""
    if any(one.suggested_role is Role.QUASI for one in facts):
        return facts
    return [
        replace(one, suggested_role=Role.QUASI, reason=Note("reason.only_ones"))
        if one.suggested_role is Role.INSENSITIVE and one.distinct > 1
        else one
        for one in facts
    ]


def _taken_back(facts: ColumnFacts, doubt: Doubt | None, role: Role) -> ColumnFacts:
    return facts if doubt is None else replace(facts, suggested_role=role, reason=_sentence(doubt))


def _sentence(doubt: Doubt) -> Note:
    whole = doubt.why.code.startswith("content.relation")  # a sentence by itself
    return doubt.why if whole else Note("reason.doubt", {"why": doubt.why})


def _is_total(opened: _Opened) -> bool:
    """Tell whether the last row adds up the others: it is called so, and has few other cells than numbers."""
    if opened.table.rows < _ROWS_TO_ADD or opened.last.width < 3:
        return False
    last = ["" if cell is None else str(cell).strip() for cell in opened.last.row(-1)]
    called = [cell for cell in last if _TOTAL.fullmatch(cell)]
    return len(called) == 1 and 2 * last.count("") >= len(last) - 1


def _hints(opened: _Opened, contents: Contents) -> Iterator[Note]:
    """Say what columns tell about each other, and about people."""
    if _is_total(opened):
        yield Note("content.hint.total", {"way": spelled("skip_last", 1)})
    for relation in contents.relations:
        yield Note(f"content.relation.{relation.how}", {"column": relation.column, "of": relation.of})
    for people in contents.several_rows[:1]:
        yield Note("content.hint.several_rows", {"column": people.column, "rows": people.rows_each})
    for home in contents.households:
        yield Note("content.hint.household", {"columns": list(home.columns), "share": home.share})


def _plain(name: str) -> str:
    """Write a name in small letters without accents: ``yaş`` becomes ``yas``."""
    decomposed = unicodedata.normalize("NFKD", name.lower().replace("\u0131", "i").replace("ß", "ss"))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _suggest(
    name: str, kind: Kind, findings: Sequence[ContentFinding], present: int, distinct: int, unique: float
) -> tuple[Role, Note]:
    """Decide by what cells hold, then by what a column is called, then by how often values come."""
    if findings:
        held = CONTENTS[findings[0].kind]
        return Role(held.role), Note(
            "reason.content", {"kind": Note(held.words_code), "share": round(findings[0].share, 2)}
        )
    words = set(re.findall(r"[a-z]+", _plain(re.sub(r"([a-z])([A-Z])", r"\1 \2", name))))
    measured = kind in {Kind.NUMERIC, Kind.DATE}
    if present > 1 and unique == 1.0 and not measured:
        return Role.IDENTIFIER, Note("reason.unique")
    for role, hints in _HINTS.items():
        if words & hints and (role is not Role.IDENTIFIER or distinct > _NAMING * present):
            return role, Note(f"reason.{role}")
    return _by_counts(present, distinct, unique, ranged=measured or kind is Kind.CODE)


def _by_counts(present: int, distinct: int, unique: float, *, ranged: bool) -> tuple[Role, Note]:
    if present > 20 and unique > _OWN and not ranged:  # cells of words would list every one
        return Role.IDENTIFIER, Note("reason.own_values")
    if present > 20 and unique > 0.9:
        return Role.QUASI, Note("reason.own_values")
    if present and unique > 0.05:
        return Role.QUASI, Note("reason.share", {"share": round(unique, 2)})
    if distinct <= 1:
        return Role.INSENSITIVE, Note("reason.one_value")
    return Role.INSENSITIVE, Note("reason.nothing")


@in_our_words
def column_decisions(
    source: object, *, policy: GivenPolicy = None, **settings: Unpack[ReleaseKeywords]
) -> list[tuple[str, Note, Note]]:
    """Say what a policy does with each column: its name, what becomes of it, and why.

    Nothing of a table on a cluster.
    """
    given = policy_from(policy, settings)
    if is_spark_frame(source):
        return []
    opened = open_source(source, reading_of(given))
    looked = look_at(opened, given)
    done = given.for_columns(opened.columns, lambda: looked)
    by_name = given.as_in(opened.columns).named()
    return [
        (name, _becomes(done, name), _because(done, name, looked[1], given, named=name in by_name))
        for name in opened.columns
    ]


def _becomes(policy: Policy, name: str) -> Note:
    if name in policy.pseudonym:
        return Note("decision.pseudonym")
    if name in policy.quasi:
        known = (*COARSENING, *BOUNDING)
        settings = [f"{key} {getattr(policy, key)[name]}" for key in known if name in getattr(policy, key)]
        return Note("decision.limited", {"how": ", ".join(settings)}) if settings else Note("decision.quasi")
    if name in policy.sensitive:
        return Note("decision.sensitive")
    if not (policy.named() or policy.rest):
        return Note("decision.as_before")
    stays = name in policy.insensitive or (name not in policy.identifier and policy.rest == "insensitive")
    return Note("decision.insensitive" if stays and name != policy.subject else "decision.dropped")


def _because(done: Policy, name: str, contents: Contents, given: Policy, *, named: bool) -> Note:
    if named:
        return Note("decision.declared")
    if not (given.look_for or done.named() or done.rest):
        return Note("decision.unnamed")
    findings = contents.of(name)
    if findings:
        held = Note(CONTENTS[findings[0].kind].words_code)
        return Note("reason.content", {"kind": held, "share": round(findings[0].share, 2)})
    return Note("decision.called" if is_called_so(given, name) else "decision.unknown")
