"""A release on a cluster that nobody has checked yet, and its check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mahrem.errors import GuaranteeBroken
from mahrem.models import Promise
from mahrem.recode import Recoding
from mahrem.release.decisions import Policy
from mahrem.spark._encode import EncodedTable
from mahrem.spark._files import as_text
from mahrem.spark._frame import PlacedColumn, column
from mahrem.spark._plan import CutPlan
from mahrem.spark._publish import shuffle_rows
from mahrem.spark._rows import ClusterRows, clean_on_spark
from mahrem.spark._task import LabelledTable, Task
from mahrem.spark._verify import ClusterVerdict, verify_on_spark
from mahrem.table import Column, Hierarchy, Leaves
from mahrem.verify import Claims
from mahrem.words import Note

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, kw_only=True)
class ClusterDraft:
    """A distributed table ready to be partitioned; later also how that was done."""

    policy: Policy
    promises: tuple[Promise, ...]
    method: str
    reason: Note | None  # why, when it was chosen
    label: str  # of the source, for messages
    source_columns: tuple[str, ...]
    leave_out: tuple[str, ...]  # columns that are not published
    taken: ClusterRows = field(repr=False)
    encoded: EncodedTable = field(repr=False)
    task: Task = field(repr=False)
    plans: tuple[CutPlan, ...] = field(repr=False, default=())
    jobs: int | None = None  # None where nobody can count them

    @property
    def columns(self) -> Mapping[str, Column]:
        """Quasi-identifiers and sensitive columns."""
        return self.encoded.columns

    @property
    def quasi(self) -> tuple[PlacedColumn, ...]:
        """Quasi-identifiers on their axes."""
        return self.encoded.quasi

    @property
    def incomplete(self) -> frozenset[str]:
        """Quasi-identifiers of words that miss some."""
        return self.encoded.incomplete

    @property
    def recodings(self) -> tuple[Recoding, ...]:
        """How each quasi-identifier is written."""
        return self.task.recodings

    @property
    def dropped(self) -> int:
        """Rows that are not published."""
        return self.taken.dropped

    @property
    def suppressed(self) -> int:
        """Rows that show nothing because they miss values."""
        return self.taken.suppressed

    @property
    def rows(self) -> int:
        """Rows that will be published."""
        return self.encoded.rows + self.suppressed

    @property
    def rows_in(self) -> int:
        """Rows of the source."""
        return self.rows + self.dropped

    @property
    def published(self) -> list[str]:
        """Published columns in their order."""
        return [name for name in self.source_columns if name not in self.leave_out]

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The trees whose nodes columns show."""
        return {
            placed.name: placed.domain.hierarchy for placed in self.quasi if isinstance(placed.domain, Leaves)
        }

    def table(self, labelled: LabelledTable, *, text: bool) -> DataFrame:
        """Put published columns into their order, and rows that show nothing beside the others."""
        names, where = self.published, self.taken.published
        # What is written beside a column (comments, values of a model's categories) is not for others.
        table = labelled.frame.select(
            *(column(where.get(name, name)).alias(name, metadata={}) for name in names)
        )
        table = as_text(table) if text else table
        if self.taken.hidden is None:
            return table
        from pyspark.sql import functions

        kinds = {field.name: field.dataType for field in table.schema.fields}
        stars = [
            functions.lit("*" if kind.simpleString() == "string" else None).cast(kind).alias(name)
            for name, kind in ((name, kinds[name]) for name in names)
        ]
        return table.unionByName(shuffle_rows(self.taken.hidden.select(*stars)))


def check_on_spark(draft: ClusterDraft, table: DataFrame) -> ClusterVerdict:
    """Verify a published table on the cluster; raise if it does not say what it should."""
    policy = draft.policy
    judged = {promise.column for promise in draft.promises if promise.column is not None}
    if list(table.columns) != draft.published:
        raise GuaranteeBroken("the published table does not have the columns it should have")
    known = [
        clean_on_spark(name, kind, policy.null).alias(name) if name in judged else column(name)
        for name, kind in table.dtypes
    ]
    claims = Claims(
        quasi=policy.quasi,
        promises=draft.promises,
        sensitive={name: draft.columns[name] for name in policy.sensitive if name in judged},
        decimal=policy.decimal,
    )
    verdict = verify_on_spark(
        table.select(*known), claims, hides=draft.suppressed > 0, nulls_hide=True, meant=draft.suppressed
    )
    if verdict.rows != draft.rows:
        raise GuaranteeBroken(f"rows={verdict.rows} were published of {draft.rows}")
    if verdict.suppressed != draft.suppressed:
        raise GuaranteeBroken("a row that should show nothing shows something")
    broken = [outcome.model for outcome in verdict.outcomes if not outcome.holds]
    if broken:
        raise GuaranteeBroken(f"the published table does not keep {', '.join(broken)}; please report this")
    return verdict
