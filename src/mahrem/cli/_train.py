"""``mahrem train``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, SOURCE_ROWS, Row, option, speaks
from mahrem.cli._print import print_json, print_table, stages, while_read

__all__ = ["train"]

_TEXT = str | None
_NUMBER = float | None
_FLAG = bool | None
_LEARNING: Sequence[Row] = (
    ("target", _TEXT, "--target", "COL", "The column to learn."),
    ("model", _TEXT, "--model", "NAME", "dnn (default), logistic, cnn, lstm, autoencoder, svm or linear."),
    ("how", _TEXT, "--how", "NAME", "Noise on gradients (default), objective, output or functional."),
    ("features", list[str] | None, "--features", "A,B", "Columns to learn from; default: all declared ones."),
    ("batch", _NUMBER, "--batch", "N", "Expected size of a batch."),
    ("epochs", _NUMBER, "--epochs", "N", "How often each row is seen."),
    ("clip", _NUMBER, "--clip", "X", "Largest norm of a gradient."),
    ("noise", _TEXT, "--noise", "KIND", "gaussian (default) or laplace."),
    ("learning_rate", _NUMBER, "--learning-rate", "X", "Size of a step."),
    ("optimiser", _TEXT, "--optimiser", "NAME", "sgd (default) or adam."),
    ("hidden", _TEXT, "--hidden", "64,32", "Sizes of hidden layers."),
    ("shape", _TEXT, "--shape", "1,28,28", "Shape of a row, for cnn and lstm."),
    ("device", _TEXT, "--device", "NAME", "auto (default), cpu, cuda …"),
    ("checkpoint", Path | None, "--checkpoint", "FILE", "Private file to go on from after an interruption."),
    (
        "accept_no_amplification",
        _FLAG,
        "--accept-no-amplification",
        None,
        "Accept that an epoch costs a step over all rows.",
    ),
)
_MEASURING: Sequence[Row] = (
    ("holdout", _NUMBER, "--holdout", "0..1", "Share of the rows kept away from training, to measure on."),
    ("evaluate_epsilon", _NUMBER, "--evaluate-epsilon", "X", "Measure on them privately, for this much."),
    ("evaluate_openly", _FLAG, "--evaluate-openly", None, "Measure without noise: NOT a private figure."),
    ("audit", _FLAG, "--audit", None, "Also say what epsilon is at least, by canaries in the training."),
    ("canaries", int | None, "--canaries", "N", "Made-up rows for --audit; default: a 20th of the rows."),
)


def _speaks_training(verb: Callable[..., None]) -> Callable[..., None]:
    return speaks(verb, {"Model": _LEARNING, "Measuring": _MEASURING, "Table": SOURCE_ROWS})


@_speaks_training
def train(
    source: SOURCE,
    ledger: Annotated[Path, typer.Option("--ledger", help="The ledger that pays.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What the training may cost.")],
    delta: Annotated[float | None, option("--delta", "X", "The same; by default the ledger's.")] = None,
    output: Annotated[Path | None, option("-o --output", "DIR", "Folder for the model.")] = None,
    *,
    no_poisson: Annotated[
        bool, typer.Option("--no-poisson", help="No Poisson samples; needs --accept-no-amplification.")
    ] = False,
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
            delta=delta,
            output=output,
            force=force,
            poisson=not no_poisson,
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
