"""``mahrem train``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, option, speaks
from mahrem.cli._print import print_json, print_table, stages, while_read
from mahrem.cli._spec_options import spec_panels
from mahrem.learning.training import TrainingSettings

__all__ = ["train"]


def _speaks_training(verb: Callable[..., None]) -> Callable[..., None]:
    return speaks(verb, spec_panels(TrainingSettings, "train"))


@_speaks_training
def train(
    source: SOURCE,
    ledger: Annotated[Path, typer.Option("--ledger", help="The ledger that pays.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What the training may cost.")],
    output: Annotated[Path | None, option("-o --output", "DIR", "Folder for the model.")] = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier model in the folder.")] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only say what it would cost and whether it fits.")
    ] = False,
    json: JSON = False,
    quiet: QUIET = False,
    settings: dict[str, Any],
) -> None:
    """Train a private model; the ledger pays for every step before the first one.

    mahrem train adult.csv --ledger adult.ledger --target income --model dnn --epsilon 1 -o model/

    The ledger declares what is public: bounds, categories (those of the target are the classes) and the
    number of rows. Nothing of it is read off the data.
    """
    from mahrem.pipeline import train as verb

    with stages(quiet=quiet) as progress:
        trained = verb(
            source,
            ledger=ledger,
            epsilon=epsilon,
            output=output,
            force=force,
            plan=plan,
            progress=progress,
            **settings,
        )
    found = trained.as_dict()
    with while_read():
        if json:
            print_json(found)
        else:
            _show(found, quiet=quiet)
    if not trained.fits:
        raise typer.Exit(5)


def _show(found: dict[str, Any], *, quiet: bool) -> None:
    rows = [
        ("model", found["model"] + ("" if found["how"] == "gradients" else f" ({found['how']})")),
        ("columns", str(len(found["features"]))),
        ("cost", f"epsilon={found['epsilon']:.4g}, delta={found['delta']:g}"),
        (
            "paid",
            "yes" if found["spent"] else ("no, a plan that fits" if found["fits"] else "no: DOES NOT FIT"),
        ),
        ("left", f"epsilon={found['remaining']['epsilon']:.4g}"),
    ]
    if found["plan"] is not None:
        plan = found["plan"]
        rows.insert(2, ("steps", f"{plan['steps']:,} of about {plan['batch']:g} rows"))
        rows.insert(3, ("noise", f"{plan['noise']}, {plan['noise_multiplier']:.4g} clips"))
    if found["metrics"] is not None:
        measured = found["metrics"]
        value = "-" if measured["value"] is None else f"{measured['value']:.4f}"
        more = f" +- {measured['error']:.4f}, private" if measured["private"] else ", NOT PRIVATE"
        rows.append((measured["metric"], value + more))
    if found["audit"] is not None:
        seen = found["audit"]
        rows.append(("claimed", f"epsilon at most {seen['claimed']:.4g}"))
        limits = f"{seen['canaries']:,} canaries can show {seen['ceiling']:.4g} at most"
        sure = f"{seen['confidence']:.0%} sure; {limits}"
        rows.append(("audited", f"epsilon at least {seen['epsilon']:.4g} ({sure})"))
    if found["seconds"] is not None:
        rows.append(("seconds", f"{found['seconds']:.1f}"))
    print_table(("figure", "value"), rows)
    if not quiet:
        typer.echo(f"\n{found['guarantee']}")
        if found["folder"] is not None:
            typer.echo(f"written: {found['folder']}")
