"""A federation on one machine, in one process: a table is shared out, all else is as over a wire."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.federated.rules import (
    RulesPlan,
    RulesResult,
    RulesSchema,
    RulesSilo,
    agreed_client,
    learn_plan,
    split_rows,
)
from mahrem.federated.runs._dirichlet import dirichlet_rows
from mahrem.federated.runs._folder import RunFolder
from mahrem.federated.sums import make_sum_keys
from mahrem.federated.wire import LocalGrid
from mahrem.learning.rules import EqualWidthBins, QuantileBins, RuleList, SupervisedBins, as_cells, cba
from mahrem.table import Kind, Reading, open_source, read_kind

__all__ = ["Bins", "Split", "rows_apart", "simulate", "split_table"]

Split: TypeAlias = Literal["iid", "skewed", "dirichlet"]
Bins: TypeAlias = Literal["supervised", "quantile", "width", "none"]
FEW = 10  # a column of numbers with at most so many values is left as it is


def rows_apart(
    whole: pl.DataFrame, count: int, seed: int | Sequence[int]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give the other rows, and so many drawn ones, which the seed and the number of rows find again."""
    shuffled = np.random.default_rng(seed).permutation(whole.height)
    return whole[np.sort(shuffled[count:])], whole[np.sort(shuffled[:count])]


def split_table(
    frame: pl.DataFrame,
    target: str,
    *,
    clients: int,
    split: Split = "iid",
    by: str | None = None,
    alpha: float = 0.5,
    seed: int = 0,
) -> dict[str, pl.DataFrame]:
    """Share a table's rows among clients.

    Args:
        frame: The table.
        target: The column to predict.
        clients: How many; not used with ``by``.
        split: ``iid`` at random; ``skewed`` sorted by class, so that most clients know few classes;
            ``dirichlet`` in between, see :func:`dirichlet_rows`.
        by: A column: one client for each of its values, which is then no longer learnt from.
        alpha: How even a ``dirichlet`` split is.
        seed: Of the random order.

    Guarantees:
        - Each row has one client.

    Example:
        >>> rows = pl.DataFrame({"house": ["a", "b", "a"], "x": ["1", "2", "3"], "y": ["n", "y", "y"]})
        >>> {name: part.height for name, part in split_table(rows, "y", clients=0, by="house").items()}
        {'client-1': 2, 'client-2': 1}
    """
    if by is not None:
        if by not in frame.columns:
            raise ColumnNotFound(by, frame.columns)
        parts = frame.partition_by(by, maintain_order=True, include_key=False)
    else:
        check.at_least(1, clients=check.whole(clients=clients))
        check.one_of(get_args(Split), split=split)
        labels = frame[target].cast(pl.String).fill_null("")
        if split == "dirichlet":
            codes = labels.rank("dense").cast(pl.Int64).to_numpy()
            places = dirichlet_rows(codes, clients, alpha, seed=seed)
        else:
            skew = labels.to_list() if split == "skewed" else None
            places = split_rows(frame.height, clients, seed=seed, skew=skew)
        parts = [frame[rows] for rows in places]
    width = len(str(len(parts)))
    return {f"client-{number:0{width}d}": part for number, part in enumerate(parts, 1)}


