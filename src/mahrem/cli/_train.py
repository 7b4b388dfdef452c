"""``mahrem train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE
from mahrem.cli._print import print_json, print_table, stages, while_read
from mahrem.cli._query import DECIMAL, DELIMITER, ENCODING, NULL, SQL, TABLE
from mahrem.errors import InvalidParameter

__all__ = ["train"]


def _option(spelling: str, metavar: str | None, means: str) -> Any:
    return typer.Option(*spelling.split(), metavar=metavar, help=means, show_default=False)


def train(
    source: SOURCE,
    ledger: Annotated[Path, typer.Option("--ledger", help="The ledger that pays.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What the training may cost.")],
    delta: Annotated[float | None, _option("--delta", "X", "The same; by default the ledger's.")] = None,
    target: Annotated[str | None, _option("--target", "COL", "The column to learn.")] = None,
    model: Annotated[
        str, typer.Option("--model", help="logistic, dnn, cnn, lstm, autoencoder, svm or linear.")
    ] = "dnn",
    how: Annotated[
        str, typer.Option("--how", help="Where noise goes: gradients, objective, output or functional.")
    ] = "gradients",
    features: Annotated[
        list[str] | None, _option("--features", "A,B", "Columns to learn from; default: all declared ones.")
    ] = None,
    output: Annotated[Path | None, _option("-o --output", "DIR", "Folder for the model.")] = None,
    holdout: Annotated[
        float, typer.Option("--holdout", help="Share of the rows kept away from training, to measure on.")
    ] = 0.0,
    evaluate_epsilon: Annotated[
        float | None, _option("--evaluate-epsilon", "X", "Measure on them privately, for this much.")
    ] = None,
    batch: Annotated[float | None, _option("--batch", "N", "Expected size of a batch.")] = None,
    epochs: Annotated[float | None, _option("--epochs", "N", "How often each row is seen.")] = None,
    clip: Annotated[float | None, _option("--clip", "X", "Largest norm of a gradient.")] = None,
    noise: Annotated[str | None, _option("--noise", "KIND", "gaussian (default) or laplace.")] = None,
    learning_rate: Annotated[float | None, _option("--learning-rate", "X", "Size of a step.")] = None,
    optimiser: Annotated[str | None, _option("--optimiser", "NAME", "sgd (default) or adam.")] = None,
    hidden: Annotated[str | None, _option("--hidden", "64,32", "Sizes of hidden layers.")] = None,
    shape: Annotated[str | None, _option("--shape", "1,28,28", "Shape of a row, for cnn and lstm.")] = None,
    device: Annotated[str | None, _option("--device", "NAME", "auto (default), cpu, cuda …")] = None,
    checkpoint: Annotated[
        Path | None, _option("--checkpoint", "FILE", "Private file to go on from after an interruption.")
    ] = None,
    canaries: Annotated[
        int | None, _option("--canaries", "N", "Made-up rows for --audit; default: a 20th of the rows.")
    ] = None,
    null: NULL = None,
    delimiter: DELIMITER = None,
    encoding: ENCODING = None,
    decimal: DECIMAL = None,
    table: TABLE = None,
    sql: SQL = None,
    *,
    evaluate_openly: Annotated[
        bool, typer.Option("--evaluate-openly", help="Measure without noise; that figure is not private.")
    ] = False,
    no_poisson: Annotated[
        bool, typer.Option("--no-poisson", help="Batches that are no Poisson samples; see the next option.")
    ] = False,
    accept_no_amplification: Annotated[
        bool,
        typer.Option("--accept-no-amplification", help="Accept that an epoch costs a step over all rows."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier model in the folder.")] = False,
    audit: Annotated[
        bool, typer.Option("--audit", help="Also say what epsilon is at least, by canaries in the training.")
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only say what it would cost and whether it fits.")
    ] = False,
    json: JSON = False,
    quiet: QUIET = False,
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
            delta=delta,
            target=target,
            model=model,
            how=how,
            features=None if not features else [name for text in features for name in text.split(",")],
            output=output,
            force=force,
            holdout=holdout,
            evaluate_epsilon=evaluate_epsilon,
            evaluate_openly=evaluate_openly,
            batch=batch,
            epochs=epochs,
            clip=clip,
            noise=noise,
            learning_rate=learning_rate,
            optimiser=optimiser,
            hidden=_sizes("hidden", hidden),
            shape=_sizes("shape", shape),
            device=device,
            checkpoint=checkpoint,
            poisson=not no_poisson,
            accept_no_amplification=accept_no_amplification,
            audit=audit,
            canaries=canaries,
            plan=plan,
            progress=progress,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,  # type: ignore[arg-type]
            null=null or (),
            table=table,
            sql=sql,
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


def _sizes(name: str, text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.replace("x", ",").split(",")]
    except ValueError:
        raise InvalidParameter(f"{name}={text!r} must be whole numbers, separated by commas") from None
