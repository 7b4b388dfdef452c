"""What may be published as it is: what cells really hold decides, not what a column was called."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from mahrem.contents import (
    CONTENTS,
    ColumnRelation,
    ColumnSketch,
    Contents,
    TableSketch,
    has_favourites,
    holds_codes,
    look_into,
    people_with_several_rows,
    sketch_table,
)
from mahrem.errors import GivesAway, shorten, spelled
from mahrem.release.decisions import Policy
from mahrem.table import EVERY, Kind, Source, read_kind
from mahrem.words import Note

_MOSTLY = 0.5  # share of the rows from which a column is said to be nearly unique
_ENOUGH = 30  # rows from which on it means something that values are not shared
_CODE = 4  # digits that a code has at least: shorter ones are counts
_ALONE = 3  # rows: a value that fewer share is nearly somebody's own
_TELLS = frozenset({"copy", "spelling", "linear", "one-to-one"})  # relations that hold both ways
_PLACED = frozenset({"birth-date", "coordinates"})  # others know them, whatever they were declared as
_WRITTEN = frozenset({"text", "record"})  # what is left of a text is a text, and hardly one is there twice
_LISTED = frozenset({"coordinates"})  # no ranges are made of them: cells would list each
_DATES = frozenset({"birth-date", "date"})
_SHOWN = 5  # columns that a refusal names one by one
_WAYS = {  # what a refusal advises, and with which value
    "redact": ("take names and numbers out of texts", None),
    "grid": ("show the year alone", "year"),
    "round": ("round numbers", "STEP"),
    "subject": ("say whose rows they are", None),
    "pseudonym": ("publish keyed pseudonyms", "KEYFILE"),
    "quasi": ("let the promise cover what others know", None),
}


@dataclass(frozen=True)
class Doubt:
    """Why a column must not be published as it is."""

    column: str
    why: Note  # a figure or a kind, never a cell
    ways: tuple[str, ...] = ()  # settings under which it may stay in another form


def refuse_giving_away(table: pl.DataFrame | TableSketch, policy: Policy, *, named: Collection[str]) -> None:
    """Refuse columns that give people away as they would be published, unless somebody accepted them.

    Args:
        table: The columns that will be published, every row of them, or a sketch of these.
        policy: Their roles, and which were accepted.
        named: Columns somebody declared a role for; the refusal tells them from the rest.

    Raises:
        GivesAway: With a sentence that says what to do.
    """
    if EVERY in policy.accept:
        return
    doubts = [doubt for doubt in find_doubts(table, policy) if doubt.column not in policy.accept]
    if doubts:
        raise _refusal(doubts, named)


def notes_of_several_rows(frame: pl.DataFrame, policy: Policy) -> tuple[Note, ...]:
    """Give a warning that promises count rows where a column that is left out names people who have several.

    Args:
        frame: Identifiers that are left out, and other columns by which rows of one person are alike.
        policy: Their roles.
    """
    names = [name for name in frame.columns if name in policy.identifier]
    return tuple(
        Note(
            "warning.several_rows",
            {
                "column": people.column,
                "rows": people.rows_each,
                "setting": spelled("subject", people.column),
            },
        )
        for people in people_with_several_rows(frame, names, policy.region)[:1]
    )


def find_doubts(
    table: pl.DataFrame | TableSketch,
    policy: Policy,
    *,
    contents: Contents | None = None,
) -> tuple[Doubt, ...]:
    """Say which columns give people away if they are published as the policy says.

    Args:
        table: The columns that will be published, or a sketch of them.
        policy: Their roles.
        contents: What they hold, where somebody has looked already.

    Guarantees:
        - Names of columns and the order of rows do not matter; nothing that is given back holds a cell.
        - Columns that become ranges, groups of a hierarchy or prefixes are left to the promises; words of
          one's own that cells would list are not.
    """
    sketch = table if isinstance(table, TableSketch) else sketch_table(table)
    values = {name: column.values.alias(name) for name, column in sketch.columns.items()}
    plain = [name for name in values if name not in policy.quasi]
    listed = [name for name in values if name in policy.quasi and _lists_values(values[name], policy)]
    if not plain and not listed:
        return ()
    if contents is None:
        contents = look_into(sketch, closely=[*plain, *listed], toward=policy.quasi, region=policy.region)
    doubts = [doubt for name in (*plain, *listed) for doubt in _by_content(values[name], contents, policy)]
    known = {doubt.column for doubt in doubts}
    for doubt in (*_by_people(contents, policy, plain), *_by_relation(contents, policy, plain)):
        if doubt.column not in known:
            known.add(doubt.column)
            doubts.append(doubt)
    words = [name for name in listed if read_kind(values[name])[0] is Kind.CATEGORICAL]
    # Dates that can be read in two ways are asked about when they are read.
    words = [name for name in words if not {finding.kind for finding in contents.of(name)} & _DATES]
    rare = (
        name
        for name in (*plain, *words)
        if name not in known
        and name not in policy.sensitive
        and name not in policy.redact
        and not _was_moved(values[name], policy)
    )
    for name in rare:
        column, ways = sketch.columns[name], () if name in listed else _ways(values[name])
        if is_rarely_shared(column, policy.k):
            doubts.append(Doubt(name, Note("gate.rare"), ways))
        elif name in plain and column.has_own_amounts:
            doubts.append(Doubt(name, Note("gate.fine"), ways))
        elif name in plain and column.rows >= _ENOUGH and column.stands_out(policy.k or _ALONE):
            doubts.append(Doubt(name, Note("gate.alone"), ("quasi",)))
    order = {name: place for place, name in enumerate(values)}
    return tuple(sorted(doubts, key=lambda doubt: order[doubt.column]))


def is_rarely_shared(column: ColumnSketch, k: int | None) -> bool:
    """Tell of a sketch what :func:`is_nearly_unique` tells of all values.

    Codes that somebody gave out, of households or cases, tie people together: k must share one.
    """
    if column.present < _ENOUGH:
        return False
    few = min(k or _ALONE, _ALONE)
    if column.rarely_shared(max(k or few, few)) < _MOSTLY:
        return False
    codes = holds_codes(column.values, longest=_CODE) and not has_favourites(column.counts)
    if (codes or column.is_given_out) and column.rarely_shared(k or few) >= _MOSTLY:
        return True
    return column.singled_out(few) >= _MOSTLY


def is_nearly_unique(column: pl.Series, k: int | None) -> bool:
    """Tell whether most rows have a value that hardly anybody shares.

    Example:
        >>> is_nearly_unique(pl.Series(range(40)), k=5), is_nearly_unique(pl.Series(range(40)) % 8, k=5)
        (True, False)
    """
    present = column.drop_nulls()
    few = min(k or _ALONE, _ALONE)
    if len(present) < _ENOUGH or present.dtype.is_nested() or present.dtype == pl.Object:
        return False
    if int(
        present.to_frame("value").select(pl.col("value").approx_n_unique()).item()
    ) * few < 0.8 * _MOSTLY * len(present):  # so few values must be shared
        return False
    rows = present.value_counts(name="rows of it")["rows of it"]
    return float(rows.filter(rows < few).sum()) >= _MOSTLY * len(present)


def _lists_values(column: pl.Series, policy: Policy) -> bool:
    """Tell whether cells of a quasi-identifier would list its words one by one."""
    name = column.name
    if name in policy.hierarchy or name in policy.suppress or policy.automatic is not None:
        return False
    return policy.kind.get(name) in (None, Kind.CATEGORICAL) and column.dtype == pl.String


def _is_ranged(column: pl.Series) -> bool:
    """Tell whether cells of a quasi-identifier are ranges, whatever came as text."""
    return read_kind(column)[0] in (Kind.NUMERIC, Kind.DATE)


def _was_moved(column: pl.Series, policy: Policy) -> bool:
    """Tell whether a column has dates on other days, which nobody knows of anybody."""
    return policy.shift_days is not None and read_kind(column)[0] is Kind.DATE


def _by_content(column: pl.Series, contents: Contents, policy: Policy) -> Iterator[Doubt]:
    name = column.name
    for finding in contents.of(name):
        if finding.kind == "record" and name in policy.quasi and _is_ranged(column):
            continue  # a measure that nobody shares is what ranges are for
        if policy.shift_days is not None and finding.kind in _DATES:
            continue
        if name in policy.redact and finding.kind in _WRITTEN:
            continue
        role = CONTENTS[finding.kind].role
        known = _LISTED if name in policy.quasi else _PLACED if name in policy.sensitive else None
        gives = role == "identifier" or (role == "quasi" and (known is None or finding.kind in known))
        if gives:
            why = Note("gate.holds", {"kind": Note(CONTENTS[finding.kind].words_code)})
            yield Doubt(name, why, () if name in policy.quasi else _ways(column, finding.kind))
            return  # one reason is enough to stop


def _ways(column: pl.Series, content: str | None = None) -> tuple[str, ...]:
    """Name the settings under which a column may stay in another form."""
    if content == "text":
        return ("redact",)
    kind = read_kind(column)[0]
    coarser = {Kind.DATE: "grid", Kind.NUMERIC: "round"}.get(kind)
    if coarser is not None and (content is None or content in _DATES):
        return (coarser, "quasi")
    return () if content in _LISTED else ("pseudonym",)


def _by_relation(contents: Contents, policy: Policy, plain: Sequence[str]) -> Iterator[Doubt]:
    """Columns that tell a quasi-identifier would undo what was made coarser."""
    for relation in contents.relations:
        values = {"column": relation.column, "of": relation.of}
        why = Note(f"content.relation.{relation.how}", values)
        if relation.how == "together":
            yield from (Doubt(end, why) for end in values.values() if {*values.values()} <= {*plain})
            continue
        ends = (relation.column, relation.of), (relation.of, relation.column)
        for column, other in ends:
            if column in plain and other in policy.quasi and _undoes(relation, column, policy):
                yield Doubt(column, why, ("quasi",))


def _undoes(relation: ColumnRelation, column: str, policy: Policy) -> bool:
    """Tell whether a column gives a quasi-identifier back; what only follows from one may be sensitive."""
    if column not in policy.sensitive:
        return True
    return relation.how in _TELLS or (relation.how == "determined" and relation.of == column)


def _by_people(contents: Contents, policy: Policy, plain: Sequence[str]) -> Iterator[Doubt]:
    for people in contents.several_rows:
        if people.column in plain and people.column not in policy.sensitive:
            yield Doubt(people.column, Note("gate.people"), ("subject",))


def _refusal(doubts: Sequence[Doubt], named: Collection[str]) -> GivesAway:
    why: dict[str, list[Note]] = {}
    for doubt in doubts:
        why.setdefault(doubt.column, []).append(doubt.why)
    columns = list(why)
    reasons = "; ".join(
        f"{name!r}: {', '.join(str(one).rstrip('.') for one in why[name])}" for name in columns[:_SHOWN]
    )
    more = f"; and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
    unasked = [name for name in columns if name not in named]
    undeclared = f" (no role was declared for {shorten(unasked)})" if unasked else ""
    subject, them = (f"{len(columns)} columns give", "them") if len(columns) > 1 else ("a column gives", "it")
    return GivesAway(
        f"published as {'they are' if len(columns) > 1 else 'it is'}, {subject} people away{undeclared}: "
        f"{reasons}{more}. Leave {them} out ({spelled('identifier', columns[:_SHOWN])}), "
        f"{''.join(_told_ways(doubts))}or say why {'they' if len(columns) > 1 else 'it'} may stay "
        f"({spelled('accept', {columns[0]: 'REASON'})})",
        why,
    )


def _told_ways(doubts: Sequence[Doubt]) -> Iterator[str]:
    """Say each way that helps one of the columns, with that column as the example."""
    first = {way: doubt.column for doubt in reversed(doubts) for way in doubt.ways}
    for way, (advice, value) in _WAYS.items():
        if (column := first.get(way)) is not None:
            yield f"{advice} ({spelled(way, {column: value} if value else column)}), "


def decided(policy: Policy, source: Source) -> Policy:
    """Decide about columns that a policy only describes, by what they hold and what they are called."""
    return policy.for_columns(source.columns, lambda: look_at(source, policy))


def look_at(source: Source, policy: Policy) -> tuple[TableSketch, Contents]:
    """Sketch every column of a table, and say what they hold."""
    sketch = sketch_table(source.take(list(source.columns)))
    return sketch, look_into(sketch, region=policy.region)
