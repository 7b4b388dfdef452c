"""At the door: columns that are published row by row are made coarser before anything looks at them.

Promises, reports, attacks and recipes then see what will be published, and nothing finer. Quasi-identifiers
get their cells from classes and stay as they are here, but for those that show nothing at all: behind the
door they hold nothing either, so that no class, figure or refusal can depend on them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from mahrem.errors import InvalidParameter, spelled
from mahrem.release.decisions import Policy, coarsened_by_row, without_columns
from mahrem.table import Kind, Numbers, Reading, Source, read_kind
from mahrem.table.cells import EXACT, as_text
from mahrem.table.columns import moment_places, number_places
from mahrem.table.reading import ColumnSource
from mahrem.threads import in_parallel
from mahrem.types import Floats, Mask
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.verify import Coarseness


class RewrittenSource:
    """A source some of whose columns were replaced by what is published of them."""

    def __init__(
        self,
        original: Source,
        columns: Mapping[str, pl.Series],
        claims: Mapping[str, Coarseness],
        moved: Mapping[str, pl.Series],
        before: Mapping[str, pl.Series],
    ) -> None:
        self.original = original
        self.claims = claims  # how coarse each column is said to be
        self.moved = moved  # dates on other days, before they were made coarser
        self.before = before  # all that was replaced by other values before it was made coarser
        self._columns = {**moved, **columns}

    def __repr__(self) -> str:
        return f"<{self.label}, {len(self.claims)} columns rewritten>"

    @property
    def label(self) -> str:
        """Kind and name of the source."""
        return self.original.label

    @property
    def reading(self) -> Reading:
        """How the source is read."""
        return self.original.reading

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self.original.columns

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.original.rows

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was found out about the source."""
        return self.original.notes

    @property
    def labels(self) -> Mapping[str, str]:
        """What columns are called in words."""
        return self.original.labels

    @property
    def textual(self) -> bool:
        """Whether every value came as text."""
        return self.original.textual

    def take(self, names: Sequence[str]) -> pl.DataFrame:
        """Read exactly these columns in this order, as they are published."""
        return self.original.take(names).with_columns(self._among(names))

    def coded(self, names: Sequence[str]) -> dict[str, pl.Series]:
        """Give columns of text as categories; those that were not rewritten and came so."""
        return coded_texts(self.original, [name for name in names if name not in self._columns])

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Give the same as :meth:`take` lazily."""
        return self.original.scan(names).with_columns(self._among(names))

    def rebuild(
        self, replace: Mapping[str, Sequence[pl.Series]], drop: Collection[str] = (), keep: Mask | None = None
    ) -> Any:
        """Make the table again, of the same kind as it came, with the rewritten columns in their places."""
        own = {
            name: [series if keep is None else series.filter(pl.Series(keep))]
            for name, series in self._columns.items()
            if name not in replace and name not in drop
        }
        return self.original.rebuild({**own, **replace}, drop, keep)

    def _among(self, names: Sequence[str]) -> list[pl.Series]:
        return [self._columns[name] for name in names if name in self._columns]


def coded_texts(source: Source, names: Sequence[str]) -> dict[str, pl.Series]:
    """Give columns of text that a source has as categories: what is asked of a text is asked once."""
    return source.coded(names) if isinstance(source, ColumnSource | RewrittenSource) else {}


def rewritten(source: Source, policy: Policy) -> tuple[Source, Policy]:
    """Make coarser what the policy says of columns that are no quasi-identifiers.

    Args:
        source: The table as it came.
        policy: What to do; every column that it names is published.

    Returns:
        The table as it will be published, but for cells of quasi-identifiers, and the policy that goes on
        with it: what was done is not said again, and kinds are those of the values before.
    """
    asked = coarsened_by_row(policy)
    moved: dict[str, pl.Series] = {}
    if policy.shift_days is not None:
        from mahrem.drafts._moved_dates import moved_dates

        moved = moved_dates(source, policy)
    if not (asked or moved or policy.sparse or policy.redact or policy.suppress):
        return source, policy
    named = list(dict.fromkeys([*asked, *policy.sparse]))
    taken = source.take(named).with_columns(moved[name] for name in named if name in moved)
    taken = _zeroed(taken, policy)

    def rewrite(name: str) -> tuple[Coarseness, pl.Series]:
        return _coarser(taken[name], asked[name], policy)

    coarsened = dict(zip(asked, in_parallel(rewrite, list(asked), rows=taken.height), strict=True))
    inside = past_the_door(policy)
    # Redacting again changes nothing, so that is left for the gate to see.
    kinds = {name: claim.kind for name, (claim, _) in coarsened.items() if name in policy.sensitive}
    return (
        RewrittenSource(
            source,
            {
                **{name: taken[name] for name in policy.sparse},
                **{name: series.alias(name) for name, (_, series) in coarsened.items()},
                **_redacted(source, policy),
                **_silent(source, policy),
            },
            {name: claim for name, (claim, _) in coarsened.items()},
            moved,
            {**moved, **{name: taken[name] for name in policy.sparse}},
        ),
        replace(inside, kind={**inside.kind, **kinds}),
    )


def _silent(source: Source, policy: Policy) -> dict[str, pl.Series]:
    """Give columns that show nothing as they are shown: no value of theirs goes on."""
    nothing = pl.Series([None], dtype=pl.String).new_from_index(0, source.rows)
    names = [name for name in policy.suppress if name in source.columns]
    return policy.silenced(pl.DataFrame([nothing.alias(name) for name in names])).to_dict()


def _redacted(source: Source, policy: Policy) -> dict[str, pl.Series]:
    """Take out of texts what tells who somebody is."""
    if not policy.redact:
        return {}
    from mahrem.contents import redact_texts

    taken = source.take(list(policy.redact))
    for series in taken:
        if not isinstance(series.dtype, pl.String | pl.Categorical | pl.Enum):
            raise InvalidParameter(f"redact.{series.name} is for text, and column={series.name!r} has none")
    return {series.name: redact_texts(series.cast(pl.String)) for series in taken}


def _zeroed(taken: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Write codes that too few people live under as zeros, as long as they were."""
    for name, beginnings in policy.sparse.items():
        kind, _ = _kind_of(taken[name], policy)
        if kind is not Kind.CODE:
            raise InvalidParameter(
                f"sparse.{name} is for codes, and column={name!r} is {kind}; "
                f"say that it is one: {spelled('kind', {name: 'code'})}"
            )
        text = as_text(taken[name])
        few = pl.any_horizontal(pl.col(name).str.starts_with(beginning) for beginning in beginnings)
        zeros = pl.col(name).str.replace_all(r"\w", "0")
        taken = taken.with_columns(text).with_columns(pl.when(few).then(zeros).otherwise(pl.col(name)))
    return taken


