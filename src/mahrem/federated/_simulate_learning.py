"""Learning over anonymised silos on one machine: a table is shared out, all else is as over a wire."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated._grid import LocalGrid
from mahrem.federated._learn_together import Together, learn_together
from mahrem.federated._learning_plan import LearningPlan
from mahrem.federated._run_folder import CHECKPOINT, RunFolder
from mahrem.federated._shared_model import SharedModel, figures_of
from mahrem.federated._shared_schema import SharedSchema, propose_schema
from mahrem.federated._simulate import Split, _read, split_table
from mahrem.federated._training_silo import ClientPool, Measure, TrainingSilo, training_client
from mahrem.release import Policy
from mahrem.table import Reading
from mahrem.types import Floats, Integers

__all__ = ["Shared", "simulate_learning", "train_alone"]

HELD = 64  # clients in memory at once, where few take part in a round
FEW_SILOS = 32  # privacy reports that the summary holds; privacy.json has all
DRAWN = 10  # rounds in the picture; learning.csv has all
Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Shared:
    """How a table is shared out.

    Args:
        clients: How many clients; not used with ``by``.
        split: ``iid``, ``skewed`` or ``dirichlet``, see :func:`split_table`.
        alpha: How even a ``dirichlet`` split is.
        by: A column whose values are the clients.
        test: Share of the rows that no client gets, and that nobody anonymises.
        seed: Of all that is drawn.
    """

    clients: int = 3
    split: Split = "iid"
    alpha: float = 0.5
    by: str | None = None
    test: float = 0.3
    seed: int = 0

    def parts(self, whole: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Give rows to learn from, and rows to judge by."""
        check.between(0.01, 0.9, test=self.test)
        shuffled = np.random.default_rng(self.seed).permutation(whole.height)
        kept = max(1, int(self.test * whole.height))
        return whole[np.sort(shuffled[kept:])], whole[np.sort(shuffled[:kept])]


def simulate_learning(
    source: object,
    target: str,
    folder: Path,
    plan: LearningPlan | None = None,
    *,
    anonymise: Mapping[str, Any] | None = None,
    policies: Mapping[str, Mapping[str, Any]] | None = None,
    shared: Shared | None = None,
    columns: tuple[str, ...] | None = None,
    schema: SharedSchema | None = None,
    force: bool = False,
    reading: Reading | None = None,
    tell: Tell = lambda _: None,
) -> dict[str, Any]:
    """Learn from a table that is shared among silos which anonymise first, and write a run folder.

    A run that did not finish goes on after its last round, if nothing about it was changed.

    Args:
        source: The table.
        target: The column to predict.
        folder: Where the run is written.
        plan: What is learnt and how it is protected.
        anonymise: The silos' policy, as of :func:`mahrem.anonymize`; ``quasi`` is all columns by default.
            None leaves tables as they are.
        policies: More settings for single silos, by name.
        shared: How the table is shared out.
        columns: The columns to learn from; all others by default.
        schema: What was agreed on; by default proposed from the rows to learn from.
        force: Replace a finished run.
        reading: How to read the source.
        tell: Told about progress.

    Guarantees:
        - Test rows are never anonymised, never learnt from, and no choice depends on them.

    Returns:
        The summary that also lies in the folder.
    """
    chosen, sharing = plan or LearningPlan(), shared or Shared()
    whole = _read(source, target, sharing.by, columns, reading)
    learning, judged = sharing.parts(whole)
    by = {sharing.by} if sharing.by else set()
    names = [name for name in whole.columns if name not in {target, *by}]
    classes = whole[target].cast(pl.String).unique().sort().to_list()  # their names are public
    agreed = schema or replace(propose_schema(learning, target, names), classes=tuple(classes))
    if agreed.target != target:
        raise InvalidParameter(f"target={target!r} is not the schema's {agreed.target!r}")
    parts = split_table(
        learning,
        target,
        clients=sharing.clients,
        split=sharing.split,
        by=sharing.by,
        alpha=sharing.alpha,
        seed=sharing.seed,
    )
    ruled = _policies(anonymise, policies or {}, parts, agreed)
    key = _key(chosen, agreed, sharing, ruled, whole)
    before = _Progress.read(folder, key)
    run = RunFolder.create(folder, chosen, force=force, tell=tell)
    with run.recording():
        rows, labels = agreed.rows(judged)
        work = before.take_over(run, key, rows, labels, tell)

        def make(name: str) -> Any:
            policy = ruled.get(name, ruled.get(""))
            return training_client(TrainingSilo(name, parts[name], agreed, chosen, policy))

        keep = len(parts) if chosen.fraction == 1 else max(HELD, int(chosen.fraction * len(parts)) + 1)
        grid = LocalGrid(ClientPool(tuple(parts), make, keep=keep))
        learnt = learn_together(run.watch(grid), agreed, chosen, start=before.model, after=work.after)
        return run.complete(_summary(learnt, work, sharing, len(parts)), _files(learnt, work), grid.traffic)


def train_alone(
    frame: pl.DataFrame,
    schema: SharedSchema,
    plan: LearningPlan,
    policy: Mapping[str, Any] | None = None,
    measure: Measure | None = None,
) -> Together:
    """Train the same model on one table, without a federation: what silos are compared with."""
    alone = replace(plan, least_clients=1, sum="plain", aggregate="mean", fraction=1.0)
    silo = TrainingSilo("all", frame, schema, alone, policy, measure)
    return learn_together(LocalGrid({"all": silo}), schema, alone)


