"""A run at the SuperLink: begun, watched, and ended with its true end."""

from __future__ import annotations

import io
import threading
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from mahrem.errors import InvalidInput, OutputFailed
from mahrem.federated.flower._connection import Clock, need_flower, refused_certificate
from mahrem.federated.flower._door import FlowerDoor, operator_headers
from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._grid import FlowerGrid
from mahrem.federated.flower._init import read_token

BEAT = 5.0  # seconds between two signs of life
_APP = """[project]
name = "mahrem"
version = "1.0.0"
description = "Marks a run; its program is never sent to anybody."
license = "Apache-2.0"
[tool.flwr.app]
publisher = "mahrem"
[tool.flwr.app.components]
serverapp = "mahrem.federated:none"
clientapp = "mahrem.federated:none"
"""


@dataclass
class FlowerRun:
    """A run at the SuperLink from its registration to its end; use it in a ``with`` block.

    The program that coordinates is this process: nothing is sent to the server to be run there. The end that
    the SuperLink is told is the true one, and :attr:`status` is what the SuperLink says afterwards.

    Args:
        federation: What was agreed.
        token: The operator's token.
        patience: Seconds to wait for a server that is not up yet.
    """

    federation: Federation
    token: str = field(repr=False)
    patience: float = 0.0
    number: int = 0
    status: str = "not begun"
    clock: Clock = field(default_factory=Clock, repr=False)
    _door: Any = field(default=None, repr=False)
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)
    _task: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, federation: Federation, server: Path) -> Self:
        """Make one with the token in the server's folder."""
        return cls(federation, read_token(server))

    def __enter__(self) -> FlowerGrid:
        need_flower()
        import httpx

        self.federation.refuse_expired()
        end = time.monotonic() + self.patience
        while True:
            try:
                return self._begin()
            except httpx.TransportError as error:
                self._refuse(error)
                if time.monotonic() >= end:
                    raise OutputFailed(
                        f"server={self.federation.address} cannot be reached; "
                        f"start it with: mahrem federate server"
                    ) from None
                time.sleep(0.2)
            except httpx.HTTPStatusError as error:
                code = error.response.status_code
                if code == 403:
                    raise InvalidInput("operator.token is refused by the server: it is another's") from None
                raise OutputFailed(f"the server answered {code}; no run was begun") from None

    def _refuse(self, error: Exception) -> None:
        why = refused_certificate(error)
        if why is not None:
            address = self.federation.address
            raise InvalidInput(f"server={address}: its certificate is refused: {why}") from None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        self._stop.set()
        self._door.patience = 0.0
        if kind is None:
            ended, details = "completed", ""
        elif issubclass(kind, KeyboardInterrupt | SystemExit):
            ended, details = "stopped", "stopped by the operator"
        else:
            ended, details = "failed", kind.__name__
        try:
            self._finish(self._door, ended, details)
            self.status = self._ask_status()
        except Exception as lost:
            self.status = "unknown: the server was lost"
            if kind is None:
                raise OutputFailed("the server was lost before the run could end there") from lost
        finally:
            self._door.close()

    def _opened(self, task: str | None = None) -> FlowerDoor:
        headers = operator_headers(self.token, task)
        return FlowerDoor(
            self.federation.address, self.federation.authority, headers, "flwr-serverapp", self.clock
        )

    def _begin(self) -> FlowerGrid:
        from flwr.proto.control_pb2 import StartRunRequest
        from flwr.proto.fab_pb2 import Fab
        from flwr.proto.runtime_pb2 import PullTaskInputRequest

        with self._opened() as door:
            begun = door.ask("control/start-run", StartRunRequest(fab=Fab(content=_bundle())))
            self.number = begun.run_id
            self._task, ticket = self._acquired(door)
        self._door = self._opened(ticket)
        self._door.patience = self.federation.answer_seconds
        self._door.ask("runtime/pull-task-input", PullTaskInputRequest())
        threading.Thread(target=self._beat, daemon=True).start()
        self.status = "running"
        return FlowerGrid(self.federation, self._door, self.number, self._task.task_id, self.clock)

    def _acquired(self, door: FlowerDoor) -> tuple[Any, str]:
        """Take our task; tasks of runs whose coordinator died before it took them are ended."""
        from flwr.proto.runtime_pb2 import AcquireTaskRequest

        while True:
            request = AcquireTaskRequest(supported_task_types=["flwr-serverapp"])
            acquired = door.ask("runtime/acquire-task", request)
            if not acquired.token:
                raise OutputFailed(f"run={self.number}: somebody else took its task")
            if acquired.task.run_id == self.number:
                return acquired.task, acquired.token
            with self._opened(acquired.token) as other:
                self._finish(other, "failed", "its coordinator was lost")

    @staticmethod
    def _finish(door: FlowerDoor, ended: str, details: str) -> None:
        from flwr.proto.runtime_pb2 import PushTaskOutputRequest

        door.ask("runtime/push-task-output", PushTaskOutputRequest(sub_status=ended, details=details))

    def _ask_status(self) -> str:
        """Ask the SuperLink how the run ended."""
        from flwr.proto.control_pb2 import ListRunsRequest

        with self._opened() as door:
            listed = door.ask("control/list-runs", ListRunsRequest(run_id=self.number))
        run = listed.run_dict[self.number]
        return ":".join(part for part in (run.status.status, run.status.sub_status) if part)

    def _beat(self) -> None:
        import httpx
        from flwr.proto.runtime_pb2 import SendTaskHeartbeatRequest

        while not self._stop.wait(BEAT):
            try:
                self._door.ask("runtime/send-task-heartbeat", SendTaskHeartbeatRequest())
            except (httpx.HTTPError, RuntimeError):
                continue  # the round that waits for answers finds out


def _bundle() -> bytes:
    """Make the smallest bundle that Flower takes as a run's program."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as bundle:
        bundle.writestr("pyproject.toml", _APP)
    return whole.getvalue()
