"""The verbs of a federation in real processes: take part as a client, and run what was agreed."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed
from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._grid import FlowerGrid, wait_for_clients
from mahrem.federated.flower._guard import ClientGuard, Confirm
from mahrem.federated.flower._init import FILE, server_folder
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.flower._node import FlowerNode
from mahrem.federated.flower._review import describe_federation
from mahrem.federated.flower._run import FlowerRun
from mahrem.federated.runs import ClientSettings, RunSettings, TaskRun, Tell
from mahrem.federated.wire import read_private_key
from mahrem.table import Reading

APART = 5.0  # seconds between two clocks that are worth a word


def join_federation(
    file: Path,
    source: object,
    key: Path,
    settings: ClientSettings | None = None,
    *,
    reading: Reading | None = None,
    tell: Tell = lambda _: None,
    confirm: Confirm | None = None,
) -> None:
    """Take part in a federation with a table, until stopped.

    Args:
        file: The federation file.
        source: The table; never leaves.
        key: The client's private key; its public part says which client this is.
        settings: What is done about the table before anything leaves.
        reading: How to read the table.
        tell: Told what happens, without data.
        confirm: Shown what was agreed, in words, where ``review`` is on; says whether to take part.

    Raises:
        InvalidInput: If the owner does not agree, the key is nobody's or used by another process, a
            certificate is refused, the table is of another schema, or the ledger is of other data.
    """
    chosen = settings or ClientSettings()
    federation = Federation.read(file)
    member = FederationMember(federation, read_private_key(key), source, reading or Reading())
    guard = ClientGuard(member, chosen.audit)
    _approve(guard, chosen, tell, confirm)
    let_go = guard.hold()
    try:
        history = guard.history(source, chosen.members)
        answerer, what = federation.task.join(member.owner(chosen.sum_secret, history), chosen)
        if history is not None:
            history.held = what
        tell(f"{member.name}: {what}; federation {federation.fingerprint()}; questions: {guard.log}")
        FlowerNode(federation, member.key, answerer, chosen.patience, tell, guard.note).run()
    finally:
        let_go()


def _approve(guard: ClientGuard, settings: ClientSettings, tell: Tell, confirm: Confirm | None) -> None:
    """Show the owner what was agreed and let him agree; without a review he must have done so before."""
    if not settings.review and not settings.yes:
        guard.refuse_unapproved()
        return
    words = describe_federation(guard.federation, guard.member.name)
    if settings.yes:
        for line in words:
            tell(line)
    elif confirm is None or not confirm(words):
        raise InvalidInput("review: the plan was not agreed to; nothing left this machine")
    guard.approve()


def run_federation(
    folder: Path,
    settings: RunSettings | None = None,
    *,
    reading: Reading | None = None,
    tell: Tell = lambda _: None,
) -> dict[str, Any]:
    """Learn what a federation agreed on from the clients that are online, and write a run folder.

    Args:
        folder: What ``init`` made.
        settings: How the run is carried out and kept.
        reading: How to read rows to judge by.
        tell: Told about progress.

    Returns:
        The summary that also lies in the folder, with how the SuperLink says the run ended.

    Raises:
        Infeasible: If too few clients are online or stay to the end.
        InvalidInput: If there is no run to go on with.
    """
    chosen = settings or RunSettings()
    coordinator = _Coordinator(folder, server_folder(folder), chosen, tell)
    if chosen.resume is not None and chosen.output is not None:
        raise InvalidParameter("output: a run that goes on writes into its own folder; leave it out")
    new = folder / "runs" / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    federation = coordinator.federation
    kept = replace(chosen, depends_on=federation.fingerprint(), reading=reading, tell=tell)
    return coordinator.learn(federation.task.begin(chosen.resume or chosen.output or new, kept))


@dataclass
class _Coordinator:
    """Carries a run over the SuperLink to its true end."""

    folder: Path
    server: Path
    settings: RunSettings
    tell: Tell
    online: Sequence[str] = ()
    federation: Federation = field(init=False)
    carried: FlowerRun = field(init=False)

    def __post_init__(self) -> None:
        self.federation = Federation.read(self.folder / FILE)
        self.carried = FlowerRun.of(self.federation, self.server)
        self.carried.patience = self.settings.wait

    def learn(self, run: TaskRun) -> dict[str, Any]:
        """Learn what was agreed, to the end that the SuperLink confirms."""
        with run.folder.recording():
            with self._grid() as grid:
                result = run.learn(grid, self._sum_public())
            return run.finish(result, self._facts(result.left_out))

    @contextmanager
    def _grid(self) -> Iterator[FlowerGrid]:
        with self.carried as grid:
            if abs(self.carried.clock.ahead) > APART:
                self.tell(f"{self.carried.clock.describe()}; messages are dated by the server's")
            wanted = self.settings.clients
            wanted = len(self.federation.clients) if wanted is None else wanted
            least = self.federation.least
            self.online = wait_for_clients(grid, wanted, least, self.settings.wait, self.tell)
            yield grid
        status = self.carried.status
        if status != "finished:completed":
            raise OutputFailed(f"the model was learnt, but the SuperLink says {status!r} of its run")

    def _facts(self, left_out: Mapping[str, str]) -> dict[str, Any]:
        absent = {name: "not online" for name in self.federation.clients if name not in self.online}
        return {
            "left_out": {**absent, **left_out},
            "run": self.carried.number,
            "superlink": self.carried.status,
            "federation": self.federation.fingerprint(),
        }

    def _sum_public(self) -> bytes | None:
        path = self.server / "sum.public"
        try:
            return path.read_bytes() if path.is_file() else None
        except OSError as error:
            raise InvalidInput(f"file={path.name!r} cannot be read: {error.strerror}") from None
