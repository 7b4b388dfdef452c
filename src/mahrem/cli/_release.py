"""``mahrem release``: sign a release folder, and say who signed one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mahrem.cli._options import JSON, QUIET, option
from mahrem.cli._print import print_json

release = typer.Typer(
    name="release",
    help="Sign release folders, and check who signed them.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

FOLDER = Annotated[Path, typer.Argument(metavar="FOLDER", help="A release folder.")]


@release.command("keygen")
def keygen(
    key: Annotated[Path, typer.Argument(metavar="KEY", help="New file of the private key.")],
    *,
    json: JSON = False,
    quiet: QUIET = False,
) -> None:
    """Make a pair of Ed25519 keys: KEY to sign with, which stays private, and KEY.pub to hand out.

    mahrem release keygen ~/.ssh/releases
    """
    from mahrem.release.folders import make_signing_key

    fingerprint = make_signing_key(key)
    if json:
        print_json({"key": str(key), "public_key": f"{key}.pub", "fingerprint": fingerprint})
    elif not quiet:
        typer.echo(f"{key}.pub: {fingerprint}")


@release.command("sign")
def sign(
    folder: FOLDER,
    key: Annotated[Path, option("--key", "FILE", "The private key: Ed25519, OpenSSH or PEM.")],
    *,
    json: JSON = False,
    quiet: QUIET = False,
) -> None:
    """Sign every file of a release, by name and hash; what was changed since it was made is refused.

    mahrem release sign release/ --key ~/.ssh/releases
    """
    from mahrem.release.folders import sign_release

    signature = sign_release(folder, key)
    if json:
        print_json(signature.as_dict())
    elif not quiet:
        typer.echo(f"signed by {signature.fingerprint}")


@release.command("verify")
def verify(
    folder: FOLDER,
    public_key: Annotated[Path, option("--public-key", "FILE", "The public key of whoever signed.")],
    *,
    json: JSON = False,
    quiet: QUIET = False,
) -> None:
    """Check that a release is what the owner of a key signed; exit code 4 if not.

    mahrem release verify release/ --public-key releases.pub

    It says nothing about promises: mahrem audit release/ --public-key releases.pub checks both.
    """
    from mahrem.release.folders import verify_release

    signature = verify_release(folder, public_key)
    if json:
        print_json(signature.as_dict())
    elif not quiet:
        typer.echo(f"signed by {signature.fingerprint}, and unchanged since")
