"""What a client keeps for its owner: which plans he agreed to, every question, and whom sums were over."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from mahrem.errors import InvalidInput, MahremError, spelled
from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._known_houses import KnownHouses
from mahrem.federated.flower._learnt_rows import LearntRows
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.flower._memory import TableMemory, columns_of, now, table_name
from mahrem.federated.flower._weak_spots import promises, strangers, weak_spots
from mahrem.federated.rules import AnsweredQuestions, RulesPlan
from mahrem.federated.runs import CheckFinding, ClientSettings, TableCheck
from mahrem.federated.sums import SumHistory, append_private
from mahrem.federated.wire import LONGEST_NAME, Message, digest_message
from mahrem.federated.wire.certificates import fingerprint, write_public
from mahrem.files import private_key, state_folder

APPROVED = b"mahrem-approved-1"
LONGEST_REASON = 2000  # letters that are written down; a server may make a refusal as long as it likes
Confirm = Callable[[Sequence[str]], bool]  # shown what was agreed, in words; says whether to take part


@dataclass(frozen=True)
class ClientGuard:
    """The memory of a client, in the private folder of its user.

    ``approvals.jsonl`` has the plans its owner agreed to, each signed with the client's key; ``known.jsonl``
    whose keys he knows (:class:`KnownHouses`); ``sums.jsonl`` whom sums were over (:class:`SumHistory`);
    others what is remembered of tables (:class:`TableMemory`) and which
    questions their rows answered (:class:`AnsweredQuestions`); a file for each client and federation every
    question that was answered or refused. Nobody else can read them, and no cell of the table is in them.

    Args:
        member: The client.
        audit: The file of questions; by default in the folder.
        folder: The folder.
    """

    member: FederationMember
    audit: Path | None = None
    folder: Path = field(default_factory=lambda: state_folder() / "federations")

    @property
    def federation(self) -> Federation:
        """What was agreed."""
        return self.member.federation

    @property
    def client(self) -> str:
        """Names the client's key."""
        return fingerprint(write_public(self.member.key.public_key()).encode())

    @property
    def log(self) -> Path:
        """Where questions are written down."""
        short = self.federation.fingerprint().replace(":", "")[:16]
        return self.audit or self.folder / f"{self.member.name}-{short}.jsonl"

    def hold(self) -> Callable[[], None]:
        """Keep the key for this process; gives what lets go of it.

        Raises:
            InvalidInput: If another process takes part with it: questions would reach one or the other.
        """
        try:
            import fcntl
        except ImportError:  # no such locks here
            return lambda: None
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = hashlib.sha256(self.client.encode()).hexdigest()[:16]
        held = os.open(self.folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            raise InvalidInput(
                f"client={self.member.name!r}: another process takes part with this key; end it first"
            ) from None
        return lambda: os.close(held)

    def approve(self) -> None:
        """Write down that the owner agrees to this federation, signed."""
        name = self.federation.fingerprint()
        signed = self.member.sign(APPROVED)
        line = {"time": now(), "client": self.client, "federation": name, "signed": signed.hex()}
        append_private(self.folder / "approvals.jsonl", line)

    @property
    def known(self) -> KnownHouses:
        """Whose keys the owner knows."""
        return KnownHouses(self.folder / "known.jsonl", self.client)

    def refuse_unapproved(self) -> None:
        """Refuse a federation that is not the one its owner agreed to.

        Before he ever did, any may be joined that has no weak spot (:meth:`faults`).

        Raises:
            InvalidInput: If he agreed to others only, or what says so was not signed with this key.
        """
        mine, agreed = self._approvals()
        if mine and not agreed:
            raise InvalidInput(
                "federation: what it says is not what the owner of this key agreed to; look at it and agree: "
                f"{spelled('review', value=True)}"
            )

    def faults(
        self, source: object, settings: ClientSettings, rows: LearntRows | None
    ) -> tuple[CheckFinding, ...]:
        """Find what the plan, and what is remembered of the table, let a server do to its people.

        Weak spots that are said in the review are agreed to with it; whose keys the members have, and what
        earlier runs of the table add up to, are not in the plan.
        """
        _, agreed = self._approvals()
        spots = () if agreed else weak_spots(self.federation, settings)
        memory = self.memory(source)
        again = memory.promised() if promises(self.federation, settings) else ()
        moved = () if rows is None else memory.changes(rows)
        members = strangers(self.federation, self.member.name, self.known.keys())
        finer = memory.regrouped(settings)
        answered = self.answered(settings, rows)
        asked = () if answered is None else memory.asked(answered)
        return (*members, *spots, *again, *memory.recuts(), *finer, *asked, *moved)

    def keep(self, source: object, settings: ClientSettings, rows: LearntRows | None) -> None:
        """Remember what a later run may be held against, before anything leaves."""
        memory = self.memory(source)
        memory.keep_cuts()
        memory.keep_groups(settings)
        if promises(self.federation, settings):
            memory.keep_promise()
        if rows is not None:
            memory.keep_table(rows)

    def memory(self, source: object) -> TableMemory:
        """Give what is remembered of a table."""
        return TableMemory(self.folder, self.client, source, self.federation)

    def learnt_rows(self, settings: ClientSettings, checked: TableCheck) -> LearntRows | None:
        """Give the rows that are learnt from, hashed; None where noise covers differences."""
        noisy = self.federation.task.plan.private or settings.epsilon is not None
        return None if noisy or checked.learnt is None else LearntRows.of(checked.learnt)

    def answered(self, settings: ClientSettings, rows: LearntRows | None) -> AnsweredQuestions | None:
        """Give what rows answered of the questions of exact rules; None where none are asked."""
        plan = self.federation.task.plan
        if rows is None or not isinstance(plan, RulesPlan) or plan.how != "exact":
            return None
        return AnsweredQuestions(
            folder=self.folder / "answered" / rows.digest(),
            key=private_key(),
            federation=self.federation.fingerprint(),
            agreed=any(code.partition(":")[0] == "asked" for code in settings.despite),
        )

    def _approvals(self) -> tuple[bool, bool]:
        """Say whether the owner of this key ever agreed to a plan, and whether to this one."""
        path = self.folder / "approvals.jsonl"
        try:
            lines = (
                [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
            )
            mine = [line for line in lines if line["client"] == self.client]
            agreed = any(
                line["federation"] == self.federation.fingerprint()
                and self.member.verify(self.member.name, APPROVED, bytes.fromhex(line["signed"]))
                for line in mine
            )
        except (OSError, ValueError, KeyError, TypeError):
            raise InvalidInput(f"file={path.name!r} of agreed plans cannot be read; mend it") from None
        return bool(mine), agreed

    def history(self, source: object, agreed: frozenset[str] | None) -> SumHistory | None:
        """Give what is remembered of sums; None where differences tell nothing, or were agreed to."""
        plan = self.federation.task.plan
        if not plan.hides or plan.private or plan.recount:
            return None
        return SumHistory(
            path=self.folder / "sums.jsonl",
            client=self.client,
            table=table_name(source),
            about=columns_of(self.federation),
            federation=self.federation.fingerprint(),
            agreed=agreed,
        )

    @contextmanager
    def writing_why(self) -> Iterator[None]:
        """Write down why a client did not take part, or no longer does."""
        try:
            yield
        except MahremError as error:
            with suppress(MahremError):  # what went wrong first is told
                self.note(None, {"answer": "stayed away", "why": str(error)})
            raise

    def _members(self, names: Sequence[object]) -> list[str]:
        """Give those of some names that are members', and how many others are among them."""
        members = sorted({name for name in names if isinstance(name, str)} & set(self.federation.clients))
        others = len(names) - len(members)
        return [*members, f"and {others} others"] if others else members

    def note(self, message: Message | None, answer: Mapping[str, object]) -> None:
        """Write down a question and what became of it.

        Raises:
            OutputFailed: If it cannot be written; then nothing may leave.
        """
        asked: dict[str, object] = {}
        if message is not None:
            names, about = message.body.get("names"), message.body.get("kind")
            asked = {
                "run": message.run,
                "round": message.round,
                "kind": message.kind,
                "about": about[:LONGEST_NAME] if isinstance(about, str) else None,
                "clients": self._members(names) if isinstance(names, list) else None,
                "digest": digest_message(message).hex(),
            }
        why = answer.get("why")
        answer = {**answer, "why": why[:LONGEST_REASON]} if isinstance(why, str) else answer
        line = {"time": now(), "client": self.member.name, **asked, **answer}
        append_private(
            self.log, {name: value for name, value in line.items() if value is not None}, durable=False
        )
