"""``mahrem query``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, SOURCE_ROWS, Row, VerbSettings, speaks, spec_panels
from mahrem.cli._print import print_json, print_table, while_read
from mahrem.dp.queries import QUERIES, QuerySettings
from mahrem.words import load_catalogue

_PLAN: Sequence[Row] = (
    ("plan", bool | None, "--plan", None, "Only say how far off it would be; nothing is spent."),
)


def _speaks_query(verb: Callable[..., None]) -> Callable[..., None]:
    means = load_catalogue("en")["query"]
    forms = "\n    ".join(f"* {entry.form}: {means.get(name, name)}" for name, entry in QUERIES.items())
    verb.__doc__ = str(verb.__doc__).format(forms=forms)
    panels = spec_panels(QuerySettings, "query")
    return speaks(verb, {**panels, "Answer": [*panels["Answer"], *_PLAN], "Table": SOURCE_ROWS})


@_speaks_query
def query(
    source: SOURCE,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help='For example "mean(cost) by sex where age >= 18".')
    ],
    ledger: Annotated[Path, typer.Option("--ledger", help="The ledger that pays.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What the answer may cost.")],
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Answer a question privately; the ledger pays before any value is looked at.

    mahrem query patients.parquet --ledger patients.ledger "mean(cost) by sex" --epsilon 0.5

    Questions:

    {forms}

    Then: by a, b (columns with declared values) and: where x >= 18 and y = 'a' and z in ('a', 'b').
    """
    from mahrem.pipeline import query as verb

    answer = verb(source, question, ledger=ledger, epsilon=epsilon, **settings)
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
