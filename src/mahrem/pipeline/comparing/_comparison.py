"""What a sweep found, as rows, as JSON and as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mahrem.drafts import correlations
from mahrem.notebooks import notebook_table
from mahrem.pipeline.comparing._kept import write_comparison
from mahrem.words import Note

if TYPE_CHECKING:
    from altair.typing import ChartType


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What a sweep found: one row per method, strategy, k and seed, and what was left out and why.

    A row has ``method``, ``strategy``, ``k``, ``seed``, ``holds``, every figure of utility, the highest and
    average risk, ``guess_gain`` (what guessing who in a class has a sensitive value has over chance, None
    without one), ``seconds`` (partition and recoding, kernels loaded before) and ``note``. With a target also
    ``entropy_loss`` (cells spread over the values they cover), ``entropy_loss_cells`` (every cell a category)
    and, for each classifier, ``accuracy_NAME``, ``macro_f1_NAME``, ``auc_NAME`` and their ``_std``.
    """

    source: str
    size: int  # rows of the table
    quasi: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    left_out: Mapping[str, str]  # method or setting -> why it was not run
    asked: int | None = None  # the k that was asked for: advice is about it alone
    target: str | None = None
    classifiers: tuple[str, ...] = ()
    original: Mapping[str, Any] | None = field(
        default=None, repr=False
    )  # the same figures of the table itself

    def _repr_html_(self) -> str:
        shown = ("method", "strategy", "k", "holds", "gcp", "highest_risk", "seconds")
        head = [name for name in shown if any(name in row for row in self.rows)]
        title = f"{len(self.rows)} cases, {len(self.left_out)} left out"
        return notebook_table(title, head, ([row.get(name) for name in head] for row in self.rows))

    def plot(self, *, language: str = "en") -> ChartType:
        """Draw the risk that every run leaves against the detail it gives up, as a chart of Altair."""
        from mahrem.charts import as_chart, draw_comparison

        return as_chart(draw_comparison(self.as_dict(), language))

    def best(self, k: int) -> str | None:
        """Name the method with the least loss at one k, over seeds and strategies; None without rows."""
        candidates = [row for row in self.rows if row["k"] == k and row["gcp"] is not None and row["holds"]]
        return min(candidates, key=lambda row: (row["gcp"], row["seconds"]))["method"] if candidates else None

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into JSON."""
        ks = sorted({row["k"] for row in self.rows})
        comparison = {
            "source": self.source,
            "rows": self.size,
            "quasi": list(self.quasi),
            "asked": self.asked,
            "results": [dict(row) for row in self.rows],
            "best": {str(k): self.best(k) for k in ks},
            "left_out": dict(self.left_out),
            "left_out_notes": {
                name: why.as_dict() for name, why in self.left_out.items() if isinstance(why, Note)
            },
        }
        if self.target is None:
            return comparison
        return comparison | {
            "target": self.target,
            "classifiers": list(self.classifiers),
            "original": dict(self.original or {}),
            "correlations": self.correlations(),
        }

    def correlations(self) -> dict[str, dict[str, dict[str, float | int | None]]]:
        """Say for each classifier how its accuracy goes with each loss; empty below three runs."""
        return correlations(self.rows, self.classifiers)

    def save(self, folder: str | Path, *, language: str = "en") -> Path:
        """Write ``comparison.csv``, ``.json``, ``.html``, ``frontier.svg``, maybe ``accuracy.svg``."""
        return write_comparison(self.as_dict(), Path(folder), language)
