"""The verbs of a federation in real processes: take part as a client, and run what was agreed."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed
from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._grid import FlowerGrid, wait_for_clients
from mahrem.federated.flower._init import FILE, server_folder
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.flower._node import FlowerNode
from mahrem.federated.flower._rules import RuleClient
from mahrem.federated.flower._run import FlowerRun
from mahrem.federated.flower._weights import LearningClient, agreed_columns
from mahrem.federated.rules import learn_plan
from mahrem.federated.runs import LearningRun, RunFolder
from mahrem.federated.wire import read_private_key
from mahrem.table import Reading

__all__ = ["join_federation", "run_federation"]

APART = 5.0  # seconds between two clocks that are worth a word
Tell = Callable[[str], None]


def join_federation(
    file: Path,
    source: object,
    key: Path,
    *,
    policy: Mapping[str, Any] | None = None,
    sum_secret: Path | None = None,
    least_count: int | None = None,
    epsilon: float | None = None,
    ledger: Path | None = None,
    disguise: Path | None = None,
    dummies: float = 1.0,
    patience: float = 300.0,
    reading: Reading | None = None,
    tell: Tell = lambda _: None,
) -> None:
    """Take part in a federation with a table, until stopped.

    Args:
        file: The federation file.
        source: The table; never leaves.
        key: The client's private key; its public part says which client this is.
        policy: Where weights or trees are learnt: the table is anonymised under it before anything else, as
            by :func:`mahrem.anonymize`. Without one it is learnt from as it is, and the report says so.
        sum_secret: The clients' key of homomorphic sums.
        least_count: Counts of fewer people leave as 0; at least what was agreed.
        epsilon: Noise on the counts behind one-shot rules, see :func:`perturb_rules`; again in every run.
        ledger: Pays for noise; a run it does not cover is refused.
        disguise: The clients' key of dummy rules, see :class:`Disguise` and :func:`reveal_model`; or of dummy
            weights, see :class:`Decoys`.
        dummies: How many dummy rules go with each real one.
        patience: Seconds without the server after which it gives up.
        reading: How to read the table.
        tell: Told what happens, without data.

    Raises:
        InvalidInput: If the key is nobody's, a certificate is refused, the table is of another schema, or the
            ledger is of other data.
    """
    federation = Federation.read(file)
    member = FederationMember(federation, read_private_key(key), source, reading or Reading())
    client: LearningClient | RuleClient
    if federation.learns:
        _refuse_other_kind("rules", least_count=least_count, epsilon=epsilon)
        client = LearningClient(policy=policy, sum_secret=sum_secret, ledger=ledger, disguise=disguise)
    else:
        _refuse_other_kind("weights and trees", policy=policy)
        client = RuleClient(
            sum_secret=sum_secret,
            least_count=least_count,
            epsilon=epsilon,
            ledger=ledger,
            disguise=disguise,
            dummies=dummies,
        )
    answerer, told = client.answerer(member)
    tell(f"{member.name}: {told}; federation {federation.fingerprint()}")
    FlowerNode(federation, member.key, answerer, patience, tell).run()


def _refuse_other_kind(what: str, **said: Any) -> None:
    for name, value in said.items():
        if value is not None:
            raise InvalidParameter(f"{name}: it is for {what}, which this federation does not learn")


def run_federation(
    folder: Path,
    output: Path | None = None,
    *,
    resume: Path | None = None,
    clients: int | None = None,
    wait: float = 60.0,
    test: object = None,
    vet_by: object = None,
    byte_budget: int | None = None,
    force: bool = False,
    reading: Reading | None = None,
    tell: Tell = lambda _: None,
) -> dict[str, Any]:
    """Learn what a federation agreed on from the clients that are online, and write a run folder.

    Args:
        folder: What ``init`` made.
        output: The run folder; a new one under ``runs`` by default.
        resume: The run folder of weights or trees to go on with, after its last round.
        clients: How many clients to wait for; all by default.
        wait: For how many seconds at most; then it goes on with those that are there, if they are enough.
        test: Untouched rows to judge weights or trees by after each round.
        vet_by: Rows that no client has, by which updates are judged where the plan says ``held_out``.
        byte_budget: Weights and trees: stop before more bytes than this went both ways, in all parts of the
            run; the model so far is kept.
        force: Replace a finished run.
        reading: How to read those rows.
        tell: Told about progress.

    Returns:
        The summary that also lies in the folder, with how the SuperLink says the run ended.

    Raises:
        Infeasible: If too few clients are online or stay to the end.
        InvalidInput: If there is no run to go on with.
    """
    work = _Coordinator(folder, server_folder(folder), clients, wait, tell)
    if resume is not None and output is not None:
        raise InvalidParameter("output: a run that goes on writes into its own folder; leave it out")
    made = folder / "runs" / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    path = resume or output or made
    if not work.federation.learns:
        other = {"resume": resume, "test": test, "vet_by": vet_by, "byte_budget": byte_budget}
        _refuse_other_kind("weights and trees", **other)
        return work.rules(RunFolder.create(path, work.federation.plan, force=force, tell=tell))
    schema, plan = work.federation.training()
    judged, held_out = (
        None if rows is None else agreed_columns(work.federation, rows, reading) for rows in (test, vet_by)
    )
    if (held_out is None) == (plan.protections.held_out is not None):
        raise InvalidParameter("vet_by: rows to judge updates by go with a plan that has held_out")
    run = LearningRun.begin(
        path,
        schema,
        plan,
        depends_on=work.federation.fingerprint(),
        judged=judged,
        resume=resume is not None,
        byte_budget=byte_budget,
        force=force,
        tell=tell,
    )
    return work.learning(run, held_out)


@dataclass
class _Coordinator:
    """Carries a run over the SuperLink to its true end."""

    folder: Path
    server: Path
    clients: int | None
    wait: float
    tell: Tell
    online: Sequence[str] = ()
    federation: Federation = field(init=False)
    carried: FlowerRun = field(init=False)

    def __post_init__(self) -> None:
        self.federation = Federation.read(self.folder / FILE)
        self.carried = FlowerRun.of(self.federation, self.server)
        self.carried.patience = self.wait

    def rules(self, run: RunFolder) -> dict[str, Any]:
        schema, plan = self.federation.rules()
        with run.recording():
            with self._grid() as grid:
                learnt = learn_plan(run.watch(grid), schema.columns, plan, self._sum_public())
            return run.finish(learnt, self._said(learnt.left_out))

    def learning(self, run: LearningRun, held_out: pl.DataFrame | None) -> dict[str, Any]:
        with run.folder.recording():
            with self._grid() as grid:
                learnt = run.learn(grid, held_out=held_out, public=self._sum_public())
            return run.finish(learnt, self._said(learnt.left_out))

    @contextmanager
    def _grid(self) -> Iterator[FlowerGrid]:
        with self.carried as grid:
            if abs(self.carried.clock.ahead) > APART:
                self.tell(f"{self.carried.clock.said()}; messages are dated by the server's")
            wanted = len(self.federation.clients) if self.clients is None else self.clients
            least = self.federation.plan.least_clients
            self.online = wait_for_clients(grid, wanted, least, self.wait, self.tell)
            yield grid
        status = self.carried.status
        if status != "finished:completed":
            raise OutputFailed(f"the model was learnt, but the SuperLink says {status!r} of its run")

    def _said(self, left_out: Mapping[str, str]) -> dict[str, Any]:
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
