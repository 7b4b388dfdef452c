"""The run folder: what a coordinator needs to tell what happened, also when it went wrong half way."""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidParameter, MahremError, OutputFailed, spelled
from mahrem.federated.wire import LOG_FILES, CountedGrid, Described, Exchange, ExchangeLog, WatchedGrid
from mahrem.files import write_whole
from mahrem.words import Note

STATE = "state.json"
MEMBERS = "members.json"  # who was there when it began, and whose table passed its check
CHECKPOINT = "checkpoint.npz"  # the model after the last round, of runs that can go on
PROGRESS = "checkpoint.json"  # what was reached in each round
GOES_ON = (CHECKPOINT, PROGRESS, *LOG_FILES)  # what a run that goes on finds
FILES = (
    STATE,
    MEMBERS,
    *GOES_ON,
    "clients.svg",
    "learning.csv",
    "learning.svg",
    "model.json",
    "model.npz",
    "model.txt",
    "privacy.json",
    "report.html",
    "report.json",
    "summary.json",
    "traffic.svg",
)


@dataclass
class RunFolder:
    """A folder with the state of a run, its rounds, its model and a summary.

    ``state.json`` is swapped in whole after every exchange: ``running`` (with the process that does it),
    ``finished``, ``failed`` (with the reason) or ``stopped``. A folder whose run did not finish can be used
    again; one that did, or that still runs, cannot unless ``force`` is said.
    """

    path: Path
    plan: Described
    tell: Callable[[str], None] = field(default=lambda _: None, repr=False)
    begun: float = field(default_factory=time.time)
    log: ExchangeLog = field(init=False, repr=False)
    let_go: Callable[[], object] = field(default=lambda: None, repr=False)  # of the folder, for another run

    def __post_init__(self) -> None:
        self.log = ExchangeLog(self.path)

    @classmethod
    def create(
        cls,
        path: Path,
        plan: Described,
        *,
        force: bool = False,
        goes_on: bool = False,
        tell: Callable[[str], None] = lambda _: None,
    ) -> RunFolder:
        """Make the folder, or take over one whose run did not finish; if it goes on, with what it has."""
        if path.exists() and not path.is_dir():
            raise InvalidParameter(f"output={path.name!r} exists and is no folder")
        run = cls(path, plan, tell)
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            run.let_go = weakref.finalize(run, _hold(path))
            run._take(force=force, goes_on=goes_on)
        except BaseException as error:
            run.let_go()
            if isinstance(error, OSError) and not isinstance(error, OutputFailed):
                raise OutputFailed(f"output={path.name!r} cannot be made: {error.strerror}") from error
            raise
        return run

    def _take(self, *, force: bool, goes_on: bool) -> None:
        """Make the folder this run's own."""
        _refuse(self.path, force=force)
        for name in FILES:
            if not (goes_on and name in GOES_ON):
                (self.path / name).unlink(missing_ok=True)
        if goes_on:
            self.log.take_over()
        self._state("running")

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Write how the block ended into the state, whatever happens."""
        try:
            yield
        except BaseException as error:
            stopped = isinstance(error, KeyboardInterrupt | SystemExit)
            why = str(error) if isinstance(error, MahremError) else type(error).__name__
            self._state("stopped" if stopped else "failed", why=why)
            self.let_go()
            if stopped and (self.path / PROGRESS).exists():
                self.tell(Note("federation.stopped"))
            raise

    def watch(self, grid: CountedGrid) -> WatchedGrid:
        """Give the grid with every exchange written down."""
        return WatchedGrid(grid, self.log, self._noted)

    def _noted(self, exchange: Exchange) -> None:
        self._state("running")
        if exchange.model_round and exchange.what != "prepare":
            return  # a round of weights or trees may take many exchanges; it is told when it is over
        figures = {"what": exchange.what, "answered": exchange.answered, "clients": exchange.clients}
        figures |= {"up": exchange.bytes_up, "down": exchange.bytes_down}
        if exchange.model_round:
            self.tell(Note("federation.prepared", figures))
        else:
            self.tell(Note("federation.exchange", {"number": exchange.round, **figures}))

    def tell_round(self, number: int, rounds: int, reached: Note, cost: Mapping[str, int]) -> None:
        """Say what a round reached and what it cost."""
        about = {"number": number, "rounds": rounds, "reached": reached}
        self.tell(Note("federation.round", {**about, "up": cost["up"], "down": cost["down"]}))

    def complete(self, facts: Mapping[str, Any], files: Mapping[str, str | bytes]) -> dict[str, Any]:
        """Write files, pictures of the traffic and the summary; gives the summary."""
        summary = {
            **facts,
            "bytes": self.log.bytes(),
            "seconds": round(time.time() - self.begun, 3),
            "plan": self.plan.as_dict(),
        }
        for name, held in (*files.items(), *self.log.pictures().items()):
            self.write(name, held)
        self.write("summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
        ended = {"why": summary["why"]} if "why" in summary else {}
        self._state(summary["state"], **ended)
        self.let_go()
        return {"folder": str(self.path), **summary}

    def _state(self, state: str, **more: Any) -> None:
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        begun = dt.datetime.fromtimestamp(self.begun, dt.UTC).isoformat(timespec="seconds")
        shown = {
            "state": state,
            "process": os.getpid(),
            "begun": begun,
            "changed": now,
            "exchanges": len(self.log.rounds),
            "rounds": getattr(self.plan, "rounds", None),
            "last": self.log.rounds[-1].what if self.log.rounds else None,
            **more,
        }
        self.write(STATE, json.dumps(shown, indent=2) + "\n")

    def write(self, name: str, held: str | bytes) -> None:
        """Swap a file in whole."""
        try:
            write_whole(self.path / name, held, private=False)
        except OSError as error:
            raise OutputFailed(f"output={name!r} cannot be written: {error.strerror}") from error


def _hold(path: Path) -> Callable[[], object]:
    """Keep a folder for one run; gives what lets go of it. The system does so when a process dies."""
    try:
        import fcntl
    except ImportError:  # no such locks here
        return lambda: None
    held = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        raise InvalidParameter(f"output={path.name!r}: its run still goes on") from None
    except OSError:  # a file system that knows no locks
        pass
    return partial(os.close, held)


def _refuse(path: Path, *, force: bool) -> None:
    """Refuse a folder with something else in it, or with a run that finished."""
    if not any(path.iterdir()):
        return
    try:
        state = str(json.loads((path / STATE).read_text(encoding="utf-8"))["state"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidParameter(f"output={path.name!r} is not empty and holds no run of ours") from None
    if state == "finished" and not force:
        raise InvalidParameter(
            f"output={path.name!r} holds a finished run; say {spelled('force', True)} to replace it"
        )


def read_run(path: Path) -> dict[str, Any] | None:
    """Read how a run stands from its folder, while it runs or after: what a page or ``status`` shows.

    Returns:
        Its state, the round it is in and how many there are, who was there, what each round reached and the
        bytes so far; None if the folder holds no run. A process that died without a word reads as ``lost``.
    """
    state = _read_json(path / STATE)
    if not {"state", "changed", "exchanges"} <= state.keys():
        return None
    members, progress = _read_json(path / MEMBERS), _read_json(path / PROGRESS)
    history = progress.get("history") or []
    rounds = _read_csv(path / LOG_FILES[0])
    if state["state"] == "running" and not _held(path) and not _alive(state.get("process")):
        state["state"] = "lost"
    return {
        "folder": str(path),
        **{name: state.get(name) for name in ("state", "begun", "changed", "exchanges", "last", "why")},
        "round": len(history) or None,
        "rounds": state.get("rounds"),
        "online": members.get("online", {}),
        "checks": members.get("checks", {}),
        "history": history,
        "bytes": sum(int(line.get("bytes_up") or 0) + int(line.get("bytes_down") or 0) for line in rounds),
        "answered": [f"{line.get('answered')} of {line.get('clients')}" for line in rounds[-1:]],
        "summary": _read_json(path / "summary.json"),
    }


def _alive(process: object) -> bool:
    try:
        os.kill(int(str(process)), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError, OverflowError):
        pass
    return True


def _held(path: Path) -> bool:
    """Say whether some process still works in a folder."""
    try:
        _hold(path)()
    except InvalidParameter:
        return True
    except OSError:
        pass
    return False


def _read_json(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _read_csv(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error):
        return []
