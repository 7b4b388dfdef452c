"""Add up a tally inside a database: one SELECT over clipped integers, so that only sums travel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mahrem.dp._tally import RESOLUTION, Category, Condition, Edges, EvenGrid, Key, TallyPlan, Term
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.table.cells.alone import value_of, values_of
from mahrem.table.cells.spellings import MISSING, NO_TIME, TRUTHS, are_words
from mahrem.table.reading import Database, quoted
from mahrem.types import Integers

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "INT2", "INT4", "INT8")
_UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")
_WHOLE = (*_SIGNED, *_UNSIGNED)
_BLANKS = "chr(32) || chr(9) || chr(10) || chr(13)"
# No float is too large or too small for it; PostgreSQL repeats nothing more often than 255 times.
_PLAIN_NUMBER = "^[+-]?[0-9]{1,250}([.][0-9]{0,250})?$"
_ANY_NUMBER = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
_DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_REACH = 1e60  # where PostgreSQL's numbers end: it fails on some that are too large for a float
_ODD = "^[+-]?[.]?[0-9]|^[+-]?[PT][0-9T+-]"  # what may be a number in another spelling
_OF_DAYS = "^[+-]?[0-9]{4,7}[-/]"
_NUMBERS = (*_WHOLE, "FLOAT", "DOUBLE", "DECIMAL", "NUMERIC")
_TEXTS = ("VARCHAR", "TEXT", "BPCHAR")
_READABLE = (*_NUMBERS, "VARCHAR", "BOOLEAN", "TEXT", "BPCHAR", "BOOL")


def refuse_kinds(tally: TallyPlan, database: Database) -> None:
    """Refuse columns whose type can never be a number."""
    for name in tally.numbers:
        kind = database.types[name]
        if not kind.startswith(_READABLE) or kind.endswith("]"):
            raise InvalidParameter(f"column={name!r} holds {kind.partition('(')[0]} values, no numbers")


def can_ask(tally: TallyPlan, database: Database) -> bool:
    """Say whether the database can do it without ever failing on a value, and as frames are read.

    PostgreSQL has no cast that forgives, and a query that fails on one person's cell gives that person away.
    A column of texts can hold any spelling of a number, a day or a time; which of them a table has is up to
    all of its rows, so there the database is asked for words and truths alone (and for odd spellings of
    truths, see ``_with_odd_truths``).
    """
    kinds = database.types
    for condition in tally.where:
        values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        if condition.numeric:
            continue
        ordered = condition.operator not in {"=", "!=", "in"}
        if not _are_read_alike(kinds[condition.column], tuple(map(str, values)), ordered=ordered):
            return False
    keys = [key for key in tally.keys if isinstance(key, Category)]
    if not all(_are_read_alike(kinds[key.column], key.categories) for key in keys):
        return False
    subject = tally.unit.subject
    if subject is not None and not _is_one_of(kinds[subject], (*_WHOLE, "DATE")):
        return False
    return all(_is_number(kinds[name]) for name in tally.numbers)


def _are_read_alike(kind: str, values: tuple[str, ...], *, ordered: bool = False) -> bool:
    """Say whether the database compares a column of this type with these values as frames do."""
    known = values_of(values)
    if _is_one_of(kind, ("DATE",)):
        return [text for text, _ in known] == list(values) and all(re.match(_DAY, value) for value in values)
    if _is_number(kind):
        return all(abs(number) < _REACH if number is not None else not ordered for _, number in known)
    if _is_one_of(kind, _TEXTS) and not ordered:
        return are_words([value.strip() for value in values if not _is_truth(value)])
    return _is_one_of(kind, ("BOOL",)) and not ordered


def _is_number(kind: str) -> bool:
    return _is_one_of(kind, _NUMBERS)


def _is_one_of(kind: str, names: tuple[str, ...]) -> bool:
    return kind.startswith(names) and not kind.endswith("]")


def tally_database(tally: TallyPlan, database: Database) -> Integers:
    """Sum up; gives ``(*shape, terms)`` integers."""
    sums = np.zeros((*tally.shape, len(tally.terms)), dtype=np.int64)
    groups = len(tally.keys)
    for row in database.ask(sql_of(tally, _with_odd_truths(tally, database))):
        if any(place is None for place in row[:groups]):
            continue
        where = tuple(int(place) for place in row[:groups])
        totals = [int(total or 0) for total in row[groups:]]
        if max(map(abs, totals)) > 1 << 62:
            raise InvalidInput(f"{database.label} has too many rows for exact sums")
        sums[where] = totals
    return sums


def sql_of(tally: TallyPlan, database: Database) -> str:
    """Write the SELECT; names are quoted, literals are written out by us."""
    where = " AND ".join(_passes(condition, database) for condition in tally.where)
    condition = f" WHERE {where}" if where else ""
    keys = [f"{_place(key, database)} AS key_{number}" for number, key in enumerate(tally.keys)]
    plain = all(term.kind == "rows" for term in tally.terms)
    terms = [f"{_adds(term, database)} AS term_{number}" for number, term in enumerate(tally.terms)]
    if plain and not keys and tally.unit.subject is None:
        counts = ", ".join("COUNT(*)" for _ in terms)
        return f"SELECT {counts} FROM {database.table}{condition}"  # noqa: S608 - names are quoted
    steps = f"SELECT {', '.join([*keys, *terms])} FROM {database.table}{condition}"  # noqa: S608
    if tally.unit.subject is not None:
        steps = _capped(tally, database, [*keys, *terms], where)
    names = [f"key_{number}" for number in range(len(keys))]
    text = _type_of_texts(database)
    sums = [f"CAST(SUM(term_{number}) AS {text})" for number in range(len(terms))]
    grouped = f" GROUP BY {', '.join(names)}" if names else ""
    return f"SELECT {', '.join([*names, *sums])} FROM ({steps}) AS steps{grouped}"  # noqa: S608


def _type_of_texts(database: Database) -> str:
    return "VARCHAR" if database.dialect == "duckdb" else "text"


def _capped(tally: TallyPlan, database: Database, counted: Sequence[str], where: str) -> str:
    """Keep some rows of each person, by a hash of whose they are and what they add: others have no say in it.

    Not by its cells: how a program wrote the cells of a column may be up to any one of them.
    """
    subject = quoted(str(tally.unit.subject))
    present = f"{subject} IS NOT NULL" + (f" AND {where}" if where else "")
    kind = database.types[str(tally.unit.subject)]
    whose = subject if _is_one_of(kind, ("DATE",)) else _number(str(tally.unit.subject), database)
    steps = f"SELECT {whose} AS whose, {', '.join(counted)} FROM {database.table} WHERE {present}"  # noqa: S608
    added = [step.rpartition(" AS ")[2] for step in counted]
    text = _type_of_texts(database)
    written = ", ".join(
        [
            f"CAST(whose AS {text})",
            *(f"COALESCE(CAST(CAST({name} AS BIGINT) AS {text}), '')" for name in added),
        ]
    )
    drawn = f"ROW_NUMBER() OVER (PARTITION BY whose ORDER BY md5(concat_ws('|', {written}))) AS drawn"
    numbered = f"SELECT *, {drawn} FROM ({steps}) AS steps"  # noqa: S608
    return f"SELECT * FROM ({numbered}) AS numbered WHERE drawn <= {tally.unit.rows}"  # noqa: S608


def _number(column: str, database: Database) -> str:
    """Read cells as numbers; what is none, NaN included, is NULL. Never fails on a value."""
    cell, kind = quoted(column), database.types[column]
    if database.dialect == "duckdb":
        number = f"TRY_CAST({cell} AS DOUBLE)"
        return number if kind.startswith(_WHOLE) else f"CASE WHEN isnan({number}) THEN NULL ELSE {number} END"
    if kind.startswith(_WHOLE):
        return f"{cell}::float8"
    # PostgreSQL fails on numbers too large for a float, and on products too small for one.
    wide = f"{cell}::float8" if kind.startswith("FLOAT") else cell
    reach = f"{_REACH:g}::{'float8' if kind.startswith('FLOAT') else 'numeric'}"
    near = f"LEAST(GREATEST({wide}, -{reach}), {reach})::float8"
    absent = f"{cell} IS NULL OR {cell} = 'NaN'"
    return f"(CASE WHEN {absent} THEN NULL WHEN abs({wide}) < 1e-100 THEN 0 ELSE {near} END)"


def _clipped(of: Term | EvenGrid, database: Database) -> str:
    number = _number(str(of.column), database)
    low, high = _literal(of.lower), _literal(of.upper)
    known = number if of.missing is None else f"COALESCE({number}, {_literal(of.missing)})"
    # LEAST and GREATEST skip NULL in both databases, so a missing value needs its own case.
    return f"(CASE WHEN {known} IS NULL THEN NULL ELSE LEAST(GREATEST({known}, {low}), {high}) END)"


def _adds(term: Term, database: Database) -> str:
    if term.kind == "rows":
        return "1"
    value = _clipped(term, database)
    if term.kind == "present":
        return f"(CASE WHEN {value} IS NULL THEN 0 ELSE 1 END)"
    centred = f"(({value} - {_literal(term.middle)}) / {_literal(term.half)})"
    match term.kind:
        case "value":
            share = f"({value} / {_literal(max(abs(term.lower), abs(term.upper)))})"
        case "centred":
            share = centred
        case "above" | "below":
            share = f"(({value} - {_literal(term.lower)}) / {_literal(term.upper - term.lower)})"
        case _:
            share = f"(2 * {centred} * {centred} - 1)"
    least, most = term.bounds
    steps = f"CAST(ROUND({share} * {RESOLUTION}) AS BIGINT)"
    within = f"LEAST(GREATEST({steps}, {least}), {most})"
    added = f"{RESOLUTION} - {within}" if term.kind == "below" else within
    return f"(CASE WHEN {value} IS NULL THEN 0 ELSE {added} END)"


def _place(key: Key, database: Database) -> str:
    match key:
        case Category():
            return _declared_place(key.column, key.categories, database)
        case EvenGrid():
            value, low = _clipped(key, database), _literal(key.lower)
            share = f"({value} - {low}) / {_literal(key.upper - key.lower)} * {key.steps}"
            whole = f"CAST({'ROUND' if key.nearest else 'FLOOR'}({share}) AS BIGINT)"
            return (
                f"(CASE WHEN {value} IS NULL THEN NULL ELSE LEAST(GREATEST({whole}, 0), {key.size - 1}) END)"
            )
        case Edges():
            number = _number(key.column, database)
            steps = " ".join(
                f"WHEN {number} < {_literal(edge)} THEN {place}" for place, edge in enumerate(key.edges)
            )
            return f"(CASE WHEN {number} IS NULL THEN NULL {steps} ELSE {len(key.edges)} END)"


def _declared_place(column: str, declared: tuple[str, ...], database: Database) -> str:
    """Number the cells that are declared: by their text, else by their number, as frames do."""
    texts, numbers = dict[str, int](), dict[float, int]()
    for place, (text, number) in enumerate(values_of(declared)):
        if number is not None and np.isfinite(number):
            numbers.setdefault(number, place)
        elif text is not None:
            texts.setdefault(text, place)
    cell = _number_in(column, database)
    arms = [f"WHEN {cell} = {_literal(number)} THEN {place}" for number, place in numbers.items()]
    if not _is_number(database.types[column]):
        text_cell = _text(column, database)
        arms += [
            f"WHEN {text_cell} = {_text_literal(value, database)} THEN {place}"
            for value, place in texts.items()
        ]
    return f"(CASE {' '.join(arms)} END)" if arms else "CAST(NULL AS BIGINT)"


def _number_in(column: str, database: Database) -> str:
    """Read a number from a column of any type; PostgreSQL would fail on a text that is none."""
    if _is_number(database.types[column]):
        return _number(column, database)
    text = _text(column, database)
    cast = "TRY_CAST({} AS DOUBLE)" if database.dialect == "duckdb" else "CAST({} AS DOUBLE PRECISION)"
    plain = f"CASE WHEN {_matches(text, _known_numbers(database), database)} THEN {cast.format(text)} END"
    return f"COALESCE({plain}, {_truth(text, database.odd_truths.get(column, {}), database)})"


def _matches(text: str, pattern: str, database: Database) -> str:
    return f"regexp_matches({text}, '{pattern}')" if database.dialect == "duckdb" else f"{text} ~ '{pattern}'"


def _truth(text: str, odd: Mapping[str, str], database: Database) -> str:
    words = " ".join(f"WHEN lower({text}) = '{word}' THEN {truth}" for word, truth in TRUTHS.items())
    others = (f" WHEN {text} = {_text_literal(cell, database)} THEN {truth}" for cell, truth in odd.items())
    return f"CASE {words}{''.join(others)} END"


def _with_odd_truths(tally: TallyPlan, database: Database) -> Database:
    """Find cells that are 1 or 0 in a spelling that a database does not know, such as one microsecond.

    Only columns of texts that are asked for truths are looked at, and days are left where they are.
    """
    asked = [(key.column, key.categories) for key in tally.keys if isinstance(key, Category)]
    asked += [(one.column, _texts_of(one)) for one in tally.where if not one.numeric]
    odd = {
        column: _odd_truths(column, database)
        for column, values in asked
        if _is_one_of(database.types[column], _TEXTS) and any(map(_is_truth, values))
    }
    return replace(database, odd_truths=odd)


def _odd_truths(column: str, database: Database) -> dict[str, str]:
    text = _text(column, database)
    like, known = (
        _matches(text, pattern, database) for pattern in (_ODD, f"{_known_numbers(database)}|{_OF_DAYS}")
    )
    cells = (
        f"SELECT DISTINCT {text} FROM {database.table} WHERE {like} AND NOT {known} AND length({text}) < 100"  # noqa: S608
    )
    read = {str(cell): value_of(str(cell))[0] for (cell,) in database.ask(cells)}
    return {cell: truth for cell, truth in read.items() if truth in {"0", "1"}}


def _known_numbers(database: Database) -> str:
    return _ANY_NUMBER if database.dialect == "duckdb" else _PLAIN_NUMBER


def _texts_of(condition: Condition) -> tuple[str, ...]:
    return tuple(map(str, condition.value if isinstance(condition.value, tuple) else (condition.value,)))


def _is_truth(value: str) -> bool:
    return value.strip().lower() in TRUTHS


def _text(column: str, database: Database) -> str:
    """Read cells as text; an empty one is missing, as everywhere, and so is a mark of nothing."""
    kind = "VARCHAR" if database.dialect == "duckdb" else "text"
    trim = "trim" if database.dialect == "duckdb" else "btrim"
    trimmed = f"NULLIF({trim}(CAST({quoted(column)} AS {kind}), {_BLANKS}), '')"
    marks = ", ".join(f"'{mark}'" for mark in sorted(MISSING))
    text = f"(CASE WHEN lower({trimmed}) NOT IN ({marks}) THEN {trimmed} END)"
    if _is_one_of(database.types[column], ("DATE",)):
        text = _day(column, text, database)
    elif _is_one_of(database.types[column], _TEXTS):
        text = f"(CASE WHEN NOT {_matches(text, NO_TIME, database)} THEN {text} END)"
    return text if database.dialect == "duckdb" else f'({text} COLLATE "C")'


def _day(column: str, text: str, database: Database) -> str:
    """Write days so that those of no calendar stand where frames have them: before all others, or nowhere."""
    day, first = quoted(column), "DATE '0001-01-01'"
    endless = "WHEN day = DATE 'infinity' THEN 'inf' WHEN day = DATE '-infinity' THEN '-inf' "
    endless = "WHEN NOT isfinite(day) THEN NULL " if database.dialect == "postgresql" else endless
    arms = f"{endless.replace('day', day)}WHEN {day} < {first} THEN '-' || {text} ELSE {text}"
    return f"(CASE {arms} END)"


def _passes(condition: Condition, database: Database) -> str:
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    if not condition.numeric and condition.operator in {"=", "!=", "in"}:
        place = _declared_place(condition.column, tuple(dict.fromkeys(map(str, values))), database)
        if condition.operator != "!=":
            return f"({place} IS NOT NULL)"
        return f"({place} IS NULL AND {_text(condition.column, database)} IS NOT NULL)"
    if condition.numeric or _is_number(database.types[condition.column]):
        cell = _number(condition.column, database)
        written = [_literal(_number_of(value)) for value in values]
    else:
        cell = _text(condition.column, database)
        written = [_text_literal(str(value), database) for value in values]
    if condition.operator == "in":
        return f"({cell} IN ({', '.join(written)}))"
    operator = "<>" if condition.operator == "!=" else condition.operator
    return f"({cell} {operator} {written[0]})"


def _number_of(value: float | str) -> float:
    number = value_of(value)[1] if isinstance(value, str) else value
    return 0.0 if number is None else number  # a text that is no number is not asked of a column of numbers


def _text_literal(text: str, database: Database) -> str:
    """Write a text; PostgreSQL can be set up to read backslashes in plain literals, so they are doubled."""
    quoted_text = "'" + text.replace("'", "''") + "'"
    if database.dialect == "postgresql" and "\\" in text:
        return "E" + quoted_text.replace("\\", "\\\\")
    return quoted_text


def _literal(value: float) -> str:
    if not np.isfinite(value):
        raise InvalidParameter(f"number={value!r} in a query must be finite")
    return f"CAST({value!r} AS DOUBLE PRECISION)"
