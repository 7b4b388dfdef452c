"""``mahrem policies``."""

from __future__ import annotations

from typing import Annotated

import typer

from mahrem.cli._options import JSON
from mahrem.cli._print import print_json
from mahrem.errors import InvalidParameter

__all__ = ["policies"]


def policies(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Print this one.")] = None,
    *,
    json: JSON = False,
) -> None:
    """List the ready policies, or print one: a file to begin with, or to use as it is with --policy NAME.

    mahrem policies minimum-cell-11 > policy.toml
    """
    from mahrem.release import READY_POLICIES, about_policy, policy_text

    if name is None:
        known = {one: about_policy(one) for one in READY_POLICIES}
        if json:
            print_json(known)
            return
        for one, about in known.items():
            typer.echo(f"{one}\n    {about}")
        begin = "mahrem anonymize patients.csv --policy kvkk"
        typer.echo(f"\nuse:   {begin} --qi age,zip --sensitive disease --rest drop -o release/")
        typer.echo("print: mahrem policies minimum-cell-11")
        return
    if name not in READY_POLICIES:
        raise InvalidParameter(f"policy={name!r} is not a ready one; they are {', '.join(READY_POLICIES)}")
    if json:
        print_json({"name": name, "text": policy_text(name)})
    else:
        typer.echo(policy_text(name), nl=False)
