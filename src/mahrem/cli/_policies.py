"""``mahrem policies``."""

from __future__ import annotations

from pathlib import Path
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
    project: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Read a project of ARX (.deid) or a script of sdcMicro (.R)."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="DIR", help="Folder for what --from reads, hierarchies included."
        ),
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help=f"Language of the template: {', '.join(LANGUAGES)}.")
    ] = "en",
    json: JSON = False,
) -> None:
    """List the ready policies, or print one: a file to begin with, or to use as it is with --policy NAME.

    mahrem policies minimum-cell-11 > policy.toml

    mahrem policies --template > policy.toml

    mahrem policies --from project.deid -o policy/
    """
    from mahrem.release.decisions import READY_POLICIES, policy_template, policy_text

    if output is not None and project is None:
        raise InvalidParameter("output is for what --from reads; say --from FILE too")
    if project is not None:
        _import(project, output, json=json, alone=name is None and not template)
        return
    if template:
        if name is not None:
            raise InvalidParameter(f"policy={name!r} and --template: say one of them")
        text = policy_template(language)
        print_json({"text": text}) if json else typer.echo(text, nl=False)
        return
    if name is None:
        _list(json=json)
        return
    if name not in READY_POLICIES:
        raise InvalidParameter(f"policy={name!r} is not a ready one; they are {', '.join(READY_POLICIES)}")
    if json:
        print_json({"name": name, "text": policy_text(name)})
    else:
        typer.echo(policy_text(name), nl=False)


def _import(project: Path, output: Path | None, *, json: bool, alone: bool) -> None:
    """Print or write what another tool's project says."""
    from mahrem.release import import_policy

    if not alone:
        raise InvalidParameter("--from stands alone: leave the name and --template out")
    imported = import_policy(project)
    if output is not None:
        imported.write(output)
    if json:
        facts = {"tool": imported.tool, "text": imported.policy(), "unread": list(imported.unread)}
        print_json({**facts, "commands": list(imported.commands)})
    elif output is None:
        typer.echo(imported.policy(), nl=False)
    else:
        typer.echo(f"policy: {output / 'policy.toml'}; look at every line")
        for line in imported.unread:
            typer.echo(f"not understood: {line}")
        for line in imported.commands:
            typer.echo(f"besides: {line}")


def _list(*, json: bool) -> None:
    """List the ready policies."""
    from mahrem.release.decisions import READY_POLICIES, about_policy

    known = {one: about_policy(one) for one in READY_POLICIES}
    if json:
        print_json(known)
        return
    for one, about in known.items():
        typer.echo(f"{one}\n    {about}")
    begin = "mahrem anonymize patients.csv --policy kvkk"
    typer.echo(f"\nuse:   {begin} --qi age,zip --sensitive disease --rest drop -o release/")
    typer.echo("print: mahrem policies minimum-cell-11")