def _policies(
    anonymise: Mapping[str, Any] | None,
    policies: Mapping[str, Mapping[str, Any]],
    parts: Mapping[str, pl.DataFrame],
    schema: SharedSchema,
) -> dict[str, Mapping[str, Any]]:
    """Give each silo's policy; under the empty name the one of all others."""
    unknown = [name for name in policies if name not in parts]
    if unknown:
        raise InvalidParameter(
            f"client={unknown[0]!r} is none of the {len(parts)} clients, whose policy is given"
        )
    usual = {"quasi": tuple(schema.columns), "sensitive": schema.target, **(anonymise or {})}
    made: dict[str, Mapping[str, Any]] = {name: {**usual, **more} for name, more in policies.items()}
    if anonymise is not None:
        made[""] = usual
    for policy in made.values():  # a wrong word is everybody's mistake, not a silo that fails
        said = Policy.of(policy)
        if not said.promises():
            raise InvalidParameter("anonymize: no promise was asked for; say at least k")
        for name in said.quasi:
            if name not in schema.columns:
                raise InvalidParameter(f"quasi={name!r} is not among the columns to learn from")
    return made


def _key(
    plan: LearningPlan, schema: SharedSchema, shared: Shared, policies: Mapping[str, Any], whole: pl.DataFrame
) -> str:
    """Name all that a run depends on but its number of rounds."""
    said = [plan.fingerprint(schema.fingerprint()), repr(shared), repr(sorted(policies.items())), whole.shape]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


@dataclass
class _Progress:
    """What was reached, round by round; written after each so that a run can go on."""

    model: SharedModel | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    run: RunFolder | None = None
    key: str = ""
    rows: Floats = field(default_factory=lambda: np.empty((0, 0)))
    labels: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def read(cls, folder: Path, key: str) -> _Progress:
        """Read where a run stopped; a run of something else, or none, is a new beginning."""
        try:
            state = json.loads((folder / "state.json").read_text(encoding="utf-8"))["state"]
            said = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
            if state == "finished" or said["key"] != key:
                return cls()
            model = SharedModel.from_bytes((folder / CHECKPOINT).read_bytes())
            return cls(model, [dict(line) for line in said["history"][: model.rounds]])
        except (OSError, ValueError, KeyError, TypeError, InvalidInput):
            return cls()

    def take_over(self, run: RunFolder, key: str, rows: Floats, labels: Integers, tell: Tell) -> _Progress:
        """Begin to write into a folder."""
        self.run, self.key, self.rows, self.labels = run, key, rows, labels
        if self.model is not None:
            tell(f"going on after round {self.model.rounds}")
            self._write(self.model)
        return self

    def after(self, number: int, model: SharedModel, clients: int) -> None:
        """Judge and keep one round."""
        figures = figures_of(self.labels, model.scores_of_rows(self.rows))
        rounded = {name: round(value, 6) for name, value in figures.items()}
        self.history.append({"round": number, "clients": clients, **rounded})
        self._write(model)

    def _write(self, model: SharedModel) -> None:
        if self.run is not None:
            self.run.write(CHECKPOINT, model.to_bytes())
            self.run.write("checkpoint.json", json.dumps({"key": self.key, "history": self.history}))


def _summary(learnt: Together, work: _Progress, shared: Shared, clients: int) -> dict[str, Any]:
    reports = learnt.reports
    anonymised = [report for report in reports.values() if report.get("anonymised")]
    return {
        "state": "finished",
        "model": learnt.model.plan.model,
        "rounds": learnt.model.rounds,
        "clients": list(learnt.nodes),
        "left_out": learnt.left_out,
        "refused": {
            name: {str(at): why for at, why in told.items()} for name, told in learnt.refused.items()
        },
        "figures": {
            name: value for name, value in work.history[-1].items() if name not in {"round", "clients"}
        },
        "test_rows": len(work.labels),
        "privacy": {
            "silos": len(reports),
            "anonymised": len(anonymised),
            "all_hold": all(report.get("holds") is True for report in anonymised),
            "rows": sum(rows for report in reports.values() if isinstance(rows := report.get("rows"), int)),
        },
        "silos": {name: reports[name] for name in sorted(reports)[:FEW_SILOS]},
        "model_bytes": len(learnt.model.to_bytes()),
        "exchanges": len(work.run.rounds) if work.run else 0,
        "simulated": {"clients": clients, "split": shared.by or shared.split, "seed": shared.seed},
    }


def _files(learnt: Together, work: _Progress) -> dict[str, str | bytes]:
    """Give model, history with its picture, and every silo's privacy report."""
    from mahrem.report import lines_svg

    text = io.StringIO()
    writer = csv.DictWriter(text, list(work.history[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(work.history)
    drawn = [
        {"dataset": "test rows", "method": name, "round": line["round"], "ours": line[name]}
        for line in work.history[:: -max(1, len(work.history) // DRAWN)][::-1]  # the last one is in it
        for name in ("accuracy", "f1")
    ]
    picture = lines_svg(
        drawn,
        across="round",
        title="On untouched test rows, after each round",
        names=("round", "share"),
        best="accuracy",
    )
    reports = json.dumps(learnt.reports, indent=2, ensure_ascii=False)
    return {
        "model.npz": learnt.model.to_bytes(),
        "learning.csv": text.getvalue(),
        "learning.svg": picture,
        "privacy.json": reports + "\n",
    }
