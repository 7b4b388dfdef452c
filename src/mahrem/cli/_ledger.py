"""``mahrem ledger``: make a privacy ledger, see what is left, read its history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem import check
from mahrem.cli._options import JSON, QUIET, SOURCE_ROWS, Row, VerbSettings, option, speaks, spec_panels
from mahrem.cli._print import print_json, print_table, while_read
from mahrem.dp import LedgerSettings
from mahrem.errors import InvalidParameter
from mahrem.settings import settings_of

ledger = typer.Typer(
    name="ledger",
    help="The privacy budget of a data set: what is public, what was spent, what is left.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

LEDGER = Annotated[Path, typer.Argument(metavar="LEDGER", help="The file of the ledger.")]
_MANY = list[str] | None
_COLUMNS: Sequence[Row] = (
    ("bounds", _MANY, "--bounds", "COL=LOW:HIGH", "Public bounds; repeatable."),
    ("missing", _MANY, "--missing", "COL=X", "What an empty cell counts as; else such rows are left out."),
    ("categories", _MANY, "--categories", "COL=A,B,C", "Declared values; repeatable."),
)


def _speaks_ledger(verb: Callable[..., None]) -> Callable[..., None]:
    panels = spec_panels(LedgerSettings, "ledger")
    public = [row for row in panels["Public"] if row[0] != "columns"]  # typed in three parts
    return speaks(verb, {**panels, "Public": [*_COLUMNS, *public], "Table": SOURCE_ROWS})


@ledger.command("new")
@_speaks_ledger
def new(
    file: LEDGER,
    source: Annotated[
        str, option("--data", "SOURCE", "The table: CSV, Parquet, Arrow, DuckDB or postgresql://.")
    ],
    epsilon: Annotated[float | None, option("--epsilon", "X", "The total budget.")] = None,
    *,
    advantage: Annotated[
        float | None,
        option("--advantage", "X", "The total instead, as what an attacker may gain over guessing: 0.1."),
    ] = None,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Make a ledger for a data set. Everything declared here must be known without looking at the data.

    mahrem ledger new patients.ledger --data patients.parquet --epsilon 3 --delta 1e-6
    --bounds cost=0:10000 --categories sex=f,m

    The key beside it (LEDGER.key) seals every line: keep it private, and keep both together.
    """
    from mahrem.dp import Ledger
    from mahrem.table import Reading, typed_declarations

    parts = {name: settings.pop(name) for name, *_ in _COLUMNS if name in settings}
    promise = {name: settings.pop(name) for name in settings_of(LedgerSettings) if name in settings}
    book = Ledger.create(
        file,
        source,
        epsilon=_total(epsilon, advantage, promise.get("delta", 0.0)),
        reading=Reading(**settings),
        columns=typed_declarations(**parts),
        **promise,
    )
    if json:
        print_json(book.data_sheet())
    elif not quiet:
        typer.echo(f"{file}: epsilon={book.epsilon:g}, delta={book.delta:g}, {book.relation}")


@ledger.command("show")
def show(file: LEDGER, *, json: JSON = False) -> None:
    """Say what was spent and what is left; with --json the whole data sheet.

    mahrem ledger show patients.ledger
    """
    from mahrem.dp import Ledger

    sheet = Ledger.open(file).data_sheet()
    with while_read():
        if json:
            print_json(sheet)
            return
        unit = sheet["unit"]
        person = "row" if unit["subject"] is None else f"person ({unit['rows_per_person']} rows at most)"
        rows = [
            ("neighbours", sheet["relation"]),
            ("unit of privacy", person),
            ("total", f"epsilon={sheet['total']['epsilon']:g}, delta={sheet['total']['delta']:g}"),
            ("composition", sheet["composition"]),
            ("spent", f"epsilon={sheet['spent']['epsilon']:.4g} in {sheet['events']} events"),
            ("left", f"epsilon={sheet['remaining']['epsilon']:.4g}"),
        ]
        for name, words in (("pld", "spent by PLD"), ("rdp", "cross-check by RDP"), ("basic", "plain sum")):
            if sheet["spent"][name] is not None:
                rows.append((words, f"{sheet['spent'][name]:.4g}"))
        if sheet["public"]["rows"] is not None:
            rows.append(("public: rows", f"{sheet['public']['rows']}"))
        rows += [(f"public: {name}", _known(known)) for name, known in sheet["public"]["columns"].items()]
        print_table(("figure", "value"), rows)
        if sheet["events"]:
            curve = [
                (delta, "-" if epsilon is None else f"{epsilon:.4g}")
                for delta, epsilon in sheet["curve"].items()
            ]
            print_table(("at delta", "epsilon"), curve)


