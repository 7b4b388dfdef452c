"""``mahrem attack``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mahrem.cli._options import JSON, QUIET, speaks_published
from mahrem.cli._print import print_json, stages, while_read

__all__ = ["attack"]

Table = str | None


def _table(flag: str, means: str, metavar: str = "FILE") -> Any:
    return typer.Option(flag, help=means, metavar=metavar)


@speaks_published
def attack(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE",
            help=(
                "Release folder, any published table (then name --qi), a model folder, or the run folder of "
                "a federation."
            ),
        ),
    ],
    original: Annotated[Table, _table("--original", "The table the release was made of.")] = None,
    second: Annotated[
        Table, _table("--second", "Another release of the same people, for composition.", "RELEASE")
    ] = None,
    holdout: Annotated[
        Table, _table("--holdout", "For a model, a federation or made-up rows: real rows they never saw.")
    ] = None,
    reference: Annotated[
        Table, _table("--reference", "For made-up rows: more real rows, of neither side; a finer attack.")
    ] = None,
    shadows: Annotated[
        int,
        typer.Option("--shadows", help="For a model or a federation: train so many of its kind.", min=0),
    ] = 0,
    trials: Annotated[
        int, typer.Option("--trials", help="How many people, rows or claims an attack tries.", min=1)
    ] = 1000,
    fail_above: Annotated[
        float | None,
        typer.Option(
            "--fail-above",
            help="Exit with 1 if an attack beats its baseline by more than this share of its trials.",
            metavar="0..1",
            min=0,
            max=1,
        ),
    ] = None,
    *,
    json: JSON = False,
    quiet: QUIET = False,
    policy: str | None = None,
    settings: dict[str, Any],
) -> None:
    """Attack a release before somebody else does: what would they find out, and how sure is that?

    Nothing about a person is printed. A release folder knows its columns; any other file needs --qi.

    mahrem attack release/ --original patients.csv

    mahrem attack other-tool.csv --qi age,zip --sensitive disease --original patients.csv

    mahrem attack made-up/ --original real.csv --holdout other-people.csv

    mahrem attack model/ --original trained-on.csv --holdout never-seen.csv --shadows 4

    mahrem attack run/ --original silos.csv --holdout never-seen.csv
    """
    from mahrem.cli._attack_model import attack_learnt, learnt_kind, refuse_learnt_only
    from mahrem.cli._attack_print import print_findings
    from mahrem.pipeline import attack as verb

    kind = learnt_kind(release, holdout)
    refuse_learnt_only(kind, shadows=shadows, reference=reference)
    with stages(quiet=quiet) as progress:
        if kind is not None:
            found = attack_learnt(
                kind,
                release,
                original=original,
                holdout=holdout,
                reference=reference,
                shadows=shadows,
                settings={**settings, "second": second, "policy": policy},
                progress=progress,
            )
        else:
            found = verb(
                release,
                original=original,
                second=second,
                policy=policy,
                trials=trials,
                progress=progress,
                **settings,
            )
    with while_read():
        if json:
            print_json(found.report)
        elif not quiet:
            print_findings(found.report)
    raise typer.Exit(1 if fail_above is not None and found.worst() > fail_above else 0)
