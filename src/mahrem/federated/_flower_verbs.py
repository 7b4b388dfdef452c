"""The verbs of a federation in real processes: take part as a client, and run what was agreed."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed
from mahrem.federated._answerer import agreed_client
from mahrem.federated._certificates import read_private_key, read_secret, sign_bytes
from mahrem.federated._disguise import Disguise
from mahrem.federated._federation import Federation
from mahrem.federated._federation_init import FILE, server_folder
from mahrem.federated._flower_grid import wait_for_clients
from mahrem.federated._flower_node import FlowerNode
from mahrem.federated._flower_run import FlowerRun
from mahrem.federated._noise import perturb_rules
from mahrem.federated._plan import learn_plan
from mahrem.federated._run_folder import RunFolder
from mahrem.federated._silo import Protect, Silo, Table
from mahrem.learning import RuleList
from mahrem.table import Reading, open_source

if TYPE_CHECKING:
    from mahrem.dp import Ledger

__all__ = ["join_federation", "reveal_model", "run_federation"]


def join_federation(
    file: Path,
    source: object,
    key: Path,
    *,
    sum_secret: Path | None = None,
    least_count: int | None = None,
    epsilon: float | None = None,
    ledger: Path | None = None,
    disguise: Path | None = None,
    dummies: float = 1.0,
    patience: float = 300.0,
    reading: Reading | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> None:
    """Take part in a federation with a table, until stopped.

    Args:
        file: The federation file.
        source: The table; never leaves.
        key: The client's private key; its public part says which client this is.
        sum_secret: The clients' key of homomorphic sums.
        least_count: Counts of fewer people leave as 0; at least what was agreed.
        epsilon: Noise on the counts behind one-shot rules, see :func:`perturb_rules`; again in every run.
        ledger: Pays for that noise; a run it does not cover is refused.
        disguise: The clients' key of dummy rules, see :class:`Disguise` and :func:`reveal_model`.
        dummies: How many dummy rules go with each real one.
        patience: Seconds without the server after which it gives up.
        reading: How to read the table.
        tell: Told what happens, without data.

    Raises:
        InvalidInput: If the key is nobody's, a certificate is refused, the table is of another schema, or the
            ledger is of other data.
    """
    federation = Federation.read(file)
    private = read_private_key(key)
    name = federation.name_of(private)
    cells, columns = _cells(federation, source, reading)
    mark = federation.fingerprint().encode()
    noisy = _noise(
        federation, epsilon, ledger, lambda book: book.refuse_other(source, reading or Reading(), columns)
    )
    silo = Silo(
        cells,
        target=federation.schema.target,
        protect=_disguised(federation, disguise, dummies, noisy),
        least_count=max(federation.plan.least_count, least_count or 1),
    )
    answerer = agreed_client(
        federation.plan,
        federation.schema,
        name,
        silo,
        secret=None if sum_secret is None else read_secret(sum_secret),
        sign=lambda statement: sign_bytes(private, mark + statement),
        verify=lambda who, statement, signed: federation.signed_by(who, mark + statement, signed),
    )
    rows = silo.table.bits.rows  # what is wrong with the table is said now and not in the first round
    tell(f"{name}: {rows:,} rows; federation {federation.fingerprint()}")
    FlowerNode(federation, private, answerer, patience, tell).run()


def _cells(
    federation: Federation, source: object, reading: Reading | None
) -> tuple[pl.DataFrame, Sequence[str]]:
    """Give the agreed columns of a table, in bins, and the names of all it has."""
    opened = open_source(source, reading)
    wanted = (*federation.schema.columns, federation.schema.target)
    there = [column for column in wanted if column in opened.columns]
    return federation.schema.cells(opened.take(there)), opened.columns


def _disguised(
    federation: Federation, key: Path | None, dummies: float, before: Protect | None
) -> Protect | None:
    """Put dummies among rules that other protections have changed already."""
    if key is None:
        return before
    if federation.plan.how != "one-shot":
        raise InvalidParameter("disguise: dummies are for one-shot rules; this federation learns exactly")
    disguise = Disguise(read_secret(key), dummies)
    return lambda rules: disguise.hide(rules if before is None else before(rules))


def reveal_model(
    file: Path, model: Path, source: object, key: Path, *, reading: Reading | None = None
) -> RuleList:
    """Take the dummies out of a model that was learnt with them, and give its cells again.

    Args:
        file: The federation file.
        model: ``model.json`` of the run.
        source: A client's table; rules about cells that are not in it go with the dummies.
        key: The clients' key of dummy rules.
        reading: How to read the table.

    Raises:
        InvalidInput: If one of them cannot be read.
    """
    federation = Federation.read(file)
    try:
        merged = RuleList.from_json(_bytes(model).decode())
    except UnicodeError:
        raise InvalidInput(f"model={model.name!r} is no model") from None
    items = Table.read(_cells(federation, source, reading)[0], federation.schema.target).items
    return Disguise(read_secret(key)).reveal(
        merged, [(items.columns[place], cell) for place, cell in items.pairs()]
    )


def _noise(
    federation: Federation,
    epsilon: float | None,
    ledger: Path | None,
    refuse: Callable[[Ledger], None] = lambda _: None,
) -> Protect | None:
    if epsilon is None:
        if ledger is not None:
            raise InvalidParameter("ledger: it pays for noise; say how much with epsilon")
        return None
    if federation.plan.how != "one-shot":
        raise InvalidParameter(
            f"epsilon={epsilon}: noise is for one-shot rules; this federation learns exactly"
        )
    from mahrem.dp import Ledger

    paying = None if ledger is None else Ledger.open(ledger)
    if paying is not None:
        refuse(paying)  # a ledger of other data would pay for nothing
    what = f"du-CBA, federation {federation.fingerprint()}"
    return lambda rules: perturb_rules(rules, epsilon, ledger=paying, what=what).rules


def run_federation(
    folder: Path,
    output: Path | None = None,
    *,
    clients: int | None = None,
    wait: float = 60.0,
    force: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Learn what a federation agreed on from the clients that are online, and write a run folder.

    Args:
        folder: What ``init`` made.
        output: The run folder; a new one under ``runs`` by default.
        clients: How many clients to wait for; all by default.
        wait: For how many seconds at most; then it goes on with those that are there, if they are enough.
        force: Replace a finished run.
        tell: Told about progress.

    Returns:
        The summary that also lies in the folder, with how the SuperLink says the run ended.

    Raises:
        Infeasible: If too few clients are online or stay to the end.
    """
    server = server_folder(folder)
    federation = Federation.read(folder / FILE)
    public = server / "sum.public"
    path = output or folder / "runs" / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    run = RunFolder.create(path, federation.plan, force=force, tell=tell)
    with run.recording():
        carried = FlowerRun.of(federation, server)
        carried.patience = wait
        with carried as grid:
            wanted = len(federation.clients) if clients is None else clients
            wait_for_clients(grid, wanted, federation.plan.least_clients, wait, tell)
            learnt = learn_plan(
                run.watch(grid),
                federation.schema.columns,
                federation.plan,
                _bytes(public) if public.is_file() else None,
            )
        if carried.status != "finished:completed":
            raise OutputFailed(f"the model was learnt, but the SuperLink says {carried.status!r} of its run")
        absent = {name: "not online" for name in federation.clients if name not in learnt.nodes}
        more = {
            "left_out": {**absent, **learnt.left_out},
            "run": carried.number,
            "superlink": carried.status,
            "federation": federation.fingerprint(),
        }
        return run.finish(learnt, grid.traffic, more)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"file={path.name!r} cannot be read: {error.strerror}") from None
