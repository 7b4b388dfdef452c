"""``mahrem federate run``, ``simulate`` and ``reveal``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._federate_learning import SILOS, print_learning, silo_policies
from mahrem.cli._federate_options import (
    DIR,
    FEDERATION,
    MANY,
    learns,
    plan_from,
    speaks_plan,
    take_reading,
    teller,
)
from mahrem.cli._federate_shapes import LABEL_EPSILON, SHAPE, print_shape, simulated_shape
from mahrem.cli._options import JSON, QUIET, SOURCE, option, speaks_source
from mahrem.cli._print import print_json, print_table
from mahrem.errors import InvalidParameter
from mahrem.typed import listed

__all__ = ["reveal", "run", "simulate"]

FORCE = Annotated[bool, typer.Option("--force", help="Replace a finished run.")]
BYTES = Annotated[
    int | None, option("--byte-budget", "N", "Stop before more bytes than this went both ways.")
]


@speaks_source
def run(
    folder: DIR,
    output: Annotated[
        Path | None, option("-o --output", "DIR", "The run folder; a new one under DIR/runs by default.")
    ] = None,
    resume: Annotated[
        Path | None, option("--resume", "DIR", "Go on after the last round of this run folder.")
    ] = None,
    clients: Annotated[int | None, option("--clients", "N", "Wait for so many; all by default.")] = None,
    wait: Annotated[float, typer.Option("--wait", help="Seconds to wait for them.")] = 60.0,
    test: Annotated[
        str | None, option("--test", "SOURCE", "Untouched rows to judge weights or trees by.")
    ] = None,
    vet_by: Annotated[
        str | None, option("--vet-by", "SOURCE", "Rows no client has, to judge updates by (--held-out).")
    ] = None,
    byte_budget: BYTES = None,
    *,
    force: FORCE = False,
    json: JSON = False,
    quiet: QUIET = False,
    settings: dict[str, Any],
) -> None:
    """Learn what was agreed from the clients that are online; waits for the true end.

    mahrem federate run study
    mahrem federate run study --resume study/runs/20261115-170750-7851
    """
    from mahrem.federated import run_federation

    summary = run_federation(
        folder,
        output,
        resume=resume,
        clients=clients,
        wait=wait,
        test=test,
        vet_by=vet_by,
        byte_budget=byte_budget,
        force=force,
        reading=take_reading(settings),
        tell=teller(quiet=quiet),
    )
    _report(summary, json=json)


@speaks_source
def reveal(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="model.json or model.npz of a run.")],
    file: FEDERATION,
    disguise: Annotated[Path, option("--disguise", "FILE", "The clients' key of dummies.")],
    source: Annotated[str | None, typer.Argument(metavar="[SOURCE]", help="Rules: a client's table.")] = None,
    output: Annotated[
        Path | None, option("-o --output", "FILE", "Weights: the file to write without dummies.")
    ] = None,
    *,
    json: JSON = False,
    settings: dict[str, Any],
) -> None:
    """Take the dummies out of a model that clients mixed in: rules are printed, weights written to a file.

    mahrem federate reveal model.json federation.toml patients.csv --disguise rules.key
    mahrem federate reveal model.npz federation.toml --disguise weights.key -o open.npz
    """
    from mahrem.federated import Federation, reveal_model, reveal_weights

    if Federation.read(file).learns:
        if output is None or source is not None:
            raise InvalidParameter("output: weights are written to a file (-o FILE) and need no table")
        reveal_weights(file, model, disguise, output)
        typer.echo(f"{output}: weights without dummies")
        return
    if source is None or output is not None:
        raise InvalidParameter("source: rules are printed (no -o), in the cells of a client's table: name it")
    found = reveal_model(file, model, source, disguise, reading=take_reading(settings))
    typer.echo(found.to_json() if json else str(found))


def _speaks_simulation(verb: Callable[..., None]) -> Any:
    return speaks_plan(verb, {"Silos": SILOS})


@_speaks_simulation
def simulate(
    source: SOURCE,
    target: Annotated[str, option("--target", "COL", "The column to predict.")],
    output: Annotated[Path, option("-o --output", "DIR", "The run folder; one that was stopped goes on.")],
    clients: Annotated[int, typer.Option("--clients", help="How many clients.", min=1)] = 3,
    split: Annotated[str, typer.Option("--split", help="iid, skewed (by class) or dirichlet.")] = "iid",
    alpha: Annotated[float, typer.Option("--alpha", help="How even --split dirichlet is.")] = 0.5,
    by: Annotated[str | None, option("--by", "COL", "One client for each value of a column.")] = None,
    columns: Annotated[MANY, option("--columns", "A,B", "Learn from these only.")] = None,
    bins: Annotated[
        str | None,
        option("--bins", "NAME", "Rules cut numbers: supervised (default), quantile, width, none."),
    ] = None,
    test: Annotated[float, typer.Option("--test", help="Share of the rows kept to judge the model.")] = 0.2,
    seed: Annotated[int, typer.Option("--seed", help="Of all that is drawn.")] = 0,
    shape: SHAPE = None,
    label_epsilon: LABEL_EPSILON = None,
    byte_budget: BYTES = None,
    *,
    force: FORCE = False,
    json: JSON = False,
    quiet: QUIET = False,
    settings: dict[str, Any],
) -> None:
    """Share one table among clients in this process, learn, and compare with all rows together.

    mahrem federate simulate adult.csv --target income --clients 8 -o run/
    mahrem federate simulate adult.csv --target income --model mlp --anonymize k=3 -o run/
    mahrem federate simulate adult.csv --target income --shape u-shaped --rounds 10 -o run/
    """
    shared = {"clients": clients, "split": split, "alpha": alpha, "by": by, "test": test, "seed": seed}
    said: dict[str, Any] = {
        "target": target,
        "folder": output,
        "columns": None if columns is None else tuple(listed(columns)),
        "force": force,
        "reading": take_reading(settings),
        "tell": teller(quiet=quiet),
    }
    if shape is not None or label_epsilon is not None:
        more = {**settings, "bins": bins, "byte_budget": byte_budget, "label_epsilon": label_epsilon}
        _report(simulated_shape(source, shape, said, shared, more), json=json)
        return
    silos = silo_policies(settings.pop("anonymize", ()), settings.pop("quasi", ()))
    plan = plan_from(settings, {"sum": "plain"})
    if learns(settings):
        _refuse_other("rules", bins=bins)
        said |= {"plan": replace(plan, seed=seed), "byte_budget": byte_budget}
        summary = _simulated_learning(source, said, shared, silos)
    else:
        _refuse_other(
            "--model mlp, logistic or boosting", anonymize=silos[0] or silos[1], byte_budget=byte_budget
        )
        summary = _simulated_rules(source, {**said, **shared, "plan": plan, "bins": bins or "supervised"})
    _report(summary, json=json)


def _simulated_rules(source: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
    from mahrem.federated import simulate as verb

    return verb(source, **said)


def _simulated_learning(
    source: str, said: Mapping[str, Any], shared: Mapping[str, Any], silos: tuple[Any, Any]
) -> Mapping[str, Any]:
    from mahrem.federated import TableSharing, simulate_learning

    usual, single = silos
    return simulate_learning(source, shared=TableSharing(**shared), anonymise=usual, policies=single, **said)


def _refuse_other(kind: str, **said: Any) -> None:
    for name, value in said.items():
        if value:
            raise InvalidParameter(f"{name}: --{name.replace('_', '-')} goes with {kind}")


def _report(summary: Mapping[str, Any], *, json: bool) -> None:
    if json:
        print_json(summary)
    elif "shape" in summary:
        print_shape(summary)
    elif "rules" in summary:
        _print_rules(summary)
    else:
        print_learning(summary)
    for name, why in [] if json else summary["left_out"].items():
        typer.echo(f"left out: {name}: {why}")


def _print_rules(summary: Mapping[str, Any]) -> None:
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
        kept, all_rows = summary["accuracy"], summary["central_accuracy"]
        rows.append(("accuracy on kept rows", f"{kept:.4f} (all rows {all_rows:.4f})"))
    if "superlink" in summary:
        rows.append(("the SuperLink says", summary["superlink"]))
    rows.append(("folder", summary["folder"]))
    print_table(("figure", "value"), rows)
