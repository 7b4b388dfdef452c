"""How far a run came before it was lost: its model, round by round, and who is in it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from mahrem.federated.runs._folder import CHECKPOINT, PROGRESS, STATE, RunFolder
from mahrem.federated.weights import SharedModel, UpdateVerdict, WeightsResult


@dataclass
class RunProgress:
    """What earlier parts of a run reached; without a model there are none, and ``why`` says so.

    Args:
        key: Names all that a run depends on.
        model: After the last round that was kept.
        history: A line for each round.
        nodes: The clients whose parts are in the model.
        reports: Their privacy reports.
        left_out: Clients that were left out.
        refused: Answers that were refused, by client and round.
        verdicts: On single updates, round by round.
        again: How often it went on; each time a round may have been asked again.
        why: Why there is nothing to go on with.
    """

    key: str
    model: SharedModel | None = field(default=None, repr=False)
    history: list[dict[str, Any]] = field(default_factory=list, repr=False)
    nodes: tuple[str, ...] = ()
    reports: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)
    left_out: dict[str, str] = field(default_factory=dict)
    refused: dict[str, dict[int, str]] = field(default_factory=dict)
    verdicts: list[UpdateVerdict] = field(default_factory=list, repr=False)
    again: int = 0
    why: str = ""

    @classmethod
    def read(cls, path: Path, key: str) -> RunProgress:
        """Read where a run stopped."""
        try:
            state = json.loads((path / STATE).read_text(encoding="utf-8"))["state"]
            kept = json.loads((path / PROGRESS).read_text(encoding="utf-8"))
            if state == "finished":
                return cls(key, why="it is finished")
            if kept["key"] != key:
                return cls(key, why="it was begun with another plan, schema, federation or table")
            model = SharedModel.from_bytes((path / CHECKPOINT).read_bytes())
            refused = {
                name: {int(at): why for at, why in rounds.items()} for name, rounds in kept["refused"].items()
            }
            return cls(
                key,
                model,
                [dict(line) for line in kept["history"][: model.rounds]],
                tuple(kept["nodes"]),
                dict(kept["reports"]),
                dict(kept["left_out"]),
                refused,
                [
                    verdict
                    for line in kept.get("verdicts", [])
                    if (verdict := UpdateVerdict(**line)).round <= model.rounds
                ],
                int(kept.get("again", 0)),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls(key, why="no round of it was kept")

    def write(self, folder: RunFolder, result: WeightsResult) -> None:
        """Keep what was found so far, with the model."""
        self._write(folder, self.joined(result))  # first: lines of rounds without a model are cut off
        folder.write(CHECKPOINT, result.model.to_bytes())

    def go_on(self, folder: RunFolder, model: SharedModel) -> None:
        """Count, before anybody is asked, that the round that was lost is asked again."""
        self.again += 1
        self._write(folder, self.joined(WeightsResult(model, verdicts=self.verdicts)))

    def _write(self, folder: RunFolder, whole: WeightsResult) -> None:
        kept = {
            "key": self.key,
            "history": self.history,
            "nodes": whole.nodes,
            "reports": whole.reports,
            "left_out": whole.left_out,
            "refused": whole.refused,
            "verdicts": [asdict(verdict) for verdict in whole.verdicts],
            "again": self.again,
        }
        folder.write(PROGRESS, json.dumps(kept))

    def joined(self, result: WeightsResult) -> WeightsResult:
        """Give what all parts of a run found together: a client of an early round is in the model, too."""
        back = {name: why for name, why in self.left_out.items() if name not in result.reports}
        refused = {name: dict(rounds) for name, rounds in self.refused.items()}
        for name, rounds in result.refused.items():
            refused.setdefault(name, {}).update(rounds)
        return replace(
            result,
            nodes=tuple(sorted({*self.nodes, *result.nodes})),
            reports={**self.reports, **result.reports},
            left_out={**back, **result.left_out},
            refused=refused,
        )
