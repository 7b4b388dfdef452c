"""How much does privacy add to a query, and how fast is the accounting?

A private count over a DuckDB table against the plain count, both from opening the file on; every private
count appends a line to its ledger and syncs it to disk. The accounting of 10,000 steps of private training
against the same by dp-accounting without us. A step of private training (a small CNN on images of 28 x 28,
batch 256; ours with sampling and noise from its secret stream) against the same by Opacus' PrivacyEngine
with hooks, and against a plain step of PyTorch. Repeats are interleaved and the minimum counts.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dp_accounting as da
import duckdb
from _timing import Row, interleaved, print_json

from mahrem.dp import Ledger, Relation
from mahrem.dp.accounting import Spend, composed_cost, foreign
from mahrem.dp.accounting import _accounting as accounting
from mahrem.dp.queries import answer_query

STEPS = 10_000
COUNTS = {
    "count()": "SELECT COUNT(*) FROM t",
    "count() where x >= 50": "SELECT COUNT(*) FROM t WHERE x >= 50",
    "sum(x) by g": "SELECT g, SUM(x) FROM t GROUP BY g",
}


class Options(argparse.Namespace):
    """What the command line says."""

    json: bool
    rows: int
    repeats: int


def both(ours: Callable[[], object], theirs: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Run both in turn; gives the shortest time of each."""
    best = interleaved({"ours": ours, "theirs": theirs}, repeats)
    return best["ours"], best["theirs"]


def row(case: str, n: int, baseline: str, seconds: tuple[float, float]) -> Row:
    return {
        "case": case,
        "n": n,
        "seconds": seconds[0],
        "baseline": baseline,
        "baseline_seconds": seconds[1],
        "ratio": seconds[0] / seconds[1],
        "peak_mb": None,
    }


def queries(folder: Path, rows: int, repeats: int) -> list[Row]:
    path = folder / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i % 100 AS x, chr(CAST(97 + i % 3 AS INTEGER)) AS g FROM range(?) r(i)",
            [rows],
        )
    facts: dict[str, dict[str, Any]] = {"x": {"lower": 0, "upper": 100}, "g": {"categories": ["a", "b", "c"]}}
    ledger = Ledger.create(folder / "L", path, epsilon=20.0, delta=1e-9, columns=facts)

    def plain(sql: str) -> object:
        with duckdb.connect(str(path), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    found = []
    for question, sql in COUNTS.items():

        def private(asked: str = question) -> object:
            return answer_query(path, asked, ledger=ledger, epsilon=0.1)

        private()
        times = both(private, lambda said=sql: plain(said), repeats)  # type: ignore[misc]
        found.append(row(question, rows, "the same, not private", times))
    return found


def training(repeats: int) -> Row:
    step = da.PoissonSampledDpEvent(256 / 60_000, da.GaussianDpEvent(1.1))
    event = da.SelfComposedDpEvent(step, STEPS)
    spend = Spend(foreign(event), float("inf"), 1.0)

    def ours() -> object:
        accounting._single.cache_clear()  # noqa: SLF001 - a fresh process has nothing cached
        accounting._NEWEST.clear()  # noqa: SLF001 - the same
        return composed_cost([spend], 1e-5, Relation.ADD_REMOVE).epsilon

    def theirs() -> object:
        accountant = da.pld.PLDAccountant()
        return accountant.compose(event).get_epsilon(1e-5)

    return row("accounting of 10,000 steps", STEPS, "dp-accounting by hand", both(ours, theirs, repeats))


def steps(repeats: int, batch: int = 256) -> list[Row]:
    """Time single steps; Opacus and plain PyTorch get their batch ready made."""
    import warnings

    import torch
    from opacus import PrivacyEngine
    from torch.nn.functional import cross_entropy

    from mahrem.learning.private import NETWORKS, TrainingPlan, new_stream
    from mahrem.learning.private.steps import Compute, PrivateSteps, StepExamples

    rows = 10_000
    images, labels = torch.rand(rows, 1, 28, 28), torch.randint(0, 10, (rows,))
    some, truth = images[:batch], labels[:batch]
    plan = TrainingPlan.make(rows=rows, batch=batch, steps=10**6, noise_multiplier=1.0, delta=1e-5)

    def losses(outputs: Any, targets: Any) -> Any:
        return cross_entropy(outputs, targets, reduction="none")

    model = NETWORKS["cnn"]((1, 28, 28), 10)
    private = PrivateSteps(
        model, plan, losses, StepExamples(images, labels), stream=new_stream(), compute=Compute(device="cpu")
    )
    plain = NETWORKS["cnn"]((1, 28, 28), 10)
    descent = torch.optim.SGD(plain.parameters(), lr=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Opacus says that its noise is not secure
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), batch_size=batch)
        peer = NETWORKS["cnn"]((1, 28, 28), 10)
        hooked, noisy, _ = PrivacyEngine().make_private(
            module=peer,
            optimizer=torch.optim.SGD(peer.parameters(), lr=0.1),
            data_loader=loader,
            noise_multiplier=1.0,
            max_grad_norm=1.0,
        )

    def step(network: Any, optimiser: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimiser.zero_grad()
            loss: Any = cross_entropy(network(some), truth)
            loss.backward()
            optimiser.step()

    case = f"private step, batch {batch}"
    times = both(private.take, lambda: step(hooked, noisy), repeats)
    found = [row(case, batch, "Opacus PrivacyEngine, hooks", times)]
    times = both(private.take, lambda: step(plain, descent), repeats)
    return [*found, row(case, batch, "plain PyTorch", times)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args(namespace=Options())
    with tempfile.TemporaryDirectory() as name:
        os.environ["MAHREM_STATE"] = name
        found = [*queries(Path(name), options.rows, options.repeats), training(max(3, options.repeats // 2))]
        found += steps(2 * options.repeats)
    if options.json:
        print_json(found)
        return
    for one in found:
        more = one["seconds"] - one["baseline_seconds"]
        print(
            f"{one['case']:30} {one['seconds'] * 1e3:9.1f} ms  {one['baseline']} "
            f"{one['baseline_seconds'] * 1e3:.1f} ms  ratio {one['ratio']:.2f}  (+{more * 1e3:.1f} ms)"
        )


if __name__ == "__main__":
    main()
