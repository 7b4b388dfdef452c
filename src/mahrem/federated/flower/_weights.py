"""Weights and trees over real processes: a silo that anonymises first, and a run that can go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.weights import (
    DISGUISED,
    Decoys,
    LearningPlan,
    SharedModel,
    TrainingSilo,
    silo_policy,
    training_client,
)
from mahrem.federated.wire import Answerer, read_secret, write_private
from mahrem.table import Reading, open_source

__all__ = ["LearningClient", "agreed_columns", "reveal_weights"]


@dataclass(frozen=True, kw_only=True)
class LearningClient:
    """What one client does before it trains; see :func:`join_federation`."""

    policy: Mapping[str, Any] | None = None
    sum_secret: Path | None = None
    ledger: Path | None = None
    disguise: Path | None = None

    def answerer(self, member: FederationMember) -> tuple[Answerer, str]:
        """Make the client of a table, and say what it has; the table is anonymised now.

        A policy that this table cannot keep does not end the client: it takes part, is asked, and says why it
        must be left out.
        """
        schema, plan = member.federation.training()
        self._refuse_unused(plan)
        secret = None if self.sum_secret is None else read_secret(self.sum_secret)
        policy = None if self.policy is None else silo_policy(self.policy, schema)
        frame = agreed_columns(member.federation, member.source, member.reading)
        silo = TrainingSilo(
            member.name, frame, schema, plan, policy, ledger=self._paying(member), decoys=self._decoys(plan)
        )
        try:
            report = silo.ready[2]
        except Infeasible as error:
            told = f"{frame.height:,} rows; its policy cannot be kept, so it will be left out: {error}"
        else:
            first = "anonymised, every promise holds" if report["anonymised"] else "NOT anonymised: no policy"
            told = f"{frame.height:,} rows, {first}"
        return training_client(silo, secret=secret, sign=member.sign, verify=member.verify), told

    def _refuse_unused(self, plan: LearningPlan) -> None:
        """Refuse files that nothing is done with: whoever gives one counts on it."""
        agreed = {
            "disguise": (self.disguise, plan.protections.dummies > 0, "no dummies were agreed"),
            "ledger": (self.ledger, plan.protections.private, "it pays for noise, and none was agreed"),
            "sum_secret": (self.sum_secret, plan.sum == "homomorphic", "no homomorphic sums were agreed"),
        }
        for name, (file, used, why) in agreed.items():
            if file is not None and not used:
                raise InvalidParameter(f"{name}: {why} in this federation")

    def _decoys(self, plan: LearningPlan) -> Decoys | None:
        if self.disguise is None:
            return None
        return Decoys(key=read_secret(self.disguise), share=plan.protections.dummies)

    def _paying(self, member: FederationMember) -> Any:
        if self.ledger is None:
            return None
        from mahrem.dp import Ledger

        book = Ledger.open(self.ledger)
        columns = open_source(member.source, member.reading).columns
        book.refuse_other(member.source, member.reading, columns)
        return book


def agreed_columns(federation: Federation, source: object, reading: Reading | None) -> pl.DataFrame:
    """Read the columns that were agreed on, and rows that have a class.

    Raises:
        ColumnNotFound: If one is missing.
        InvalidInput: If no row has a class.
    """
    schema, _ = federation.training()
    frame = open_source(source, reading).take([*schema.columns, schema.target])
    frame = frame.filter(pl.col(schema.target).is_not_null())
    if frame.height == 0:
        raise InvalidInput("rows=0: no row of this table has a class")
    return frame


def reveal_weights(file: Path, model: Path, key: Path, output: Path) -> SharedModel:
    """Take the dummies out of weights that were learnt with them, and write them to a private file.

    Args:
        file: The federation file.
        model: ``model.npz`` of the run.
        key: The clients' key of dummies.
        output: A new file.

    Raises:
        InvalidInput: If one of them cannot be read, or the model is not one of this federation with dummies.
    """
    schema, plan = Federation.read(file).training()
    try:
        found = SharedModel.from_bytes(model.read_bytes())
    except OSError as error:
        raise InvalidInput(f"file={model.name!r} cannot be read: {error.strerror}") from None
    found.refuse_other(schema, plan)
    if DISGUISED not in found.arrays:
        raise InvalidInput(f"model={model.name!r} was learnt without dummies; there is nothing to reveal")
    opened = found.reveal(Decoys(key=read_secret(key), share=plan.protections.dummies))
    write_private(output, opened.to_bytes())
    return opened
