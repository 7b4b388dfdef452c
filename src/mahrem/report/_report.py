"""The report as data: what ``report.json`` says, one dataclass for each part of it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Self, get_args, get_origin, get_type_hints

from mahrem.disclosed import NONE, Count, Figure, Why, disclose, unmarked
from mahrem.entries import own_version
from mahrem.words import Note

if TYPE_CHECKING:
    from altair.typing import ChartType


class ReportFacts:
    """What dataclasses of figures have in common: JSON in the order of their fields.

    Guarantees:
        - Every number says why it may be shown; one that does not is refused.
        - A field that may be missing is not written while it is None; one that is ``always()`` there is.
        - What JSON has beyond the fields is not read.
    """

    def __post_init__(self) -> None:
        """Refuse a number that nobody marked; ``settings`` are public by themselves."""
        for known in fields(self):  # type: ignore[arg-type]
            place = None if known.name == "settings" else unmarked(getattr(self, known.name), known.name)
            if place is not None:
                raise TypeError(f"{type(self).__name__}.{place} does not say why it may be shown")

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        return {
            known.name: _written(value)
            for known in fields(self)  # type: ignore[arg-type]
            if (value := getattr(self, known.name)) is not None
            or known.default is not None
            or "always" in known.metadata
        }

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Read what :meth:`as_dict` wrote, or as much of it as there is."""
        kinds = _kinds(cls)  # type: ignore[arg-type] # mypy: a class of Self is not hashable
        return cls(**{name: _read(kinds[name], content[name]) for name in kinds if name in content})


def always() -> Any:
    """Give a field that is written even where there is no figure."""
    return field(default=None, metadata={"always": True})


@dataclass(frozen=True, kw_only=True)
class ReportPromise(ReportFacts):
    """What was asked for, and what the published table makes of it."""

    model: str
    wanted: Figure | str | None = always()
    reached: Figure | str | None = always()
    holds: bool = False
    column: str | None = always()
    violating_classes: Count | None = None
    violating_rows: Count | None = None


@dataclass(frozen=True, kw_only=True)
class ReportColumn(ReportFacts):
    """What a column is and what became of it."""

    role: str | None = None
    kind: str | None = None
    recoding: str | None = None
    gcp: Figure | None = None
    iloss: Figure | None = None
    generalised_cells: Count | None = None
    suppressed_cells: Count | None = None
    level: Count | None = None
    examples: tuple[str, ...] | None = None  # published cells that many rows show
    distribution: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class ColumnSet(ReportFacts):
    """Columns that together leave a share of the rows alone."""

    columns: tuple[str, ...]
    share: Figure


@dataclass(frozen=True, kw_only=True)
class ReportSingling(ReportFacts):
    """Which sets of columns single people out in the source."""

    share: Figure
    rows: Count = NONE
    sampled: bool = False
    sets: tuple[ColumnSet, ...] = ()
    complete: bool = True


