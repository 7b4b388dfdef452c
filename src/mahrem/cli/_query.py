"""``mahrem query``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, speaks_source
from mahrem.cli._print import print_json, print_table, while_read

__all__ = ["query"]


@speaks_source
def query(
    source: SOURCE,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help='For example "mean(cost) by sex where age >= 18".')
    ],
    ledger: Annotated[Path, typer.Option("--ledger", help="The ledger that pays.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What the answer may cost.")],
    delta: Annotated[float, typer.Option("--delta", help="The same, for Gaussian noise.")] = 0.0,
    mechanism: Annotated[
        str | None, typer.Option("--mechanism", help="laplace (default) or gaussian (with --delta).")
    ] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", help="How likely each error bar holds.")
    ] = 0.95,
    *,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only say how far off it would be; nothing is spent.")
    ] = False,
    json: JSON = False,
    quiet: QUIET = False,
    settings: dict[str, Any],
) -> None:
    """Answer a question privately; the ledger pays before any value is looked at.

    mahrem query patients.parquet --ledger patients.ledger "mean(cost) by sex" --epsilon 0.5

    Questions: count() sum(x) mean(x) variance(x) median(x) quantile(x, 0.9) range(x) histogram(x) bounds(x),
    then: by a, b (columns with declared values) and: where x >= 18 and y = 'a' and z in ('a', 'b').
    """
    from mahrem.pipeline import query as verb

    answer = verb(
        source,
        question,
        ledger=ledger,
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        confidence=confidence,
        plan=plan,
        **settings,
    )
    with while_read():
        if json:
            print_json(answer.as_dict())
        else:
            _show(answer.as_dict(), quiet=quiet)
    if not answer.fits:
        raise typer.Exit(5)


def _show(answer: dict[str, Any], *, quiet: bool) -> None:
    rows = answer["rows"]
    head = [name for name in rows[0] if any(row.get(name) is not None for row in rows)]
    print_table(head, [[_cell(row.get(name)) for name in head] for row in rows])
    if quiet:
        return
    delta = f", delta={answer['delta']:g}" if answer["delta"] else ""
    paid = "spent" if answer["spent"] else ("would cost" if answer["fits"] else "DOES NOT FIT:")
    typer.echo(
        f"\n{paid} epsilon={answer['epsilon']:g}{delta} ({answer['mechanism']}, {answer['relation']}, "
        f"unit {answer['unit']['kind']}); {answer['remaining']['epsilon']:.4g} left; "
        f"error bars hold with {answer['confidence']:.0%}"
    )
    for note in answer["notes"]:
        typer.echo(f"note: {note}")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