def simulate(
    source: object,
    target: str,
    folder: Path,
    plan: RulesPlan | None = None,
    *,
    clients: int = 3,
    split: Split = "iid",
    by: str | None = None,
    alpha: float = 0.5,
    bins: Bins = "supervised",
    columns: tuple[str, ...] | None = None,
    test: float = 0.2,
    seed: int = 0,
    force: bool = False,
    reading: Reading | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Run a federation of one table on this machine and write a run folder.

    Args:
        source: The table.
        target: The column to predict.
        folder: Where the run is written.
        plan: What is learnt.
        clients: How many clients.
        split: How rows are shared, see :func:`split_table`.
        by: A column whose values are the clients.
        alpha: How even a ``dirichlet`` split is.
        bins: How columns of numbers are cut; the cuts are found on all training rows, which a real
            federation cannot do: there they are agreed on before.
        columns: The columns to learn from; all others by default.
        test: Share of the rows that no client gets, to judge the model.
        seed: Of all that is drawn.
        force: Replace a finished run.
        reading: How to read the source.
        tell: Told about progress.

    Returns:
        The summary that also lies in the folder.
    """
    check.between(0, 0.9, test=test)
    check.one_of(get_args(Bins), bins=bins)
    chosen = plan or RulesPlan()
    whole = _read(source, target, by, columns, reading)
    names = tuple(name for name in whole.columns if name not in {target, by})
    if not names:
        raise InvalidParameter("columns=0: a table needs at least one besides the target")
    kept, held = rows_apart(whole, int(test * whole.height), seed)
    learning, judged = _binned(kept, held, names, target, bins)
    parts = split_table(learning, target, clients=clients, split=split, by=by, alpha=alpha, seed=seed)
    schema = RulesSchema(columns=names, target=target)
    run = RunFolder.create(folder, chosen, force=force, tell=tell)
    with run.recording():
        secret, public = make_sum_keys() if chosen.hides and chosen.sum == "homomorphic" else (None, None)
        grid = LocalGrid(
            {
                name: agreed_client(
                    chosen,
                    schema,
                    name,
                    RulesSilo(part.select(*names, target), target=target, least_count=chosen.least_count),
                    secret=secret,
                )
                for name, part in parts.items()
            }
        )
        learnt = learn_plan(run.watch(grid), names, chosen, public)
        more = _judged(learnt, learning, judged, names, target, chosen)
        drawn = {"clients": len(parts), "split": by or split, "seed": seed, "bins": bins}
        drawn |= {"target": target, "rows": whole.height, "test_rows": judged.height}
        return run.finish(learnt, {**more, "simulated": drawn})


def _read(
    source: object, target: str, by: str | None, columns: tuple[str, ...] | None, reading: Reading | None
) -> pl.DataFrame:
    opened = open_source(source, reading)
    wanted = opened.columns if columns is None else (*columns, target, *(() if by is None else (by,)))
    for name in (*wanted, target):
        if name not in opened.columns:
            raise ColumnNotFound(name, opened.columns)
    whole = opened.take(list(dict.fromkeys(wanted)))
    whole = whole.filter(pl.col(target).is_not_null())
    if whole.height == 0:
        raise InvalidInput("rows=0: no row of this table has a class")
    return whole


def _binned(
    learning: pl.DataFrame, judged: pl.DataFrame, names: tuple[str, ...], target: str, bins: Bins
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cut columns of numbers at places found on the rows to learn from."""
    if bins == "none":
        return learning, judged
    numbers = [
        name
        for name in names
        if read_kind(learning[name])[0] is Kind.NUMERIC and learning[name].n_unique() > FEW
    ]
    made: Any = {"supervised": SupervisedBins, "quantile": QuantileBins, "width": EqualWidthBins}[bins]
    cut = made(columns=numbers)
    as_numbers = [pl.col(name).cast(pl.Float64, strict=False) for name in numbers]
    first, second = learning.with_columns(as_numbers), judged.with_columns(as_numbers)
    cut.fit(first, first[target].cast(pl.String).to_list())
    return cut.transform(first), cut.transform(second)


def _judged(
    learnt: RulesResult,
    learning: pl.DataFrame,
    judged: pl.DataFrame,
    names: tuple[str, ...],
    target: str,
    plan: RulesPlan,
) -> dict[str, Any]:
    """Compare with CBA on all rows together, which only a simulation can do."""
    cells = as_cells(learning.select(*names, target))
    central = cba(cells.select(names), cells[target], plan.cba())
    raw = learning.select(*names, target).write_csv().encode()
    return {
        "equals_central": learnt.model == central if not learnt.left_out else None,
        "accuracy": _accuracy(learnt.model, judged, names, target),
        "central_accuracy": _accuracy(central, judged, names, target),
        "central_rules": len(central),
        "raw_bytes": len(raw),
        "model_bytes": len(learnt.model.to_json().encode()),
    }


def _accuracy(model: RuleList, judged: pl.DataFrame, names: tuple[str, ...], target: str) -> float | None:
    if judged.height == 0:
        return None
    cells = as_cells(judged.select(*names, target))
    said = np.array(model.classes)[model.decide(model.first(cells.select(names)))]
    return round(float((said == cells[target].to_numpy()).mean()), 6)
