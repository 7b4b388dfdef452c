"""How a federation stands: who is online, who is missing since when, and how far its newest run came."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidInput, OutputFailed
from mahrem.federated.flower._connection import need_flower, refused_certificate
from mahrem.federated.flower._door import FlowerDoor, operator_headers, pem_of
from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._init import FILE, read_token, server_folder
from mahrem.federated.runs import read_run
from mahrem.federated.wire.certificates import read_public_key

OFFLINE, ONLINE, NEVER = "offline", "online", "never"


@dataclass(frozen=True)
class MemberStatus:
    """A client as the server knows it: ``online``, ``offline`` since it was last seen, or ``never`` there."""

    name: str
    state: str
    seen: str | None = None  # when, UTC; None if never since the server was started


@dataclass(frozen=True)
class FederationStatus:
    """Who is there and how far the newest run came."""

    server: str
    reached: bool
    fingerprint: str
    members: tuple[MemberStatus, ...]
    run: Mapping[str, Any] | None = None  # of the newest run folder

    @property
    def missing(self) -> tuple[str, ...]:
        """Name those who are not online."""
        return tuple(member.name for member in self.members if member.state != ONLINE)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {**asdict(self), "missing": list(self.missing)}


def federation_status(folder: Path) -> FederationStatus:
    """Ask a federation's server who is online, and read how far its newest run came.

    Args:
        folder: What ``init`` made; its token opens the server's door.

    Raises:
        InvalidInput: If the token or the certificate is refused.
    """
    server = server_folder(folder)
    federation = Federation.read(folder / FILE)
    need_flower()
    nodes = _nodes(federation, read_token(server))
    states = {} if nodes is None else _states(federation, *nodes)
    unknown = "unknown" if nodes is None else NEVER
    members = tuple(states.get(name, MemberStatus(name, unknown)) for name in sorted(federation.clients))
    return FederationStatus(
        federation.address, nodes is not None, federation.fingerprint(), members, newest_run(folder)
    )


def newest_run(folder: Path) -> dict[str, Any] | None:
    """Read the state of the newest run below a federation's folder."""
    runs = [run for path in (folder / "runs").glob("*/state.json") if (run := read_run(path.parent))]
    return max(runs, key=lambda run: str(run["changed"]), default=None)


def _nodes(federation: Federation, token: str) -> tuple[Any, dt.datetime] | None:
    import httpx
    from flwr.proto.control_pb2 import ListNodesRequest

    headers = operator_headers(token)
    try:
        with FlowerDoor(federation.address, federation.authority, headers, "flwr-cli") as door:
            answer = door.ask("control/list-nodes", ListNodesRequest())
    except httpx.TransportError as error:
        why = refused_certificate(error)
        if why is not None:
            raise InvalidInput(f"server={federation.address}: its certificate is refused: {why}") from None
        return None
    except httpx.HTTPStatusError as error:
        if error.response.status_code == 403:
            raise InvalidInput("operator.token is refused by the server: it is another's") from None
        raise OutputFailed(f"the server answered {error.response.status_code}") from None
    return answer.nodes_info, dt.datetime.fromisoformat(answer.now)


def _states(federation: Federation, nodes: Any, now: dt.datetime) -> dict[str, MemberStatus]:
    names = {pem_of(read_public_key(key)): name for name, key in federation.clients.items()}
    states = {}
    for node in nodes:
        if node.public_key not in names:
            continue
        name = names[node.public_key]
        if node.status == ONLINE:
            states[name] = MemberStatus(name, ONLINE, _written(now))
        elif node.last_activated_at:
            left = [dt.datetime.fromisoformat(node.last_deactivated_at)] if node.last_deactivated_at else []
            lost = dt.datetime.fromtimestamp(node.online_until, dt.UTC) if node.online_until else None
            begun = dt.datetime.fromisoformat(node.last_activated_at)
            last_seen = min([*left, *([lost] if lost else [])], default=begun)
            states[name] = MemberStatus(name, OFFLINE, _written(max(last_seen, begun)))
    return states


def _written(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).isoformat(timespec="seconds")