@dataclass(frozen=True, kw_only=True)
class ReportRisk(ReportFacts):
    """Figures of risk; a share that would show too few rows is None, and ``below`` says the line."""

    highest: Figure | None = None
    average: Figure | None = None
    share_at_risk: Figure | None = always()
    unique_share: Figure | None = always()
    threshold: Figure | None = None
    journalist: Mapping[str, Figure] | None = None
    k_map: Figure | None = None
    marketer: Figure | None = None
    population_uniques: Mapping[str, Any] | None = None
    before: ReportRisk | None = None
    below: Figure | None = None
    unique_columns: ReportSingling | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON; nothing where nothing was measured."""
        return super().as_dict() if self.threshold is not None else {}


@dataclass(frozen=True, kw_only=True)
class ReportRelation(ReportFacts):
    """How two columns go together."""

    columns: tuple[str, ...]
    before: Figure
    after: Figure | None = always()


@dataclass(frozen=True, kw_only=True)
class ReportLearning(ReportFacts):
    """What a model still learns: before and after by classifier and figure."""

    target: str
    rows: Count = NONE
    sampled: bool = False
    entropy_loss: Figure | None = None
    entropy_loss_cells: Figure | None = None
    scores: Mapping[str, Mapping[str, Sequence[Figure]]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ReportFinding(ReportFacts):
    """What one attack found; a rate of too few people is None, and ``below`` says the line."""

    attack: str
    rate: Figure | None = always()
    baseline: Figure | None = always()
    interval: tuple[Figure, ...] | None = always()
    successes: Count | None = always()
    trials: Count = NONE
    meaning: str = ""
    confidence: Figure = Figure(0.95, Why.PUBLISHED)
    skipped: str | None = always()
    unread: Count = NONE
    skipped_note: Mapping[str, Any] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    alarming: bool = False
    below: Figure | None = None


@dataclass(frozen=True, kw_only=True)
class ReportTeam(ReportFacts):
    """What the red team found on so many rows."""

    rows: Count = NONE
    sampled: bool = False
    findings: tuple[ReportFinding, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReportMissing(ReportFacts):
    """What was done with missing values; a count that is None is one below ``below``."""

    policy: str | None = None
    dropped: Count | None = always()
    suppressed: Count | None = always()
    below: Count | None = None


@dataclass(frozen=True, kw_only=True)
class Report(ReportFacts):
    """Everything that is said about a release, a synthetic table or an audited file: figures and notes."""

    mahrem: str | None = None
    created: str | None = None
    source: str | None = None
    holds: bool = False
    verdict: str | None = None
    doubts: Sequence[Mapping[str, Any]] | None = None
    promises: tuple[ReportPromise, ...] = ()
    utility: Mapping[str, Figure | None] = field(default_factory=dict)
    columns: Mapping[str, ReportColumn] = field(default_factory=dict)
    published: Mapping[str, Any] | None = None
    risk: ReportRisk = ReportRisk()
    learning: ReportLearning | None = None
    relations: tuple[ReportRelation, ...] | None = None
    red_team: ReportTeam | None = None
    synthesis: Mapping[str, Any] | None = None
    privacy_ledger: Mapping[str, Any] | None = None
    class_sizes: Sequence[Mapping[str, Count]] | None = None
    rows: Count | None = None
    rows_in: Count | None = always()
    dropped: Count | None = always()
    missing: ReportMissing | None = None
    method: str | None = None
    method_reason: str | None = None
    method_note: Mapping[str, Any] | None = None
    engine: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str | None = None  # SHA-256 of the published file
    source_fingerprint: str | None = None  # of the table it was made from, keyed; on pages of the owner alone
    seconds: Figure | None = None
    warnings: Sequence[str] | None = None
    notes: Sequence[Mapping[str, Any]] | None = None

    @property
    def quasi(self) -> list[str]:
        """Columns that others may know."""
        return [name for name, column in self.columns.items() if column.role == "quasi"]

    @property
    def buts(self) -> list[str]:
        """What weakens a promise that holds, as notes where catalogues have words for them."""
        return [Note.read(doubt, str(doubt.get("text", ""))) for doubt in self.doubts or ()]

    @property
    def caveats(self) -> list[str]:
        """What a reader must be told, as notes where catalogues have words for them."""
        texts, notes = self.warnings or (), self.notes or ()
        known = notes if len(notes) == len(texts) else [None] * len(texts)
        return [Note.read(note, text) for note, text in zip(known, texts, strict=True)]


def stamp() -> dict[str, Any]:
    """Say what made a report, and when."""
    return {"mahrem": own_version(), "created": datetime.now(UTC).date().isoformat()}


def warnings_of(notes: Iterable[Note]) -> dict[str, Any]:
    """Give notes as a report has them: sentences for readers, and codes with values for every language."""
    kept = list(notes)
    return {"warnings": [str(note) for note in kept], "notes": [note.as_dict() for note in kept]}


def verdict_of(*, holds: bool, doubts: Iterable[Note]) -> dict[str, Any]:
    """Give the verdict in its three states, and what stands beside it: as a report has both."""
    kept = list(doubts)
    state = "broken" if not holds else "holds-but" if kept else "holds"
    texts = [{**note.as_dict(), "text": str(note)} for note in kept]
    return {"holds": holds, "verdict": state, "doubts": texts}


@cache
def _kinds(facts: type) -> dict[str, object]:
    hints = get_type_hints(facts)
    return {known.name: hints[known.name] for known in fields(facts)}


def _read(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(kind, UnionType):
        kind = get_args(kind)[0]
    inner = get_args(kind)
    if isinstance(kind, type) and issubclass(kind, ReportFacts):
        return kind.read(value)
    if get_origin(kind) is tuple:
        return tuple(_read(inner[0], entry) for entry in value)
    if get_origin(kind) is Mapping:
        return {key: _read(inner[1], entry) for key, entry in value.items()}
    return disclose(value, Why.READ)


def _written(value: object) -> object:
    if isinstance(value, ReportFacts):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {key: _written(entry) for key, entry in value.items()}
    return [_written(entry) for entry in value] if isinstance(value, tuple | list) else value


def to_json(report: Mapping[str, object]) -> str:
    """Write a report as JSON text.

    Guarantees:
        - Standard JSON: a number that is not finite becomes null.
        - Keys keep their order; equal reports give equal text.

    Example:
        >>> print(to_json({"holds": True, "reached": float("inf")}))
        {
          "holds": true,
          "reached": null
        }
    """
    return json.dumps(_clean(report), indent=2, ensure_ascii=False, allow_nan=False)


def _clean(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {str(key): _clean(entry) for key, entry in value.items()}
        case list() | tuple():
            return [_clean(entry) for entry in value]
        case None | bool() | int() | str():
            return value
        case _:  # numbers and arrays of NumPy give plain ones; anything else is text
            return _clean(value.tolist()) if hasattr(value, "tolist") else str(value)


@dataclass(frozen=True, kw_only=True)
class JudgedTable:
    """A table whose promises were checked, by its report: what a notebook and a chart show of it."""

    report: Mapping[str, Any] = field(repr=False)

    @property
    def holds(self) -> bool:
        """True when every promise that was asked for holds."""
        return bool(self.report["holds"])

    def _repr_html_(self) -> str:
        return promises_table(self.report)

    def plot(self, *, language: str = "en") -> ChartType:
        """Draw how many rows live in classes of each size, as a chart of Altair."""
        from mahrem.charts import as_chart, draw_class_sizes

        return as_chart(draw_class_sizes(self.report, language))


def promises_table(content: Mapping[str, object]) -> str:
    """Give the verdict and the promises of a report as a notebook shows them."""
    report = Report.read(content)
    verdict = report.verdict or ("holds" if report.holds else "broken")
    title = "; ".join([verdict, *(f"but: {doubt}" for doubt in report.buts)])
    rows = (
        (promise.model, promise.column, promise.wanted, promise.reached, "yes" if promise.holds else "no")
        for promise in report.promises
    )
    from mahrem.notebooks import notebook_table

    return notebook_table(title, ("promise", "column", "wanted", "reached", "holds"), rows)
