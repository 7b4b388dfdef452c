"""How far a run came before it was lost: its model, round by round, and who is in it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from mahrem.federated.runs._folder import CHECKPOINT, PROGRESS, STATE, RunFolder
from mahrem.federated.weights import SharedModel, UpdateVerdict, WeightsResult

__all__ = ["RunProgress"]


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
            said = json.loads((path / PROGRESS).read_text(encoding="utf-8"))
            if state == "finished":
                return cls(key, why="it is finished")
            if said["key"] != key:
                return cls(key, why="it was begun with another plan, schema, federation or table")
            model = SharedModel.from_bytes((path / CHECKPOINT).read_bytes())
            refused = {
                name: {int(at): why for at, why in told.items()} for name, told in said["refused"].items()
            }
            return cls(
                key,
                model,
                [dict(line) for line in said["history"][: model.rounds]],
                tuple(said["nodes"]),
                dict(said["reports"]),
                dict(said["left_out"]),
                refused,
                [
                    one
                    for told in said.get("verdicts", [])
                    if (one := UpdateVerdict(**told)).round <= model.rounds
                ],
                int(said.get("again", 0)),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls(key, why="no round of it was kept")

    def write(self, folder: RunFolder, found: WeightsResult) -> None:
        """Keep what was found so far, with the model."""
        self._write(folder, self.joined(found))  # first: lines of rounds without a model are cut off
        folder.write(CHECKPOINT, found.model.to_bytes())

    def go_on(self, folder: RunFolder, model: SharedModel) -> None:
        """Count, before anybody is asked, that the round that was lost is asked again."""
        self.again += 1
        self._write(folder, self.joined(WeightsResult(model, verdicts=self.verdicts)))

    def _write(self, folder: RunFolder, whole: WeightsResult) -> None:
        said = {
            "key": self.key,
            "history": self.history,
            "nodes": whole.nodes,
            "reports": whole.reports,
            "left_out": whole.left_out,
            "refused": whole.refused,
            "verdicts": [asdict(one) for one in whole.verdicts],
            "again": self.again,
        }
        folder.write(PROGRESS, json.dumps(said))

    def joined(self, found: WeightsResult) -> WeightsResult:
        """Give what all parts of a run found together: a client of an early round is in the model, too."""
        back = {name: why for name, why in self.left_out.items() if name not in found.reports}
        refused = {name: dict(told) for name, told in self.refused.items()}
        for name, told in found.refused.items():
            refused.setdefault(name, {}).update(told)
        return replace(
            found,
            nodes=tuple(sorted({*self.nodes, *found.nodes})),
            reports={**self.reports, **found.reports},
            left_out={**back, **found.left_out},
            refused=refused,
        )
