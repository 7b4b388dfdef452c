"""``mahrem federate run`` and ``mahrem federate simulate``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._federate_learning import (
    AGGREGATE,
    ALPHA,
    ANONYMIZE,
    DEPTH,
    EPOCHS,
    FRACTION,
    MALICIOUS,
    MODEL,
    PROXIMAL,
    QUASI,
    RATE,
    ROUNDS,
    learn,
)
from mahrem.cli._federate_options import (
    CONFIDENCE,
    DIR,
    HOW,
    LEAST_CLIENTS,
    LEAST_COUNT,
    LONGEST,
    MANY,
    RECOUNT,
    SUM,
    SUPPORT,
    listed,
    option,
    plan,
    reading,
    teller,
)
from mahrem.cli._options import JSON, QUIET, SOURCE
from mahrem.cli._print import print_json, print_table
from mahrem.cli._query import DECIMAL, DELIMITER, ENCODING, NULL, SQL, TABLE
from mahrem.errors import InvalidParameter

__all__ = ["reveal", "run", "simulate"]

FORCE = Annotated[bool, typer.Option("--force", help="Replace a finished run.")]


def run(
    folder: DIR,
    output: Annotated[
        Path | None, option("-o --output", "DIR", "The run folder; a new one under DIR/runs by default.")
    ] = None,
    clients: Annotated[int | None, option("--clients", "N", "Wait for so many; all by default.")] = None,
    wait: Annotated[float, typer.Option("--wait", help="Seconds to wait for them.")] = 60.0,
    *,
    force: FORCE = False,
    json: JSON = False,
    quiet: QUIET = False,
) -> None:
    """Learn what was agreed from the clients that are online; waits for the true end.

    mahrem federate run study
    """
    from mahrem.federated import run_federation

    _report(
        run_federation(folder, output, clients=clients, wait=wait, force=force, tell=teller(quiet=quiet)),
        json=json,
    )


def reveal(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="model.json of a run with dummies.")],
    file: Annotated[Path, typer.Argument(metavar="FEDERATION", help="The federation file.")],
    source: SOURCE,
    disguise: Annotated[Path, option("--disguise", "FILE", "The clients' key of dummy rules.")],
    null: NULL = None,
    delimiter: DELIMITER = None,
    encoding: ENCODING = None,
    decimal: DECIMAL = None,
    table: TABLE = None,
    sql: SQL = None,
    *,
    json: JSON = False,
) -> None:
    """Print a model without the dummies that clients mixed in, in the cells of a client's table.

    mahrem federate reveal model.json federation.toml patients.csv --disguise rules.key
    """
    from mahrem.federated import reveal_model

    how = reading(null=null, delimiter=delimiter, encoding=encoding, decimal=decimal, table=table, query=sql)
    found = reveal_model(file, model, source, disguise, reading=how)
    typer.echo(found.to_json() if json else str(found))


def simulate(
    source: SOURCE,
    target: Annotated[str, option("--target", "COL", "The column to predict.")],
    output: Annotated[Path, option("-o --output", "DIR", "The run folder.")],
    clients: Annotated[int, typer.Option("--clients", help="How many clients.", min=1)] = 3,
    split: Annotated[str, typer.Option("--split", help="iid, skewed (by class) or dirichlet.")] = "iid",
    by: Annotated[str | None, option("--by", "COL", "One client for each value of a column.")] = None,
    columns: Annotated[MANY, option("--columns", "A,B", "Learn from these only.")] = None,
    bins: Annotated[
        str, typer.Option("--bins", help="How numbers are cut: supervised, quantile, width or none.")
    ] = "supervised",
    test: Annotated[float, typer.Option("--test", help="Share of the rows kept to judge the model.")] = 0.2,
    seed: Annotated[int, typer.Option("--seed", help="Of all that is drawn.")] = 0,
    model: MODEL = "du-cba",
    anonymize: ANONYMIZE = None,
    quasi: QUASI = None,
    alpha: ALPHA = 0.5,
    rounds: ROUNDS = 60,
    epochs: EPOCHS = 1,
    rate: RATE = None,
    aggregate: AGGREGATE = "mean",
    malicious: MALICIOUS = 1,
    proximal: PROXIMAL = 0.0,
    fraction: FRACTION = 1.0,
    depth: DEPTH = 4,
    how: HOW = "exact",
    sum_: SUM = "plain",
    support: SUPPORT = 0.2,
    confidence: CONFIDENCE = 0.5,
    longest: LONGEST = None,
    least_clients: LEAST_CLIENTS = 2,
    least_count: LEAST_COUNT = 1,
    null: NULL = None,
    delimiter: DELIMITER = None,
    encoding: ENCODING = None,
    decimal: DECIMAL = None,
    table: TABLE = None,
    sql: SQL = None,
    *,
    recount: RECOUNT = False,
    force: FORCE = False,
    json: JSON = False,
    quiet: QUIET = False,
) -> None:
    """Share one table among clients in this process, learn, and compare with all rows together.

    mahrem federate simulate adult.csv --target income --clients 8 -o run/
    mahrem federate simulate adult.csv --target income --model mlp --anonymize k=3 -o run/
    """
    from mahrem.federated import simulate as verb

    read = reading(null=null, delimiter=delimiter, encoding=encoding, decimal=decimal, table=table, query=sql)
    chosen_columns = None if columns is None else tuple(listed(columns))
    tell = teller(quiet=quiet)
    if model != "du-cba":
        learn(
            source,
            {"target": target, "folder": output, "columns": chosen_columns, "force": force, "reading": read,
             "tell": tell},
            {"model": model, "rounds": rounds, "epochs": epochs, "rate": rate, "aggregate": aggregate,
             "malicious": malicious, "proximal": proximal, "sum": sum_, "fraction": fraction,
             "least_clients": least_clients, "depth": depth, "seed": seed},
            {"clients": clients, "split": split, "alpha": alpha, "by": by, "test": test, "seed": seed},
            anonymize or (),
            listed(quasi or ()),
            json=json,
        )  # fmt: skip
        return
    if anonymize:
        raise InvalidParameter("anonymize: --anonymize goes with --model mlp, logistic or boosting")
    chosen = plan(
        how=how,
        sum=sum_,
        support=support,
        confidence=confidence,
        longest=longest,
        least_clients=least_clients,
        least_count=least_count,
        recount=recount,
    )
    summary = verb(
        source,
        target,
        output,
        chosen,
        clients=clients,
        split=split,  # type: ignore[arg-type]
        by=by,
        bins=bins,  # type: ignore[arg-type]
        columns=chosen_columns,
        test=test,
        seed=seed,
        force=force,
        reading=read,
        tell=tell,
    )
    _report(summary, json=json)


def _report(summary: Mapping[str, Any], *, json: bool) -> None:
    if json:
        print_json(summary)
        return
    rows = [
        ("rules", f"{summary['rules']:,} from {summary['rows']:,} rows"),
        ("exact", "yes" if summary["exact"] else "no: " + "; ".join(summary["why_not_exact"])),
        ("clients", f"{len(summary['clients'])}, left out {len(summary['left_out'])}"),
        ("exchanges", f"{summary['exchanges']}"),
        ("bytes up, down", f"{summary['bytes']['up']:,}, {summary['bytes']['down']:,}"),
        ("seconds", f"{summary['seconds']:g}"),
    ]
    if summary.get("equals_central") is not None:
        rows.append(("equals CBA on all rows", "yes" if summary["equals_central"] else "no"))
    if summary.get("accuracy") is not None:
        rows.append(
            (
                "accuracy on kept rows",
                f"{summary['accuracy']:.4f} (all rows {summary['central_accuracy']:.4f})",
            )
        )
    if "superlink" in summary:
        rows.append(("the SuperLink says", summary["superlink"]))
    rows.append(("folder", summary["folder"]))
    print_table(("figure", "value"), rows)
    for name, why in summary["left_out"].items():
        typer.echo(f"left out: {name}: {why}")
