"""``mahrem policies``."""

from __future__ import annotations

from typing import Annotated

import typer

from mahrem.cli._options import JSON
from mahrem.cli._print import print_json
from mahrem.errors import InvalidParameter
from mahrem.words import LANGUAGES


def policies(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Print this one.")] = None,
    *,
    template: Annotated[
        bool, typer.Option("--template", help="Print a policy with every setting in it, to uncomment.")
    ] = False,
    language: Annotated[
        str, typer.Option("--language", help=f"Language of the template: {', '.join(LANGUAGES)}.")
    ] = "en",
    json: JSON = False,
) -> None:
    """List the ready policies, or print one: a file to begin with, or to use as it is with --policy NAME.

    mahrem policies minimum-cell-11 > policy.toml

    mahrem policies --template > policy.toml
    """
    from mahrem.release import READY_POLICIES, about_policy, policy_template, policy_text

    if template:
        if name is not None:
            raise InvalidParameter(f"policy={name!r} and --template: say one of them")
        text = policy_template(language)
        print_json({"text": text}) if json else typer.echo(text, nl=False)
        return
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
