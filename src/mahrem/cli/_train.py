"""``mahrem train``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, SOURCE_ROWS, Row, VerbSettings, speaks, spec_panels
from mahrem.cli._print import print_json, print_table, stages, while_read
from mahrem.learning.training import TrainingSettings

_OUTPUT: Sequence[Row] = (
    ("output", str | None, "-o --output", "DIR", "Folder for the model."),
    ("force", bool | None, "--force", None, "Replace an earlier model in the folder."),
    ("plan", bool | None, "--plan", None, "Only say what it would cost and whether it fits."),
)


def _speaks_training(verb: Callable[..., None]) -> Callable[..., None]:
    return speaks(verb, {"Output": _OUTPUT, **spec_panels(TrainingSettings, "train"), "Table": SOURCE_ROWS})


@_speaks_training
def train(
    source: SOURCE,
    ledger: Annotated[Path, typer.Option("--ledger", help="The ledger that pays.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What the training may cost.")],
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Train a private model; the ledger pays for every step before the first one.

    mahrem train adult.csv --ledger adult.ledger --target income --model dnn --epsilon 1 -o model/

    The ledger declares what is public: bounds, categories (those of the target are the classes) and the
    number of rows. Nothing of it is read off the data.
    """
    from mahrem.pipeline import train as verb

    with stages(quiet=quiet) as progress:
        trained = verb(source, ledger=ledger, epsilon=epsilon, progress=progress, **settings)
    report = trained.as_dict()
    with while_read():
        if json:
            print_json(report)
        else:
            _show(report, quiet=quiet)
    if not trained.fits:
        raise typer.Exit(5)


def _show(report: dict[str, Any], *, quiet: bool) -> None:
    rows = [
        ("model", report["model"] + ("" if report["how"] == "gradients" else f" ({report['how']})")),
        ("columns", str(len(report["features"]))),
        ("cost", f"epsilon={report['epsilon']:.4g}, delta={report['delta']:g}"),
        (
            "paid",
            "yes" if report["spent"] else ("no, a plan that fits" if report["fits"] else "no: DOES NOT FIT"),
        ),
        ("left", f"epsilon={report['remaining']['epsilon']:.4g}"),
    ]
    if report["plan"] is not None:
        plan = report["plan"]
        if "rounds" in plan:
            rows.insert(2, ("trees", f"{plan['rounds']:,}"))
            rows.insert(3, ("noise", f"{plan['noise']}, {plan['noise_multiplier']:.4g} budgets of a row"))
        else:
            rows.insert(2, ("steps", f"{plan['steps']:,} of about {plan['batch']:g} rows"))
            rows.insert(3, ("noise", f"{plan['noise']}, {plan['noise_multiplier']:.4g} clips"))
    if report["plan"] is not None and "repeats" in report["plan"]:
        plan = report["plan"]
        rows.append(("search", f"{plan['settings']} settings, about {plan['repeats']:g} trainings"))
    if report["chosen"] is not None:
        rows.append(("chosen", ", ".join(f"{name}={value}" for name, value in report["chosen"].items())))
    if report["metrics"] is not None:
        measured = report["metrics"]
        value = "-" if measured["value"] is None else f"{measured['value']:.4f}"
        more = f" +- {measured['error']:.4f}, private" if measured["private"] else ", NOT PRIVATE"
        rows.append((measured["metric"], value + more))
    if report["audit"] is not None:
        seen = report["audit"]
        rows.append(("claimed", f"epsilon at most {seen['claimed']:.4g}"))
        limits = f"{seen['canaries']:,} canaries can show {seen['ceiling']:.4g} at most"
        sure = f"{seen['confidence']:.0%} sure; {limits}"
        rows.append(("audited", f"epsilon at least {seen['epsilon']:.4g} ({sure})"))
    if report["seconds"] is not None:
        rows.append(("seconds", f"{report['seconds']:.1f}"))
    print_table(("figure", "value"), rows)
    if not quiet:
        typer.echo(f"\n{report['guarantee']}")
        if report["folder"] is not None:
            typer.echo(f"written: {report['folder']}")
