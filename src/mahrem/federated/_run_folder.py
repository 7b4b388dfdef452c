"""The run folder: what a coordinator needs to tell what happened, also when it went wrong half way."""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mahrem.errors import InvalidParameter, MahremError, OutputFailed
from mahrem.federated._exact import Learnt
from mahrem.federated._grid import Replies, Traffic
from mahrem.federated._message import Failure, Message

__all__ = ["Round", "RunFolder", "Watched"]

STATE = "state.json"
CHECKPOINT = "checkpoint.npz"  # the model after the last round, of runs that can go on
FILES = (
    STATE,
    CHECKPOINT,
    "checkpoint.json",
    "clients.svg",
    "learning.csv",
    "learning.svg",
    "model.json",
    "model.npz",
    "model.txt",
    "privacy.json",
    "rounds.csv",
    "summary.json",
    "traffic.svg",
)
MOST_DRAWN = 40  # clients in the picture


class Planned(Protocol):
    """What a run was meant to do."""

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""


class Counted(Protocol):
    """A grid that counts its bytes."""

    traffic: Traffic

    def nodes(self) -> list[str]:
        """Name the clients."""

    def send(self, messages: Mapping[str, Message]) -> Replies:
        """Send and wait."""


@dataclass(frozen=True)
class Round:
    """One exchange: what was asked of how many, and what it cost."""

    round: int
    what: str
    clients: int
    answered: int
    bytes_down: int  # from the server to all clients
    bytes_up: int
    seconds: float


@dataclass
class Watched:
    """A grid that tells about every exchange."""

    grid: Counted
    told: Callable[[Round], None]
    rounds: int = 0

    def nodes(self) -> list[str]:
        """Name the clients."""
        return self.grid.nodes()

    def send(self, messages: Mapping[str, Message]) -> Replies:
        """Send, wait and tell."""
        traffic = self.grid.traffic
        down, up = sum(traffic.sent.values()), sum(traffic.received.values())
        start = time.perf_counter()
        replies = self.grid.send(messages)
        self.rounds += 1
        self.told(
            Round(
                self.rounds,
                next((message.kind for message in messages.values()), "nothing"),
                len(messages),
                sum(not isinstance(reply, Failure) for reply in replies.values()),
                sum(traffic.sent.values()) - down,
                sum(traffic.received.values()) - up,
                round(time.perf_counter() - start, 6),
            )
        )
        return replies


