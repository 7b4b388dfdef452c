"""The verbs of a federation in real processes: take part as a client, and run what was agreed."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mahrem.errors import Infeasible, InvalidInput, InvalidParameter, OutputFailed
from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._grid import FlowerGrid, wait_for_clients
from mahrem.federated.flower._guard import ClientGuard, Confirm
from mahrem.federated.flower._init import FILE, NETWORK, server_folder
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.flower._node import FlowerNode
from mahrem.federated.flower._review import describe_federation
from mahrem.federated.flower._run import FlowerRun
from mahrem.federated.runs import (
    MEMBERS,
    CheckedClient,
    ClientSettings,
    RunSettings,
    TableCheck,
    TableOwner,
    TaskRun,
    Tell,
)
from mahrem.federated.wire import Message, ask_all
from mahrem.federated.wire.certificates import read_private_key
from mahrem.table import Reading
from mahrem.words import Note

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
            certificate is refused, the table is of another schema or has cells that were not agreed on, or
            the ledger is of other data.
    """
    chosen = settings or ClientSettings()
    federation = Federation.read(file)
    member = FederationMember(federation, read_private_key(key), source, reading or Reading())
    guard = ClientGuard(member, chosen.audit)
    with guard.writing_why():
        _approve(guard, chosen, tell, confirm)
        let_go = guard.hold()
        try:
            _take_part(guard, chosen, tell)
        finally:
            let_go()


def _take_part(guard: ClientGuard, settings: ClientSettings, tell: Tell) -> None:
    """Look at table and plan, make the client, and answer until stopped."""
    member, federation = guard.member, guard.federation
    source = member.source
    history = guard.history(source, settings.members)
    owner = member.owner(settings.sum_secret, history)
    checked = federation.task.check(owner, settings)
    rows = guard.learnt_rows(settings, checked)
    findings = (*checked.findings, *guard.faults(source, settings, rows))
    checked = replace(checked, findings=findings, learnt=None)
    for finding in checked.findings:
        tell(Note("federation.of_client", {"client": member.name, "found": finding.describe()}))
    owner = replace(owner, answered=guard.answered(settings, rows))
    answerer, what = federation.task.join(owner, settings)
    checked.refuse()  # last: what cannot take part at all says so first
    guard.keep(source, settings, rows)
    del rows  # a client may stay for long
    if history is not None:
        history.held = what
    names = {"client": member.name, "what": what, "federation": federation.fingerprint()}
    tell(Note("federation.joined", {**names, "log": str(guard.log)}))
    client = CheckedClient(answerer, checked.server_report(counts=federation.task.tells_rows))
    FlowerNode(federation, member.key, client, settings.patience, tell, guard.note).run()


def _approve(guard: ClientGuard, settings: ClientSettings, tell: Tell, confirm: Confirm | None) -> None:
    """Show the owner what was agreed and let him agree; without a review he must have done so before.

    Asked, he vouches for the members' keys, too; a script that says ``yes`` names files of those it knows.
    """
    guard.known.learn_files(settings.known)
    if not settings.review and not settings.yes:
        guard.refuse_unapproved()
        return
    words = describe_federation(guard.federation, guard.member.name)
    if settings.yes:
        for line in words:
            tell(line)
    elif confirm is None or not confirm(words):
        raise InvalidInput("review: the plan was not agreed to; nothing left this machine")
    else:
        guard.known.learn(guard.federation.clients.values())
    guard.approve()


def check_client_table(
    file: Path, source: object, settings: ClientSettings | None = None, *, reading: Reading | None = None
) -> TableCheck:
    """Compare a table with what a federation agreed on, where the table lies; nothing is sent.

    Args:
        file: The federation file.
        source: The table.
        settings: What its owner takes part with (``despite``).
        reading: How to read the table.
    """
    owner = TableOwner(name="", source=source, reading=reading or Reading())
    return Federation.read(file).task.check(owner, settings or ClientSettings())


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
    if chosen.network is None and (folder / NETWORK).is_file():
        chosen = replace(chosen, network=folder / NETWORK)  # compared with the agreed one
    kept = replace(chosen, depends_on=federation.fingerprint(), reading=reading, tell=tell)
    return coordinator.learn(chosen.resume or chosen.output or new, kept)


@dataclass
class _Coordinator:
    """Carries a run over the SuperLink to its true end."""

    folder: Path
    server: Path
    settings: RunSettings
    tell: Tell
    online: Sequence[str] = ()
    least: int = 0
    checks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    federation: Federation = field(init=False)
    carried: FlowerRun = field(init=False)

    def __post_init__(self) -> None:
        self.federation = Federation.read(self.folder / FILE)
        self.carried = FlowerRun.of(self.federation, self.server)
        self.carried.patience = self.settings.wait

    def learn(self, path: Path, settings: RunSettings) -> dict[str, Any]:
        """Learn what was agreed, to the end that the SuperLink confirms.

        A run that loses clients waits for those it began with and goes on, as often as was said.
        """
        left = settings.retries
        while True:
            try:
                return self._learn(self.federation.task.begin(path, settings))
            except Infeasible as error:
                if not left or not self.online:
                    raise
                left -= 1
                self.tell(Note("federation.waiting", {"why": str(error), "names": sorted(self.online)}))
                self.settings = replace(self.settings, clients=len(self.online))
                self.carried = FlowerRun.of(self.federation, self.server)
                self.carried.patience = settings.wait
                self.least = len(self.online)  # a sum without one who was in it would tell that one's part
                settings = replace(settings, force=False)

    def _learn(self, run: TaskRun) -> dict[str, Any]:
        with run.folder.recording():
            with self._grid() as grid:
                run.folder.write(MEMBERS, self._members(grid))
                result = run.learn(grid, self._sum_public())
            return run.finish(result, self._facts(result.left_out))

    def _members(self, grid: FlowerGrid) -> str:
        """Ask who is there whether its table passed its owner's check; gives members as a file."""
        question = Message("check", secrets.token_hex(8), 0, {})
        answers, _ = ask_all(grid, self.online, question)
        self.checks = {name: _read_check(reply.body) for name, reply in answers.items()}
        there = grid.nodes()
        self.online = [name for name in self.online if name in there]  # one may have died unnoticed before
        names = {name: name in self.online for name in sorted(self.federation.clients)}
        return json.dumps({"online": names, "checks": self.checks}, indent=2) + "\n"

    @contextmanager
    def _grid(self) -> Iterator[FlowerGrid]:
        with self.carried as grid:
            if abs(self.carried.clock.ahead) > APART:
                self.tell(Note("federation.clock", {"apart": self.carried.clock.describe()}))
            wanted = self.settings.clients
            wanted = len(self.federation.clients) if wanted is None else wanted
            least = max(self.least, self.federation.least)
            self.online = wait_for_clients(grid, wanted, least, self.settings.wait, self.tell)
            yield grid
        status = self.carried.status
        if status != "finished:completed":
            raise OutputFailed(f"the model was learnt, but the SuperLink says {status!r} of its run")

    def _facts(self, left_out: Mapping[str, str]) -> dict[str, Any]:
        absent = {name: "not online" for name in self.federation.clients if name not in self.online}
        return {
            "left_out": {**absent, **left_out},
            "members": sorted(self.federation.clients),
            "checks": self.checks,
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


def _read_check(body: Mapping[str, Any]) -> dict[str, Any]:
    """Read what a client says of its check: passed or not, and whole numbers."""
    counts = {name: body[name] for name in ("rows", "dropped") if isinstance(body.get(name), int)}
    return {"passed": body.get("passed") is True, **counts}