def _total(epsilon: float | None, advantage: float | None, delta: float) -> float:
    from mahrem.dp.accounting import epsilon_for_advantage

    if (epsilon is None) == (advantage is None):
        raise InvalidParameter(
            "the total of a ledger is said once: --epsilon, or --advantage for what an attacker may gain"
        )
    return epsilon_for_advantage(advantage, delta) if epsilon is None else epsilon  # type: ignore[arg-type]


@ledger.command("explain")
def explain(
    file: Annotated[Path | None, typer.Argument(metavar="[LEDGER]", help="The file of the ledger.")] = None,
    *,
    epsilon: Annotated[float | None, option("--epsilon", "X", "Without a ledger: explain this one.")] = None,
    delta: Annotated[float, option("--delta", "X", "With --epsilon.")] = 0.0,
    picture: Annotated[Path | None, option("--picture", "FILE", "Draw it, as SVG.")] = None,
    json: JSON = False,
) -> None:
    """Say what a budget means: what the best attack on one person gains by it.

    mahrem ledger explain patients.ledger --picture gain.svg

    mahrem ledger explain --epsilon 1 --delta 1e-6
    """
    from mahrem.dp import Ledger
    from mahrem.dp.accounting import promised_gain
    from mahrem.files import write_whole
    from mahrem.report import gain_svg

    if (file is None) == (epsilon is None):
        raise InvalidParameter("explain takes a ledger, or --epsilon and --delta")
    measured: list[dict[str, object]] = []
    if epsilon is not None:
        gains = {"promised": promised_gain(check.promised(epsilon=epsilon), check.between(0, 1, delta=delta))}
    else:
        book = Ledger.open(file)  # type: ignore[arg-type]
        gains = {"spent": book.gain(), "promised": promised_gain(book.epsilon, book.delta)}
        measured = book.audits()
    if picture is not None:
        write_whole(picture, gain_svg({name: gain.curve for name, gain in gains.items()}))
    with while_read():
        if json:
            print_json({name: gain.as_dict() for name, gain in gains.items()} | {"measured": measured})
            return
        every = list(gains.values())
        rows = [("epsilon, delta", *(f"{gain.epsilon:.4g}, {gain.delta:g}" for gain in every))]
        for prior in every[0].posteriors:
            sure = (f"{gain.posteriors[prior]:.1%}" for gain in every)
            rows.append((f"sure of {prior:.0%} before, afterwards at most", *sure))
        for share in every[0].detections:
            shares = (f"{gain.detections[share]:.2%}" for gain in every)
            rows.append((f"members found at {share:.1%} false alarms", *shares))
        rows.append(("advantage over guessing", *(f"{gain.advantage:.1%}" for gain in every)))
        print_table(("for the best attack on one person", *gains), rows)
        typer.echo(
            "Upper bounds for somebody who knows everything else; real attacks find less. With a chance of "
            "delta nothing is promised."
        )
        for audit in measured:
            typer.echo(f"Measured: {_shown(audit)}.")
        if file is not None and not measured:
            typer.echo("Measured: nothing yet; mahrem train --audit puts canaries in and looks for them.")


@ledger.command("history")
def history(file: LEDGER, *, json: JSON = False) -> None:
    """List every spend and every public fact that was added.

    mahrem ledger history patients.ledger --json
    """
    from mahrem.dp import Ledger

    lines = Ledger.open(file).history()
    with while_read():
        if json:
            print_json(lines)
            return
        rows = [
            (
                str(line["sequence"]),
                line["time"],
                line["kind"],
                f"{line['epsilon']:g}" if "epsilon" in line else "-",
                f"{line['delta']:g}" if "delta" in line else "-",
                _what(line),
            )
            for line in lines
        ]
        print_table(("line", "time", "kind", "epsilon", "delta", "what"), rows)


def _shown(audit: Mapping[str, object]) -> str:
    """Say what an attack showed beside what was promised."""
    finding = f"epsilon is at least {audit['at_least']:.3g}"
    if "confidence" in audit:
        finding += f" ({audit['confidence']:.0%} sure; {audit['ceiling']:.3g} is the most it could show)"
    return f"an attack on {audit['what']} shows that {finding}, where {audit['claimed']:.3g} was promised"


def _what(line: Mapping[str, Any]) -> str:
    """Say what a line of the history is about."""
    match line["kind"]:
        case "audit":
            return _shown(line)
        case "fact":
            return f"{line['column']}: {_known(line['known'])}"
        case "plan":
            return f"{len(line['events'])} events, fixed in advance"
    return str(line["what"])


def _known(known: dict[str, Any]) -> str:
    parts = []
    if known["lower"] is not None:
        parts.append(f"{known['lower']:g} to {known['upper']:g} ({known['origin']})")
    if known["missing"] is not None:
        parts.append(f"missing is {known['missing']:g}")
    if known["categories"] is not None:
        parts.append(f"{len(known['categories'])} values")
    return ", ".join(parts) or "nothing"
