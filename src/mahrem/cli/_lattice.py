"""``mahrem lattice``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mahrem.cli._options import JSON, QUIET, SOURCE, VerbSettings, option, speaks_policy
from mahrem.cli._print import print_json, print_table
from mahrem.errors import InvalidParameter

if TYPE_CHECKING:
    from mahrem.pipeline import GeneralisationLattice, NodeVerdict

_SHOWN = 10  # of the nodes that hold


@speaks_policy
def lattice(
    source: SOURCE,
    output: Annotated[
        Path | None, option("-o --output", "FILE", "Write every node, judged, to a .json or .csv file.")
    ] = None,
    *,
    node: Annotated[
        list[str] | None,
        option("--node", "COL=LEVEL", "Judge one node: repeat it for each column; others are 0."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --output.")] = False,
    json: JSON = False,
    quiet: QUIET = False,
    policy: str | None = None,
    settings: VerbSettings,
) -> None:
    """Look at the lattice of full-domain generalisation: which levels of columns hold, and what they lose.

    mahrem lattice patients.csv --qi age,zip --rest drop -k 5 --suppression-limit 0.02

    mahrem lattice patients.csv --qi age,zip --rest drop -k 5 --node age=1 --node zip=2
    """
    from mahrem.pipeline import lattice as verb

    if output is not None and output.exists() and not force:
        raise InvalidParameter(f"output={output.name!r} exists; choose another or pass --force")
    searched = verb(source, policy=policy, **settings)
    if output is not None:
        searched.write(output)
    holds = _one(searched, node, json=json, quiet=quiet) if node else _all(searched, json=json, quiet=quiet)
    raise typer.Exit(0 if holds else 1)


def _one(searched: GeneralisationLattice, typed: Sequence[str], *, json: bool, quiet: bool) -> bool:
    levels = _levels(typed)
    verdict, reasons, near = searched.node(levels), searched.why(levels), searched.neighbours(levels)
    if json:
        print_json(
            verdict.as_dict()
            | {
                "why": [reason.as_dict() for reason in reasons],
                "neighbours": [each.as_dict() for each in near],
            }
        )
    elif not quiet:
        typer.echo("this node")
        _show(searched, [verdict])
        if reasons:
            typer.echo(
                "\nclasses that break a promise, and their rows; counts are rounded up to multiples of k"
            )
            rows = [
                (
                    reason.model + (f" ({reason.column})" if reason.column else ""),
                    f"{reason.wanted:g}",
                    f"{reason.classes:,}",
                    f"{reason.rows:,}",
                )
                for reason in reasons
            ]
            print_table(("promise", "wanted", "classes", "rows"), rows)
        typer.echo("\none step below and above")
        _show(searched, near)
    return verdict.holds


def _all(searched: GeneralisationLattice, *, json: bool, quiet: bool) -> bool:
    if json:
        document = searched.as_dict()
        print_json(document)
        return any(verdict.holds for verdict in searched)
    holding = searched.holding()
    if not quiet:
        columns = zip(searched.columns, searched.heights, strict=True)
        typer.echo(", ".join(f"{name}: levels 0 to {height - 1}" for name, height in columns))
        typer.echo(
            f"{len(holding):,} of {len(searched):,} nodes hold; loss: {searched.objective}, the least first\n"
        )
        _show(searched, holding[:_SHOWN])
        if len(holding) > _SHOWN:
            typer.echo(f"{len(holding) - _SHOWN:,} more: --output nodes.csv")
    return bool(holding)


def _show(searched: GeneralisationLattice, verdicts: Sequence[NodeVerdict]) -> None:
    rows = [
        (
            *(str(level) for level in verdict.levels.values()),
            "yes" if verdict.holds else "no",
            "-" if verdict.loss is None else f"{verdict.loss:.6g}",
            f"{verdict.suppressed:,}" if verdict.holds else f"up to {verdict.suppressed:,}",
            "-" if verdict.classes is None else f"{verdict.classes:,}",
            "-" if verdict.smallest is None else f"{verdict.smallest:,}",
        )
        for verdict in verdicts
    ]
    print_table((*searched.columns, "holds", "loss", "suppressed", "classes", "smallest"), rows)


def _levels(typed: Sequence[str]) -> dict[str, int]:
    levels: dict[str, int] = {}
    for pair in typed:
        name, _, level = pair.rpartition("=")
        if not name or not level.strip().isdecimal():
            raise InvalidParameter(f"node={pair!r} must read COL=LEVEL, as in age=1")
        if name in levels:
            raise InvalidParameter(f"node={pair!r}: {name} must be said once")
        levels[name] = int(level)
    return levels
