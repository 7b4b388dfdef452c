"""The questions: how each is written, where it lives, what must be public for it. A new one is one entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from mahrem.entries import Entries, Entry

if TYPE_CHECKING:
    from mahrem.dp.queries._query import Query


@dataclass(frozen=True, kw_only=True)
class QueryEntry(Entry):
    """A kind of question; what it means for people stands under ``query.<name>`` in the catalogues.

    Attributes:
        needs: What must be public of its column; ``no column`` takes none.
        numbers: How many numbers may follow the column, fewest and most.
        example: What to write between the brackets, for help.
        other_names: Other ways to spell it.
        grouped: ``by`` and ``where`` may follow.
    """

    needs: Literal["no column", "nothing", "bounds", "values or bounds"] = "bounds"
    numbers: tuple[int, int] = (0, 0)
    example: str = "x"
    other_names: tuple[str, ...] = ()
    grouped: bool = True

    @property
    def form(self) -> str:
        """How it is written: ``quantile(x, 0.9)``."""
        return f"{self.name}({self.example})"

    def load(self) -> type[Query]:
        """Import the class of the question."""
        return cast("type[Query]", super().load())


_SUMS, _RANKS = "mahrem.dp.queries._sums", "mahrem.dp.queries._quantiles"

QUERIES: Entries[QueryEntry] = Entries(
    "mahrem.queries",
    QueryEntry,
    (
        QueryEntry(name="count", home=f"{_SUMS}:Count", needs="no column", example=""),
        QueryEntry(name="sum", home=f"{_SUMS}:Sum"),
        QueryEntry(name="mean", home=f"{_SUMS}:Mean", other_names=("avg",)),
        QueryEntry(name="variance", home=f"{_SUMS}:Variance", other_names=("var",)),
        QueryEntry(name="median", home=f"{_RANKS}:Median"),
        QueryEntry(name="smooth_median", home=f"{_RANKS}:SmoothMedian", grouped=False),
        QueryEntry(
            name="quantile",
            home=f"{_RANKS}:Quantiles",
            numbers=(1, 100),
            example="x, 0.9",
            other_names=("quantiles",),
        ),
        QueryEntry(name="range", home=f"{_RANKS}:QuantileRange", numbers=(0, 2)),
        QueryEntry(name="histogram", home=f"{_SUMS}:Histogram", needs="values or bounds", numbers=(0, 1)),
        QueryEntry(name="bounds", home=f"{_SUMS}:Bounds", needs="nothing", grouped=False),
    ),
)


def spellings() -> Mapping[str, str]:
    """Give every way to spell a question, and its name."""
    return {word: name for name, entry in QUERIES.items() for word in (name, *entry.other_names)}
