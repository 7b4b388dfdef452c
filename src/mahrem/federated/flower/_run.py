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
from mahrem.federated.flower._connection import Clock, bearer, need_flower, refused_certificate
from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._grid import FlowerGrid

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
    _client: Any = field(default=None, repr=False)
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)
    _task: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, federation: Federation, server: Path) -> Self:
        """Make one with the token in the server's folder."""
        try:
            token = (server / "operator.token").read_text(encoding="ascii").strip()
        except OSError as error:
            raise InvalidInput(f"operator.token cannot be read: {error.strerror}") from None
        return cls(federation, token)

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
        from flwr.common.constant import SubStatus

        self._stop.set()
        self._client._retry_invoker.max_tries = 1  # noqa: SLF001 - as Flower's own programs end
        if kind is None:
            ended, details = SubStatus.COMPLETED, ""
        elif issubclass(kind, KeyboardInterrupt | SystemExit):
            ended, details = SubStatus.STOPPED, "stopped by the operator"
        else:
            ended, details = SubStatus.FAILED, kind.__name__
        try:
            self._finish(self._client, ended, details)
            self.status = self._ask_status()
        except Exception as lost:
            self.status = "unknown: the server was lost"
            if kind is None:
                raise OutputFailed("the server was lost before the run could end there") from lost
        finally:
            self._client.close()

    def _made(self, kind: Any, *more: Any, retry: Any = None) -> Any:
        from flwr.supercore.interceptors.http.runtime_version import RuntimeVersionHttpInterceptor

        version = RuntimeVersionHttpInterceptor(component_name="flwr-serverapp")
        authority = self.federation.authority.encode()
        return kind.from_server_address(
            self.federation.address,
            False,
            authority,
            [version, bearer(self.token), *more, self.clock],
            retry_invoker=retry,
        )

    def _begin(self) -> FlowerGrid:
        from flwr.proto.control_pb2 import StartRunRequest
        from flwr.proto.fab_pb2 import Fab
        from flwr.proto.runtime_pb2 import PullTaskInputRequest
        from flwr.supercore.control.control_http_client import ControlHttpClient
        from flwr.supercore.interceptors.http.runtime_token import RuntimeTokenHttpInterceptor
        from flwr.supercore.retry import make_simple_http_retry_invoker
        from flwr.supercore.runtime import RuntimeHttpClient

        with self._made(ControlHttpClient) as control:
            self.number = control.StartRun(StartRunRequest(fab=Fab(content=_bundle()))).run_id
        with self._made(RuntimeHttpClient) as door:
            self._task, ticket = self._acquired(door)
        retry = make_simple_http_retry_invoker()
        retry.max_time = self.federation.answer_seconds
        self._client = self._made(RuntimeHttpClient, RuntimeTokenHttpInterceptor(ticket), retry=retry)
        self._client.PullTaskInput(PullTaskInputRequest())
        threading.Thread(target=self._beat, daemon=True).start()
        self.status = "running"
        return FlowerGrid(self.federation, self._client, self.number, self._task.task_id, self.clock)

    def _acquired(self, door: Any) -> tuple[Any, str]:
        """Take our task; tasks of runs whose coordinator died before it took them are ended."""
        from flwr.common.constant import SubStatus
        from flwr.proto.runtime_pb2 import AcquireTaskRequest
        from flwr.supercore.constant import TaskType
        from flwr.supercore.interceptors.http.runtime_token import RuntimeTokenHttpInterceptor
        from flwr.supercore.runtime import RuntimeHttpClient

        while True:
            acquired = door.AcquireTask(AcquireTaskRequest(supported_task_types=[TaskType.SERVER_APP]))
            if not acquired.token:
                raise OutputFailed(f"run={self.number}: somebody else took its task")
            if acquired.task.run_id == self.number:
                return acquired.task, acquired.token
            with self._made(RuntimeHttpClient, RuntimeTokenHttpInterceptor(acquired.token)) as other:
                self._finish(other, SubStatus.FAILED, "its coordinator was lost")

    @staticmethod
    def _finish(client: Any, ended: str, details: str) -> None:
        from flwr.proto.runtime_pb2 import PushTaskOutputRequest

        client.PushTaskOutput(PushTaskOutputRequest(sub_status=ended, details=details))

    def _ask_status(self) -> str:
        """Ask the SuperLink how the run ended."""
        from flwr.proto.control_pb2 import ListRunsRequest
        from flwr.supercore.control.control_http_client import ControlHttpClient

        with self._made(ControlHttpClient) as control:
            run = control.ListRuns(ListRunsRequest(run_id=self.number)).run_dict[self.number]
        return ":".join(part for part in (run.status.status, run.status.sub_status) if part)

    def _beat(self) -> None:
        import httpx
        from flwr.proto.runtime_pb2 import SendTaskHeartbeatRequest

        while not self._stop.wait(BEAT):
            try:
                self._client.SendTaskHeartbeat(SendTaskHeartbeatRequest())
            except (httpx.HTTPError, RuntimeError):
                continue  # the round that waits for answers finds out


def _bundle() -> bytes:
    """Make the smallest bundle that Flower takes as a run's program."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as bundle:
        bundle.writestr("pyproject.toml", _APP)
    return whole.getvalue()
