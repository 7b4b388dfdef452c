"""``mahrem attack``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from mahrem import check
from mahrem.cli._options import JSON, QUIET, Row, VerbSettings, published_rows, speaks
from mahrem.cli._print import print_json, stages, while_read

_KNOWN: Sequence[Row] = (
    ("original", str | None, "--original", "FILE", "The table the release was made of."),
    ("second", str | None, "--second", "RELEASE", "Another release of the same people, for composition."),
    (
        "holdout",
        str | None,
        "--holdout",
        "FILE",
        "For a model, a federation or made-up rows: real rows they never saw.",
    ),
    (
        "reference",
        str | None,
        "--reference",
        "FILE",
        "For made-up rows: more real rows, of neither side; a finer attack.",
    ),
    ("shadows", int | None, "--shadows", "N", "For a model or a federation: train so many of its kind."),
    ("trials", int | None, "--trials", "N", "How many people, rows or claims an attack tries; default 1000."),
    (
        "fail_above",
        float | None,
        "--fail-above",
        "0..1",
        "Exit with 1 if an attack beats its baseline by more than this share of its trials.",
    ),
)


def _speaks_attack(verb: Callable[..., None]) -> Callable[..., None]:
    return speaks(verb, {"What somebody knows": _KNOWN, **published_rows()})


@_speaks_attack
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
    *,
    json: JSON = False,
    quiet: QUIET = False,
    policy: str | None = None,
    settings: VerbSettings,
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

    limit = settings.pop("fail_above", None)
    if limit is not None:
        check.between(0, 1, fail_above=limit)
    kind = learnt_kind(release, settings.get("holdout"))
    with stages(quiet=quiet) as progress:
        if kind is None:
            refuse_learnt_only(settings)
            result = verb(release, policy=policy, progress=progress, **settings)
        else:
            result = attack_learnt(kind, release, {**settings, "policy": policy}, progress)
    with while_read():
        if json:
            print_json(result.report)
        elif not quiet:
            print_findings(result.report)
    raise typer.Exit(1 if limit is not None and result.worst() > limit else 0)
