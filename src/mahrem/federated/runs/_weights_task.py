"""Weights and trees as a task: a silo that anonymises first, and a run that can go on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from mahrem.dp import Ledger
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.runs._check import TableCheck, check_table
from mahrem.federated.runs._learning import LearningRun
from mahrem.federated.runs._settings import ClientSettings, RunSettings, refuse_other_task
from mahrem.federated.runs._task import TableOwner, read_agreed
from mahrem.federated.sums import SUMS
from mahrem.federated.weights import Decoys, LearningPlan, SharedSchema, TrainingSilo, silo_policy
from mahrem.federated.wire import Answerer
from mahrem.federated.wire.certificates import read_secret
from mahrem.learning.classifiers import DeclaredNumbers
from mahrem.table import Reading, open_source
from mahrem.table.cells.alone import number_alone
from mahrem.words import Note

LEAST_ROWS = 20  # of fewer, an update without noise gives rows away, also in a sum over three clients


@dataclass(frozen=True)
class WeightsTask:
    """Networks or trees, from silos that anonymise first; see :class:`FederatedTask`."""

    schema: SharedSchema
    plan: LearningPlan = field(default_factory=LearningPlan)
    goes_on: ClassVar[bool] = True

    @property
    def tells_rows(self) -> bool:
        """See :class:`FederatedTask`."""
        return not self.plan.hides and not self.plan.protections.private

    def check(self, owner: TableOwner, settings: ClientSettings) -> TableCheck:
        """See :class:`FederatedTask`; what is looked at is the table before it is anonymised."""
        return check_table(read_agreed(owner, self.schema), self.schema, settings.despite)

    def with_network(self, file: Path | None) -> WeightsTask:
        """Give it with the code that makes its network; another file than was agreed on is refused."""
        if not self.plan.kind.own:
            if file is not None:
                raise InvalidParameter(f"network: model={self.plan.model!r} has its own in this federation")
            return self
        if file is None:
            self.plan.network()  # says what is missing, unless it is there
            return self
        from mahrem.federated.networks import OwnNetwork

        return replace(self, plan=replace(self.plan, own=OwnNetwork.read(file)))

    def join(self, owner: TableOwner, settings: ClientSettings) -> tuple[Answerer, str]:
        """See :class:`FederatedTask`; the table is anonymised now.

        A policy that this table cannot keep does not end the client: it takes part, is asked, and says why it
        must be left out, where nothing is hidden.
        """
        refuse_other_task("rules", settings, "least_count", "epsilon")
        refuse_other_task("members with different columns", settings, "use_model", "keep_predictions")
        self._refuse_unused(settings)
        plan = self.with_network(settings.network).plan
        book, reading = self._ledger(owner, settings)
        frame = self.read_rows(owner.source, reading)
        if not (plan.private or plan.kind.trees) and frame.height < LEAST_ROWS:
            raise InvalidInput(
                f"rows={frame.height}: updates of fewer than {LEAST_ROWS} rows give rows away, also under "
                "masks; take part with more, or agree on noise"
            )
        silo = TrainingSilo(
            owner.name,
            frame,
            self.schema,
            plan,
            None if settings.policy is None else silo_policy(settings.policy, self.schema),
            ledger=book,
            decoys=None if settings.disguise is None else self.decoys(settings.disguise),
            fresh=owner.keys.history is not None,  # results of two runs may be compared
            keep_model=settings.keep_model,
        )
        try:
            report = silo.ready[2]
        except Infeasible as error:
            return silo.for_grid(owner.keys), Note(
                "federation.rows_left_out", {"rows": frame.height, "why": str(error)}
            )
        rows: dict[str, Any] = {"rows": frame.height}
        if "left_out" in report:
            what = Note("federation.rows_unused", {**rows, "why": str(report["left_out"])})
        else:
            kept = report["anonymised"]
            what = Note("federation.rows_anonymised" if kept else "federation.rows_as_they_are", rows)
        return silo.for_grid(owner.keys), what

    def _refuse_unused(self, settings: ClientSettings) -> None:
        """Refuse files that nothing is done with: whoever gives one counts on it."""
        protections = self.plan.protections
        agreed = {
            "disguise": (protections.dummies > 0, "no dummies were agreed"),
            "ledger": (self.plan.private, "it pays for noise, and none was agreed"),
            "keep_model": (self.plan.personal > 0, "clients have no layers of their own"),
            "sum_secret": (SUMS[self.plan.sum].keyed, "no homomorphic sums were agreed"),
        }
        for name, (used, why) in agreed.items():
            if getattr(settings, name) is not None and not used:
                raise InvalidParameter(f"{name}: {why} in this federation")

    def decoys(self, key: Path) -> Decoys:
        """Read the clients' key of dummies."""
        return Decoys(key=read_secret(key), share=self.plan.protections.dummies)

    def _ledger(self, owner: TableOwner, settings: ClientSettings) -> tuple[Ledger | None, Reading]:
        """Open the ledger that pays, and say how the table is read: under noise each cell by itself."""
        if settings.ledger is None:
            return None, replace(owner.reading, by_cell=self.plan.protections.private)
        from mahrem.dp import Ledger

        book = Ledger.open(settings.ledger)
        reading = book.facts.read_as(owner.reading)
        book.refuse_other(owner.source, reading, open_source(owner.source, reading).columns)
        return book, reading

    def read_rows(self, source: object, reading: Reading | None) -> pl.DataFrame:
        """Read the columns that were agreed on, and rows that have a class; cell by cell, all rows.

        Raises:
            ColumnNotFound: If one is missing.
            InvalidInput: If no row has a class, and it may be told.
        """
        opened = open_source(source, reading)
        frame = opened.take([*self.schema.columns, self.schema.target])
        if opened.reading.decimal == ",":
            numbers = [
                name for name, column in self.schema.columns.items() if isinstance(column, DeclaredNumbers)
            ]
            frame = frame.with_columns(number_alone(name, frame.schema[name], ",") for name in numbers)
        if opened.reading.by_cell:
            return frame
        frame = frame.filter(pl.col(self.schema.target).is_not_null())
        if frame.height == 0:
            raise InvalidInput("rows=0: no row of this table has a class")
        return frame

    def begin(self, path: Path, settings: RunSettings) -> LearningRun:
        """See :class:`FederatedTask`; a run that did not finish goes on if all is as before."""
        refuse_other_task("members with different columns", settings, "predict")
        task = self.with_network(settings.network)
        judged, held_out = (
            None if rows is None else self.read_rows(rows, settings.reading)
            for rows in (settings.test, settings.vet_by)
        )
        if (held_out is None) == (self.plan.protections.held_out is not None):
            raise InvalidParameter("vet_by: rows to judge updates by go with a plan that has held_out")
        run = LearningRun.begin(path, task.schema, task.plan, settings, judged)
        run.held_out = held_out
        return run
