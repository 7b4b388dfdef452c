"""How one table is shared out among the clients of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mahrem import check
from mahrem.federated._readers import above_zero, from_number, from_whole, refuse_settings
from mahrem.settings import setting, text

if TYPE_CHECKING:
    import polars as pl

SPLITS = ("iid", "skewed", "dirichlet")
_GROUP: dict[str, Any] = {"group": "clients of a simulation"}


@dataclass(frozen=True, kw_only=True)
class TableSharing:
    """How a table is shared out.

    Args:
        clients: How many clients; not used with ``by``.
        split: How rows are shared: at random, sorted by class, or in between. See :func:`split_table`.
        alpha: How even a ``dirichlet`` split is.
        by: A column: one client for each of its values.
        test: Share of the rows that no client gets and nobody anonymises, to judge the model.
        seed: Of all that is drawn.
        held_out: Share of the other rows that the server keeps to vet updates by; used where the plan says
            :attr:`Protections.held_out`.
    """

    clients: int = setting(3, read=from_whole(1), metavar="N", **_GROUP)
    split: str = setting("iid", read=text, metavar="NAME", choices=lambda: SPLITS, **_GROUP)
    alpha: float = setting(0.5, read=above_zero, metavar="X", **_GROUP)
    by: str | None = setting(read=text, metavar="COL", **_GROUP)
    test: float = setting(0.2, read=from_number(0, 0.9), metavar="0..1", **_GROUP)
    seed: int = setting(0, read=from_whole(0), metavar="N", **_GROUP)
    held_out: float = 0.05

    def __post_init__(self) -> None:
        refuse_settings(self)
        check.between(0.001, 0.9, held_out=self.held_out)

    def part(self, whole: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Give rows to learn from, and rows to judge by."""
        from mahrem.federated.runs._split import rows_apart

        return rows_apart(whole, max(self.test > 0, int(self.test * whole.height)), self.seed)

    def part_held_out(self, learning: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Give rows to learn from, and those that the server keeps."""
        from mahrem.federated.runs._split import rows_apart

        return rows_apart(learning, max(1, int(self.held_out * learning.height)), [self.seed, 1])

    def parts(self, learning: pl.DataFrame, target: str) -> dict[str, pl.DataFrame]:
        """Give each client its rows."""
        from mahrem.federated.runs._split import split_table

        return split_table(
            learning,
            target,
            clients=self.clients,
            split=self.split,
            by=self.by,
            alpha=self.alpha,
            seed=self.seed,
        )