@dataclass
class RunFolder:
    """A folder with the state of a run, its rounds, its model and a summary.

    ``state.json`` is swapped in whole after every exchange: ``running`` (with the process that does it),
    ``finished``, ``failed`` (with the reason) or ``stopped``. A folder whose run did not finish can be used
    again; one that did, or that still runs, cannot unless ``force`` is said.
    """

    path: Path
    plan: Planned
    tell: Callable[[str], None] = field(default=lambda _: None, repr=False)
    rounds: list[Round] = field(default_factory=list, repr=False)
    begun: float = field(default_factory=time.time)

    @classmethod
    def create(
        cls, path: Path, plan: Planned, *, force: bool = False, tell: Callable[[str], None] = lambda _: None
    ) -> RunFolder:
        """Make the folder, or take over one whose run did not finish."""
        if path.exists():
            _refuse(path, force=force)
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            for name in FILES:
                (path / name).unlink(missing_ok=True)
        except OSError as error:
            raise OutputFailed(f"output={path.name!r} cannot be made: {error.strerror}") from error
        made = cls(path, plan, tell)
        made._state("running")
        return made

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Write how the block ended into the state, whatever happens."""
        try:
            yield
        except BaseException as error:
            stopped = isinstance(error, KeyboardInterrupt | SystemExit)
            why = str(error) if isinstance(error, MahremError) else type(error).__name__
            self._state("stopped" if stopped else "failed", why=why)
            raise

    def watch(self, grid: Counted) -> Watched:
        """Give the grid with every exchange written down."""
        return Watched(grid, self._note)

    def _note(self, done: Round) -> None:
        self.rounds.append(done)
        new = len(self.rounds) == 1
        with (self.path / "rounds.csv").open("w" if new else "a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(vars(done))
            writer.writerow(vars(done).values())
        self._state("running")
        self.tell(
            f"round {done.round}: {done.what}, {done.answered} of {done.clients} clients, "
            f"{done.bytes_up:,} bytes up, {done.bytes_down:,} down"
        )

    def finish(
        self, learnt: Learnt, traffic: Traffic, more: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Write model, pictures and summary; gives the summary."""
        summary = {
            "state": "finished",
            "exact": learnt.exact,
            "why_not_exact": list(learnt.why),
            "rules": len(learnt.model),
            "rows": learnt.model.rows,
            "clients": list(learnt.nodes),
            "left_out": dict(learnt.left_out),
            "questions": dict(learnt.rounds),
            "exchanges": len(self.rounds),
            "sets_counted": learnt.candidates,
            **(more or {}),
        }
        files = {"model.json": learnt.model.to_json(), "model.txt": f"{learnt.model}\n"}
        return self.complete(summary, files, traffic)

    def complete(
        self, said: Mapping[str, Any], files: Mapping[str, str | bytes], traffic: Traffic
    ) -> dict[str, Any]:
        """Write files, pictures of the traffic and the summary; gives the summary."""
        summary = {
            **said,
            "bytes": {
                "up": sum(traffic.received.values()),
                "down": sum(traffic.sent.values()),
                "up_by_client": dict(sorted(traffic.received.items())),
                "down_by_client": dict(sorted(traffic.sent.items())),
            },
            "seconds": round(time.time() - self.begun, 3),
            "plan": self.plan.as_dict(),
        }
        for name, held in files.items():
            self.write(name, held)
        self._draw(traffic)
        self.write("summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
        self._state("finished")
        return {"folder": str(self.path), **summary}

    def _draw(self, traffic: Traffic) -> None:
        from mahrem.report import grouped_svg

        kinds = dict.fromkeys(done.what for done in self.rounds)
        rows = [
            {"panel": "kB in all exchanges", "name": kind, "series": series, "value": amount / 1000}
            for kind in kinds
            for series, amount in (
                ("to the server", sum(done.bytes_up for done in self.rounds if done.what == kind)),
                ("to the clients", sum(done.bytes_down for done in self.rounds if done.what == kind)),
            )
        ]
        self.write("traffic.svg", grouped_svg(rows, title="Traffic by kind of question", amount="kB"))
        clients = sorted(traffic.sent)[:MOST_DRAWN]
        rows = [
            {
                "panel": "kB by client",
                "name": client,
                "series": series,
                "value": amounts.get(client, 0) / 1000,
            }
            for client in clients
            for series, amounts in (("to the server", traffic.received), ("to the clients", traffic.sent))
        ]
        self.write("clients.svg", grouped_svg(rows, title="Traffic by client", amount="kB"))

    def _state(self, state: str, **more: Any) -> None:
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        begun = dt.datetime.fromtimestamp(self.begun, dt.UTC).isoformat(timespec="seconds")
        said = {
            "state": state,
            "process": os.getpid(),
            "begun": begun,
            "changed": now,
            "exchanges": len(self.rounds),
            "last": self.rounds[-1].what if self.rounds else None,
            **more,
        }
        self.write(STATE, json.dumps(said, indent=2) + "\n")

    def write(self, name: str, held: str | bytes) -> None:
        """Swap a file in whole."""
        stage = self.path / f".{name}"
        try:
            stage.write_bytes(held.encode() if isinstance(held, str) else held)
            stage.replace(self.path / name)
        except OSError as error:
            stage.unlink(missing_ok=True)
            raise OutputFailed(f"output={name!r} cannot be written: {error.strerror}") from error


def _refuse(path: Path, *, force: bool) -> None:
    if not path.is_dir():
        raise InvalidParameter(f"output={path.name!r} exists and is no folder")
    held = [entry.name for entry in path.iterdir()]
    if not held:
        return
    try:
        said = json.loads((path / STATE).read_text(encoding="utf-8"))
        state, process = str(said["state"]), int(said["process"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidParameter(f"output={path.name!r} is not empty and holds no run of ours") from None
    if state == "running" and _alive(process):
        raise InvalidParameter(f"output={path.name!r}: its run still goes on in process {process}")
    if state == "finished" and not force:
        raise InvalidParameter(f"output={path.name!r} holds a finished run; say --force to replace it")


def _alive(process: int) -> bool:
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
