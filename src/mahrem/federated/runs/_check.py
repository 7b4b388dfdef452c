"""A client's table beside what was agreed: its owner reads what is wrong, others that it passed or not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter, spelled
from mahrem.federated.rules import FEW_PEOPLE, RulesSchema
from mahrem.federated.weights import SharedSchema
from mahrem.federated.wire import Answerer, Message
from mahrem.learning.classifiers import DeclaredNumbers, DeclaredWords
from mahrem.table import Kind, read_kind, read_ranges
from mahrem.table.columns import fold_spellings
from mahrem.types import Floats
from mahrem.words import Note

COUNTED_BY = 10  # the server is told counts in steps of this; fewer people are none
OUTSIDE = 0.01  # a larger share of numbers outside the bounds is a fault: another unit, most likely
NARROW = 0.05  # numbers that use less of the agreed range are of another unit, or of other people
FEW = 10  # numbers without bins: more different ones than this are no words
MOST_COMPARED = 500  # words that nobody declared and that are looked for among the declared ones

# What may be wrong with a column, or with the plan itself; the catalogues say what it means for learning.
FAULTS = (
    "missing",
    "spelling",
    "undeclared",
    "label",
    "no number",
    "range",
    "narrow",
    "numbers",
    "few",
    "handful",
    "recut",
    "regrouped",
    "stranger",
    "noiseless",
    "exact",
    "pair",
    "recount",
    "promised",
    "asked",
    "changed",
    "empty",
)
NOTES = ("outside", "unlabelled", "constant", "absent", "open")


@dataclass(frozen=True, kw_only=True)
class CheckFinding:
    """One thing that was found about a column.

    Attributes:
        code: One of :data:`FAULTS` or :data:`NOTES`.
        column: Its name; of a plan, the member or the class that it is about.
        rows: How many rows show it.
        values: How many different cells.
        like: Agreed values that the cells resemble.
    """

    code: str
    column: str
    rows: int = 0
    values: int = 0
    like: tuple[str, ...] = ()

    @property
    def fault(self) -> bool:
        """Whether a table must not take part with it, unless its owner says so."""
        return self.code in FAULTS

    def describe(self) -> Note:
        """Say it without a cell of the table."""
        facts = {"column": self.column, "means": Note(f"federation.means.{self.code.replace(' ', '_')}")}
        rows, values = {"rows": self.rows}, {"values": self.values}
        if self.like:
            like = [repr(value) for value in self.like[:3]]
            return Note("federation.found.like", {**facts, **rows, **values, "like": like})
        if self.rows and self.values:
            return Note("federation.found.cells", {**facts, **rows, **values})
        if self.rows:
            return Note("federation.found.rows", {**facts, **rows})
        if self.values:
            return Note("federation.found.values", {**facts, **values})
        return Note("federation.found.plain", facts)


@dataclass(frozen=True, kw_only=True)
class TableCheck:
    """What is wrong with a table before it takes part, and what its owner accepts.

    Args:
        rows: Rows of the table.
        dropped: Rows that would not be learnt from: without a class, or of one that was not agreed on.
        findings: All that was found; cells of the table are in none of them.
        accepted: Codes, or ``code:column``, that the owner knows about and takes part with.
        learnt: The rows that are learnt from, as they are; None where none are.

    Raises:
        InvalidParameter: If something is accepted that is no fault.
    """

    rows: int
    dropped: int = 0
    findings: tuple[CheckFinding, ...] = field(default=(), repr=False)
    accepted: tuple[str, ...] = ()
    learnt: pl.DataFrame | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in self.accepted:
            code = name.partition(":")[0]
            if code not in FAULTS or code in {"missing", "empty"}:
                raise InvalidParameter(
                    f"despite={name!r} must be one of {', '.join(FAULTS[1:-1])}, or one of them with a "
                    "column: undeclared:job"
                )

    @property
    def faults(self) -> tuple[CheckFinding, ...]:
        """What keeps the table out."""
        return tuple(
            finding
            for finding in self.findings
            if finding.fault and not {finding.code, f"{finding.code}:{finding.column}"} & set(self.accepted)
        )

    @property
    def passed(self) -> bool:
        """Whether the table may take part."""
        return not self.faults

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for the owner's eyes."""
        findings = [{**asdict(finding), "fault": finding.fault} for finding in self.findings]
        return {"passed": self.passed, "rows": self.rows, "dropped": self.dropped, "findings": findings}

    def server_report(self, *, counts: bool) -> dict[str, Any]:
        """Give what the server sees: whether it passed and, in steps of ten, how many rows there are."""
        safe = {"rows": self.rows, "dropped": self.dropped} if counts else {}
        return {
            "passed": self.passed,
            **{name: count // COUNTED_BY * COUNTED_BY for name, count in safe.items()},
        }

    def refuse(self) -> None:
        """Refuse to take part with a fault that was not accepted.

        Raises:
            InvalidInput: Naming columns and codes, and what can be done.
        """
        if self.faults:
            first = "; ".join(finding.describe() for finding in self.faults[:3])
            more = f" and {len(self.faults) - 3} more" if len(self.faults) > 3 else ""
            again = f"{self.faults[0].code}:{self.faults[0].column}"
            raise InvalidInput(
                f"check={len(self.faults)} faults: {first}{more}. Look with: mahrem federate check; correct "
                f"the table, or take part as it is with {spelled('despite', again)}"
            )


@dataclass
class CheckedClient:
    """A client that says, when asked, whether its table passed its owner's check, and nothing more of it."""

    client: Answerer = field(repr=False)
    report: Mapping[str, Any]

    def answer(self, message: Message) -> Message:
        """Answer ``check`` here, everything else by the client."""
        return message.reply(**self.report) if message.kind == "check" else self.client.answer(message)


Schema: TypeAlias = SharedSchema | RulesSchema


def check_table(
    frame: pl.DataFrame,
    schema: Schema,
    accepted: Sequence[str] = (),
    *,
    labelled: bool = True,
    learnt: bool = True,
) -> TableCheck:
    """Look at a table as it is beside what was agreed.

    Args:
        frame: The table, with its columns as they are called there.
        schema: What was agreed.
        accepted: What its owner takes part with.
        labelled: Whether rows must have a class; those of members without labels and new ones have none.
        learnt: Whether they are learnt from; new rows are judged.

    Guarantees:
        - No cell of the table is in what is found; agreed values are.
        - A table all of whose cells were agreed on has no fault but few people, in it or in a bin.

    Example:
        >>> sex = DeclaredWords(values=("Female", "Male"))
        >>> schema = SharedSchema(columns={"sex": sex}, target="ill", classes=("no", "yes"))
        >>> result = check_table(pl.DataFrame({"sex": ["F", "Male"], "ill": ["yes", "no"]}), schema)
        >>> result.passed, [(finding.code, finding.like) for finding in result.findings]
        (False, [('spelling', ('Female',))])
    """
    findings: list[CheckFinding] = []
    for name in _columns(schema):
        if name in frame.columns:
            findings += _column(frame[name], schema)
        else:
            findings.append(CheckFinding(code="missing", column=name))
    dropped = 0
    if not labelled:  # nothing is counted in them
        findings = [finding for finding in findings if finding.code != "few"]
    rows = frame
    if labelled:
        classes = schema.classes if isinstance(schema, SharedSchema) else schema.values.get(schema.target, ())
        rows = _with_class(frame, schema.target, classes)
        label_findings, dropped = _labels(frame, schema.target, classes)
        findings += label_findings
        if dropped == frame.height:
            findings.append(CheckFinding(code="empty", column=schema.target))
        elif isinstance(schema, RulesSchema) and frame.height - dropped < FEW_PEOPLE:
            rows_left = frame.height - dropped
            findings.append(CheckFinding(code="handful", column=schema.target, rows=rows_left))
    findings.sort(key=lambda finding: not finding.fault)
    return TableCheck(
        rows=frame.height,
        dropped=dropped,
        findings=tuple(findings),
        accepted=tuple(accepted),
        learnt=rows if learnt else None,
    )


def _columns(schema: Schema) -> tuple[str, ...]:
    return tuple(schema.columns)


def _column(series: pl.Series, schema: Schema) -> Iterator[CheckFinding]:
    known = schema.columns[series.name] if isinstance(schema, SharedSchema) else None
    values = schema.values.get(series.name) if isinstance(schema, RulesSchema) else None
    if isinstance(known, DeclaredNumbers):
        yield from _numbers(series, known)
    elif isinstance(known, DeclaredWords):
        tree = schema.hierarchies.get(series.name) if isinstance(schema, SharedSchema) else None
        yield from _words(series, (*known.values, *(() if tree is None else tree.labels[0])))
    elif isinstance(schema, RulesSchema) and series.name in schema.bins:
        yield from _numbers(series, None)
        yield from _few(series, schema.bins[series.name])
    elif values is not None:
        yield from _words(series, values)
    else:
        yield from _open(series)


def _distinct(series: pl.Series) -> tuple[pl.Series, Floats]:
    """Give the different cells that are not empty, as text, and how often each occurs."""
    text = series.cast(pl.String)
    counted = text.filter((text != "").fill_null(value=False)).alias("cell").value_counts(sort=True)
    return counted["cell"], counted["count"].to_numpy().astype(np.float64)


def _numbers(series: pl.Series, known: DeclaredNumbers | None) -> Iterator[CheckFinding]:
    cells, counts = _distinct(series)
    ends = read_ranges(cells)
    plain = cells.cast(pl.Float64, strict=False).to_numpy()
    values = np.where(np.isfinite(plain), plain, (ends[0] + ends[1]) / 2)
    strange = ~np.isfinite(values)
    yield from _counted("no number", series.name, counts, strange)
    if known is None or strange.all():
        return
    outside = ~strange & ((values < known.lower) | (values > known.upper))
    share = counts[outside].sum() / max(counts.sum(), 1)
    yield from _counted("range" if share > OUTSIDE else "outside", series.name, counts, outside)
    inside = np.clip(values[~strange], known.lower, known.upper) - known.lower
    span = known.upper - known.lower
    reach = np.log1p(inside) / np.log1p(span) if known.log else inside / span
    if len(values) == 1:
        yield CheckFinding(code="constant", column=series.name, rows=int(counts.sum()), values=1)
    elif share <= OUTSIDE and reach.max() - reach.min() < NARROW:
        yield CheckFinding(code="narrow", column=series.name, rows=int(counts.sum()))


def _few(series: pl.Series, cuts: Sequence[float]) -> Iterator[CheckFinding]:
    """Look for bins that hold a few people of this table alone: whoever drew them may be after these.

    A count of few is not sent, but all other bins and the rows of the table tell it.
    """
    cells, counts = _distinct(series)
    numbers = cells.cast(pl.Float64, strict=False).to_numpy()
    known = np.isfinite(numbers)
    place = np.searchsorted(np.asarray(cuts, np.float64), numbers[known], side="right")
    held = np.bincount(place, weights=counts[known], minlength=len(cuts) + 1)
    few = (held > 0) & (held < FEW_PEOPLE)
    if few.any():
        rows, values = int(held[few].sum()), int(few.sum())
        yield CheckFinding(code="few", column=series.name, rows=rows, values=values)


def _words(series: pl.Series, values: Iterable[str], code: str = "undeclared") -> Iterator[CheckFinding]:
    agreed = tuple(dict.fromkeys(values))
    cells, counts = _distinct(series)
    strange = ~cells.is_in(agreed).to_numpy()
    near = nearest_spellings(cells.filter(pl.Series(strange)), agreed)
    alike = np.zeros(len(cells), bool)
    alike[strange] = [like is not None for like in near]
    like = tuple(dict.fromkeys(word for word in near if word is not None))
    yield from _counted("spelling", series.name, counts, alike, like)
    yield from _counted(code, series.name, counts, strange & ~alike)
    if len(cells) == 1 and not strange.any() and code != "label":
        yield CheckFinding(code="constant", column=series.name, rows=int(counts.sum()), values=1)


def _open(series: pl.Series) -> Iterator[CheckFinding]:
    """Look at words of which nothing was agreed: they can only be compared with each other."""
    cells, counts = _distinct(series)
    if len(cells) > FEW and read_kind(series)[0] is Kind.NUMERIC:
        yield CheckFinding(code="numbers", column=series.name, rows=int(counts.sum()), values=len(cells))
        return
    loose = loosened(cells)
    twins = loose.is_duplicated().to_numpy() & loose.is_not_null().to_numpy()
    yield from _counted("spelling", series.name, counts, twins)
    if len(cells):
        yield CheckFinding(code="open", column=series.name, values=len(cells))


def _labels(frame: pl.DataFrame, target: str, classes: Sequence[str]) -> tuple[list[CheckFinding], int]:
    if target not in frame.columns:
        return [CheckFinding(code="missing", column=target)], 0
    series = frame[target]
    cells, counts = _distinct(series)
    empty = frame.height - int(counts.sum())
    findings = [CheckFinding(code="unlabelled", column=target, rows=empty)] if empty else []
    if not classes:
        return [*findings, *_open(series)], empty
    findings += _words(series, classes, "label")
    absent = set(classes) - set(cells)
    if absent and cells.len():
        findings.append(CheckFinding(code="absent", column=target, values=len(absent)))
    return findings, empty + int(counts[~cells.is_in(list(classes)).to_numpy()].sum())


def _with_class(frame: pl.DataFrame, target: str, classes: Sequence[str]) -> pl.DataFrame:
    """Give the rows that have a class, one of the agreed ones where some were agreed on."""
    if target not in frame.columns:
        return frame
    text = pl.col(target).cast(pl.String)
    return frame.filter(text.is_in(list(classes)) if classes else text != "")


def _counted(
    code: str, column: str, counts: Floats, where: Any, like: tuple[str, ...] = ()
) -> Iterator[CheckFinding]:
    if where.any():
        rows, values = int(counts[where].sum()), int(where.sum())
        yield CheckFinding(code=code, column=column, rows=rows, values=values, like=like)


def loosened(cells: pl.Series) -> pl.Series:
    """Give spellings without what people write or leave out: capitals, blanks, dashes, dots, accents."""
    folded = fold_spellings(cells).str.normalize("NFKD").str.replace_all(r"\p{M}", "")
    return folded.str.replace_all(r"[\s_./,;:()\-]", "")


def nearest_spellings(cells: pl.Series, agreed: Sequence[str]) -> list[str | None]:
    """Find, for cells that were not agreed on, the agreed value that is meant; None where none is near.

    Near is what differs in capitals, blanks and signs, a beginning that only one agreed value has (``F`` for
    ``Female``), and a slip of the pen.

    Example:
        >>> nearest_spellings(pl.Series(["Not recom", "F", "purple"]), ["not_recom", "Female", "Male"])
        ['not_recom', 'Female', None]
    """
    loose: dict[str, str] = {}
    for value, form in zip(agreed, loosened(pl.Series(agreed, dtype=pl.String)), strict=True):
        loose.setdefault(form or value, value)
    spellings: list[str | None] = []
    for place, form in enumerate(loosened(cells)):
        if form is None or place >= MOST_COMPARED:
            spellings.append(None)
            continue
        begun = [] if form.isdecimal() else [word for word in loose if word.startswith(form)]
        close = difflib.get_close_matches(form, loose, n=1, cutoff=0.85) if len(form) > 3 else []
        near = form if form in loose else begun[0] if len(begun) == 1 else next(iter(close), None)
        spellings.append(None if near is None else loose[near])
    return spellings
