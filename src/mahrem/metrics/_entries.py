"""All figures of utility: one entry each, in the order in which JSON and tables show them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, cast

from mahrem.entries import Entries, Entry

if TYPE_CHECKING:
    from mahrem.types import Floats, Mask, Sizes


@dataclass(frozen=True, kw_only=True)
class MetricFacts:
    """What a figure may be made of; what nobody knows is None. A metric takes these as arguments by name."""

    sizes: Sizes | None = None  # (c,) rows of each class
    people: Sizes | None = None  # (c,) the same, or people where k counts them
    k: int | None = None  # the k that was asked for
    rows: int | None = None  # all rows, the suppressed ones too
    suppressed: int | None = None  # rows that show nothing
    published: int | None = None  # distinct published vectors
    ncp: Floats | None = None  # (c, d) normalised certainty penalty of each class in each column
    loss: Floats | None = None  # (c, d) (leaves - 1) / domain
    exact: Mask | None = None  # (c, d) whether a cell says the very value
    weights: Floats | None = None  # (d,) what each column counts


@dataclass(frozen=True, kw_only=True)
class Metric(Entry):
    """A figure of utility, before it is loaded: a function whose arguments are facts by name.

    Attributes:
        label: What a terminal calls it; by default its name.
        arguments: Which fact an argument takes, where it is called otherwise.
    """

    label: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)

    def load(self) -> Callable[..., float]:
        """Import the function."""
        return cast("Callable[..., float]", super().load())

    def __call__(self, facts: MetricFacts) -> float | None:
        """Take the figure; None where a fact it needs is not known."""
        known = {entry.name: getattr(facts, entry.name) for entry in fields(facts)}
        arguments: dict[str, object] = {}
        for name, parameter in inspect.signature(self.load()).parameters.items():
            value = known.get(self.arguments.get(name, name))
            if value is not None:
                arguments[name] = value
            elif parameter.default is inspect.Parameter.empty:
                return None
        return self.load()(**arguments)


def _ours(name: str, home: str, label: str, **arguments: str) -> Metric:
    return Metric(name=name, home=f"mahrem.metrics.{home}", label=label, arguments=arguments)


METRICS: Entries[Metric] = Entries(
    "mahrem.metrics",
    Metric,
    (
        _ours("classes", "_classes:class_count", "classes as cut"),
        _ours("published_classes", "_classes:published_count", "classes"),
        _ours("dm", "_classes:discernibility", "discernibility (DM)"),
        _ours("mean_class_size", "_classes:mean_class_size", "mean class size"),
        _ours("c_avg", "_classes:c_avg", "C_avg", sizes="people"),
        _ours("gcp", "_loss:gcp", "loss (GCP, 0 none to 1 all)"),
        _ours("gcp_sum", "_loss:gcp_sum", "loss summed (gcp_sum)"),
        _ours("iloss", "_loss:iloss", "ILoss"),
        _ours("distortion", "_loss:distortion", "generalised cells"),
        _ours("suppressed", "_classes:suppressed_count", "suppressed rows"),
    ),
)


def take_figures(facts: MetricFacts, known: Mapping[str, float] | None = None) -> dict[str, float]:
    """Take every figure the facts are enough for; those that are ``known`` already stay as they are."""
    figures = {name: (known or {}).get(name) for name in METRICS}
    figures = {name: METRICS[name](facts) if value is None else value for name, value in figures.items()}
    return {name: value for name, value in figures.items() if value is not None}