def past_the_door(policy: Policy) -> Policy:
    """Give the policy for rows that were rewritten already: what was done is not done again."""
    inside = without_columns(policy, frozenset(coarsened_by_row(policy))).of_silenced()
    return inside if inside.shift_dates is None else replace(inside, shift_dates=None)


def original_of(source: Source) -> Source:
    """Give the table as it came."""
    return source.original if isinstance(source, RewrittenSource) else source


def compared_with(source: Source, names: Sequence[str]) -> pl.DataFrame:
    """Give what cells made by row must hold: values as they came, or by which they were replaced."""
    if not isinstance(source, RewrittenSource):
        return source.take(names)
    replaced = [source.before[name] for name in names if name in source.before]
    return source.original.take(names).with_columns(replaced)


def _coarser(series: pl.Series, settings: Mapping[str, Any], policy: Policy) -> tuple[Coarseness, pl.Series]:
    """Rewrite one column; what its kind cannot have is refused by name."""
    from mahrem.recode import moment_cells, prefix_cells  # only where something is made coarser
    from mahrem.verify import Coarseness

    name = series.name
    kind, read = _kind_of(series, policy)
    claim = Coarseness(kind=kind, **settings)
    if "prefix" in settings:
        if kind in (Kind.NUMERIC, Kind.DATE):
            raise InvalidParameter(
                f"prefix.{name} is for codes, and column={name!r} is {kind}; "
                f"say that it is one: {spelled('kind', {name: 'code'})}"
            )
        return claim, prefix_cells(as_text(series), settings["prefix"])
    if kind is Kind.DATE:
        wrong = next((setting for setting in settings if setting != "grid"), None)
        if wrong is not None:
            raise InvalidParameter(
                f"{wrong}.{name} is for columns of numbers, and column={name!r} has dates; "
                f"make them coarser with {spelled('grid', {name: 'month'})}"
            )
        if not isinstance(settings["grid"], str):
            raise InvalidParameter(
                f"grid.{name}={settings['grid']!r} must be a word for column={name!r} of dates, "
                "such as 'month'"
            )
        positions, moments = moment_places(read, name)
        typed = moments.typed(pl.Series(name, positions).fill_nan(None))
        return claim, moment_cells(typed, moments, settings["grid"])
    if kind is not Kind.NUMERIC:
        raise InvalidParameter(
            f"{next(iter(settings))}.{name} is for columns of numbers or dates, and column={name!r} "
            f"has words; show their beginnings with {spelled('prefix', {name: 2})}"
        )
    numbers, domain = number_places(read, name, policy.decimal)
    _refuse_words(name, settings)
    return claim, _coarser_numbers(series, numbers, domain, settings, policy.decimal)


def _kind_of(series: pl.Series, policy: Policy) -> tuple[Kind, pl.Series]:
    if series.name in policy.kind:
        return policy.kind[series.name], series
    if series.name in policy.order:
        return Kind.ORDINAL, series
    return read_kind(series, decimal=policy.decimal)


def _coarser_numbers(
    series: pl.Series, numbers: Floats, domain: Numbers, settings: Mapping[str, Any], decimal: str | None
) -> pl.Series:
    from mahrem.recode import nearest_lines, number_cells, open_ends

    low, high = settings.get("bottom"), settings.get("top")
    if "grid" in settings:
        return number_cells(numbers, domain, step=settings["grid"], low=low, high=high)
    shown = series.cast(pl.Float64) if series.dtype == pl.Float32 else series  # 0.1 is another number there
    if "round" in settings:
        lines, grid = nearest_lines(numbers, domain, settings["round"])
        whole = grid.exponent >= 0 and max(-domain.low, domain.high) < EXACT - grid.step
        shown = pl.Series(series.name, lines).fill_nan(None).cast(pl.Int64 if whole else pl.Float64)
    if low is None and high is None and series.dtype.is_numeric():
        return shown
    text = as_text(shown)
    if decimal == "," and shown.dtype != pl.String and series.dtype == pl.String:
        text = text.str.replace(".", ",", literal=True)
    return open_ends(text, numbers, low=low, high=high)


def _refuse_words(name: str, settings: Mapping[str, object]) -> None:
    if isinstance(settings.get("grid"), str):
        raise InvalidParameter(
            f"grid.{name}={settings['grid']!r} must be a number for column={name!r} of numbers"
        )
