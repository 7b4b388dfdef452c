"""``mahrem federate run``, ``simulate`` and ``reveal``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, Row, VerbSettings, option, speaks_source
from mahrem.cli._print import print_json
from mahrem.cli.federating._learning import SILOS, silo_policies
from mahrem.cli.federating._options import (
    DIR,
    FEDERATION,
    LANGUAGE,
    MANY,
    plan_from,
    plan_panels,
    rows_of_spec,
    speaks_rows,
    take_reading,
    take_settings,
    teller,
)
from mahrem.cli.federating._shapes import SIMULATED_SHAPE, shape_simulation
from mahrem.cli.federating._tables import print_summary
from mahrem.errors import InvalidParameter
from mahrem.federated.runs import BINS, RunSettings, TableSharing
from mahrem.federated.weights import LearningPlan
from mahrem.typed import listed


@speaks_rows({"Run": rows_of_spec(RunSettings)})
def run(
    folder: DIR,
    language: LANGUAGE = "en",
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Learn what was agreed from the clients that are online; waits for the true end.

    mahrem federate run study
    mahrem federate run study --resume study/runs/20261115-170750-7851
    """
    from mahrem.federated import run_federation

    own = RunSettings(**take_settings(RunSettings, settings))
    tell = teller(quiet=quiet, language=language)
    summary = run_federation(folder, own, reading=take_reading(settings), tell=tell)
    _report(summary, language, json=json)


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
    settings: VerbSettings,
) -> None:
    """Take the dummies out of a model that clients mixed in: rules are printed, weights written to a file.

    mahrem federate reveal model.json federation.toml patients.csv --disguise rules.key
    mahrem federate reveal model.npz federation.toml --disguise weights.key -o open.npz
    """
    from mahrem.federated import Federation, WeightsTask, reveal_model, reveal_weights

    if isinstance(Federation.read(file).task, WeightsTask):
        if output is None or source is not None:
            raise InvalidParameter("output: weights are written to a file (-o FILE) and need no table")
        reveal_weights(file, model, disguise, output)
        typer.echo(f"{output}: weights without dummies")
        return
    if source is None or output is not None:
        raise InvalidParameter("source: rules are printed (no -o), in the cells of a client's table: name it")
    rules = reveal_model(file, model, source, disguise, reading=take_reading(settings))
    typer.echo(rules.to_json() if json else str(rules))


_SIMULATION: Sequence[Row] = (
    ("columns", MANY, "--columns", "A,B", "Learn from these only."),
    (
        "bins",
        str | None,
        "--bins",
        "NAME",
        f"Rules cut numbers: {', '.join(BINS)}, none; default supervised.",
    ),
    *rows_of_spec(RunSettings, only=("byte_budget", "force")),
    *SIMULATED_SHAPE,
)


@speaks_rows(
    {
        "Simulation": _SIMULATION,
        "Clients": rows_of_spec(TableSharing),
        "Silos": SILOS,
        **plan_panels(leave_out=("seed",)),
    }
)
def simulate(
    source: SOURCE,
    target: Annotated[str, option("--target", "COL", "The column to predict.")],
    output: Annotated[Path, option("-o --output", "DIR", "The run folder; one that was stopped goes on.")],
    language: LANGUAGE = "en",
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Share one table among clients in this process, learn, and compare with all rows together.

    mahrem federate simulate adult.csv --target income --clients 8 -o run/
    mahrem federate simulate adult.csv --target income --model mlp --anonymize k=3 -o run/
    mahrem federate simulate adult.csv --target income --shape u-shaped --rounds 10 -o run/
    """
    from mahrem.federated import simulate as verb

    columns, force = settings.pop("columns", None), settings.pop("force", False)
    reading = take_reading(settings)
    shaped = "shape" in settings or "label_epsilon" in settings
    simulation = shape_simulation(settings) if shaped else _simulation(settings)
    summary = verb(
        source,
        target,
        output,
        simulation,
        columns=None if columns is None else tuple(listed(columns)),
        force=force,
        reading=reading,
        tell=teller(quiet=quiet, language=language),
    )
    _report(summary, language, json=json)


def _simulation(settings: VerbSettings) -> Any:
    """Say what is simulated; what belongs to another kind is refused."""
    from mahrem.federated import RulesSimulation, WeightsSimulation

    sharing = TableSharing(**take_settings(TableSharing, settings))
    anonymise, policies = silo_policies(settings.pop("anonymize", ()), settings.pop("quasi", ()))
    bins, byte_budget = settings.pop("bins", None), settings.pop("byte_budget", None)
    plan = plan_from(settings, "plain")
    if isinstance(plan, LearningPlan):
        _refuse_other("rules", bins=bins)
        return WeightsSimulation(
            plan=replace(plan, seed=sharing.seed),
            sharing=sharing,
            anonymise=anonymise,
            policies=policies,
            byte_budget=byte_budget,
        )
    _refuse_other(
        "--model mlp, logistic or boosting", anonymize=anonymise or policies, byte_budget=byte_budget
    )
    return RulesSimulation(plan=plan, sharing=sharing, bins=bins or "supervised")


def _refuse_other(kind: str, **given: Any) -> None:
    for name, value in given.items():
        if value:
            raise InvalidParameter(f"{name}: --{name.replace('_', '-')} goes with {kind}")


def _report(summary: Mapping[str, Any], language: str, *, json: bool) -> None:
    if json:
        print_json(summary)
    else:
        print_summary(summary, language)
