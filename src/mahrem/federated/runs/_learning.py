"""A run of learning together in its folder: goes on after its last round, and keeps what it reached."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import polars as pl

from mahrem.errors import InvalidInput
from mahrem.federated.runs._folder import RunFolder
from mahrem.federated.runs._progress import RunProgress
from mahrem.federated.runs._settings import RunSettings
from mahrem.federated.weights import (
    DISGUISED,
    Decoys,
    LearningPlan,
    SharedSchema,
    WeightsResult,
    figures_of,
    learn_together,
)
from mahrem.federated.wire import CountedGrid
from mahrem.types import Floats, Integers
from mahrem.words import Note

FEW_SILOS = 32  # privacy reports that the summary holds; privacy.json has all
DRAWN = 10  # rounds in the picture; learning.csv has all


@dataclass
class LearningRun:
    """Learns over a grid and writes a run folder; made by :meth:`begin`.

    After each round the model lies in the folder with what was reached. A run that did not finish goes on
    from there if it is of the same plan, schema and whatever else it depends on.
    """

    folder: RunFolder
    schema: SharedSchema = field(repr=False)
    plan: LearningPlan
    progress: RunProgress
    judged: tuple[Floats, Integers] | None = field(default=None, repr=False)
    held_out: pl.DataFrame | None = field(default=None, repr=False)  # rows of the server, to vet updates by
    decoys: Decoys | None = field(default=None, repr=False)  # of a simulation, which plays the clients too

    @classmethod
    def begin(
        cls,
        path: Path,
        schema: SharedSchema,
        plan: LearningPlan,
        settings: RunSettings,
        judged: pl.DataFrame | None = None,
    ) -> Self:
        """Make the folder, or take over one whose run did not finish.

        Args:
            path: The folder.
            schema: What was agreed on.
            plan: What is learnt.
            settings: Whether there must be a run to go on with, what it may cost, what it replaces.
            judged: Untouched rows to judge each round by.

        Raises:
            InvalidParameter: If the folder cannot be used.
            InvalidInput: If there is no run to go on with.
        """
        rows = None if judged is None else schema.rows(judged)
        if rows is not None and len(rows[0]) == 0:
            raise InvalidInput("rows=0: no row to judge by has an agreed class")
        text = json.dumps([plan.fingerprint(schema.fingerprint()), settings.depends_on])
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        progress = RunProgress.read(path, key)
        if progress.model is not None and progress.model.rounds > plan.rounds:
            progress = RunProgress(key, why=f"it has {progress.model.rounds} rounds already")
        if settings.resume is not None and progress.model is None:
            raise InvalidInput(f"folder={path.name!r} holds no run to go on with: {progress.why}")
        goes_on = progress.model is not None
        run = RunFolder.create(path, plan, force=settings.force, goes_on=goes_on, tell=settings.tell)
        run.log.budget = settings.byte_budget
        if progress.model is not None:
            settings.tell(Note("federation.going_on", {"number": progress.model.rounds}))
            progress.model = replace(progress.model, plan=plan)  # it may have more rounds
            if progress.model.rounds < plan.rounds:
                progress.go_on(run, progress.model)
        return cls(run, schema, plan, progress, rows)

    def learn(self, grid: CountedGrid, public: bytes | None = None) -> WeightsResult:
        """Learn the rounds that are left, and give what all parts of the run found.

        See :func:`learn_together`.
        """
        model = self.progress.model
        self.folder.log.at = 1 + (0 if model is None else model.rounds)
        result = learn_together(
            self.folder.watch(grid),
            self.schema,
            self.plan,
            before=None if model is None else WeightsResult(model, verdicts=self.progress.verdicts),
            after=self._after,
            vetted=self.folder.log.vetted,
            held_out=self.held_out,
            public=public,
        )
        return self.progress.joined(result)

    def _after(self, result: WeightsResult, clients: int) -> None:
        """Judge and keep one round."""
        model = result.model
        line: dict[str, Any] = {"round": model.rounds, "clients": clients}
        shown = model if self.decoys is None else model.reveal(self.decoys)
        if self.judged is not None and DISGUISED not in shown.arrays:
            rows, labels = self.judged
            figures = figures_of(labels, shown.scores_of_rows(rows))
            line |= {name: round(value, 6) for name, value in figures.items()}
        if result.validated is not None:
            line["validated"] = round(result.validated, 6)
        self.progress.history.append(line)
        self.progress.write(self.folder, result)
        self._tell(line)
        self.folder.log.at = model.rounds + 1

    def _tell(self, line: Mapping[str, Any]) -> None:
        """Say what a round reached and what it cost."""
        cost = self.folder.log.bytes()["by_round"][str(line["round"])]
        figures = {name: line[name] for name in ("clients", "accuracy", "validated") if name in line}
        code = {
            (False, False): "federation.clients",
            (True, False): "federation.clients_accuracy",
            (False, True): "federation.clients_validated",
            (True, True): "federation.clients_both",
        }["accuracy" in figures, "validated" in figures]
        self.folder.tell_round(line["round"], self.plan.rounds, Note(code, figures), cost)

    def finish(self, result: WeightsResult, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Write model, history, privacy reports, pictures and summary; gives the summary."""
        if self.decoys is not None:
            result = replace(result, model=result.model.reveal(self.decoys))
        return self.folder.complete({**self._summary(result), **(more or {})}, self._files(result))

    def _summary(self, result: WeightsResult) -> dict[str, Any]:
        reports = result.reports
        anonymised = [report for report in reports.values() if report.get("anonymised")]
        last = self.progress.history[-1] if self.progress.history else {}
        ended = {"state": "finished"} if result.ended is None else {"state": "stopped", "why": result.ended}
        return {
            **ended,
            "model": self.plan.model,
            "rounds": result.model.rounds,
            "clients": list(result.nodes),
            "left_out": result.left_out,
            "refused": {
                name: {str(at): why for at, why in rounds.items()} for name, rounds in result.refused.items()
            },
            "figures": {name: value for name, value in last.items() if name not in {"round", "clients"}},
            "test_rows": 0 if self.judged is None else len(self.judged[1]),
            "privacy": {
                "silos": len(reports),
                "anonymised": len(anonymised),
                "all_hold": all(report.get("holds") is True for report in anonymised),
                "rows": sum(
                    rows for report in reports.values() if isinstance(rows := report.get("rows"), int)
                ),
            },
            **self._protected(result),
            "silos": {name: reports[name] for name in sorted(reports)[:FEW_SILOS]},
            "model_bytes": len(result.model.to_bytes()),
            "exchanges": len(self.folder.log.rounds),
        }

    def _protected(self, result: WeightsResult) -> dict[str, Any]:
        """Say what noise promises, and how many updates were refused or shortened."""
        noise = self.plan.perturbation()
        asked = self.plan.rounds + self.progress.again  # a round that was lost may have left the clients
        facts: dict[str, Any] = {} if noise is None else {"promise": noise.as_dict(asked)}
        if self.plan.protections.vetting:
            taken = [verdict for verdict in result.verdicts if verdict.taken]
            shortened = sum(bool(verdict.why) for verdict in taken)
            refused = len(result.verdicts) - len(taken)
            facts["vetting"] = {"taken": len(taken), "shortened": shortened, "refused": refused}
        return facts

    def _files(self, result: WeightsResult) -> dict[str, str | bytes]:
        reports = json.dumps(result.reports, indent=2, ensure_ascii=False)
        return {
            "model.npz": result.model.to_bytes(),
            "privacy.json": reports + "\n",
            **(draw_history(self.progress.history) if self.progress.history else {}),
        }


def draw_history(history: list[dict[str, Any]]) -> dict[str, str | bytes]:
    text = io.StringIO()
    writer = csv.DictWriter(
        text, list(dict.fromkeys(name for line in history for name in line)), lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(history)
    judged = [line for line in history if "accuracy" in line]
    if not judged:
        return {"learning.csv": text.getvalue()}
    from mahrem.report import lines_svg

    drawn = [
        {"dataset": "test rows", "method": name, "round": line["round"], "ours": line[name]}
        for line in judged[:: -max(1, len(judged) // DRAWN)][::-1]  # the last one is in it
        for name in ("accuracy", "f1")
    ]
    picture = lines_svg(
        drawn,
        across="round",
        title="On untouched test rows, after each round",
        names=("round", "share"),
        best="accuracy",
    )
    return {"learning.csv": text.getvalue(), "learning.svg": picture}
