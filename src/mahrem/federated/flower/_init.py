"""A new federation: certificates, keys and the file that everybody gets."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.flower._federation import Federation, Task, client_name
from mahrem.federated.flower._settings import FederationSettings
from mahrem.federated.sums import SUMS, check_public_key, scheme_of
from mahrem.federated.wire.certificates import (
    make_authority,
    make_node_key,
    make_server_certificate,
    read_public_key,
    read_secret,
    write_private,
    write_public,
)
from mahrem.files import staged_folder, write_whole

FILE = "federation.toml"
NETWORK = "network.py"  # the code of an own network, for everybody to read
AUTHORITY_DAYS = 3650  # outlives the server's certificates, which are renewed


@dataclass(frozen=True)
class NewFederation:
    """A new federation and which private files were made with it."""

    federation: Federation
    folder: Path
    keys: Mapping[str, Path]  # private keys made here, to be moved to their clients
    sum_secret: Path | None  # to be moved to the clients, too


def server_folder(folder: Path) -> Path:
    """Give the server's private folder of a federation.

    Raises:
        InvalidInput: If there is none.
    """
    server = folder / "server"
    if not (folder / FILE).is_file() or not server.is_dir():
        raise InvalidInput(f"folder={folder.name!r} holds no federation; make one with: mahrem federate init")
    return server


def read_token(server: Path) -> str:
    """Read the operator's token in a server's folder."""
    try:
        return (server / "operator.token").read_text(encoding="ascii").strip()
    except OSError as error:
        raise InvalidInput(f"operator.token cannot be read: {error.strerror}") from None


def make_key_files(path: Path) -> tuple[Path, Path]:
    """Write a client's key beside its public part: ``NAME.key`` and ``NAME.pub``."""
    client_name(path.name)
    private, public = make_node_key()
    key, shown = path.with_name(f"{path.name}.key"), path.with_name(f"{path.name}.pub")
    write_private(key, private)
    write_whole(shown, public + "\n", private=False)
    return key, shown


def make_sum_key_files(path: Path, numbers: str) -> tuple[Path, Path]:
    """Write the keys of homomorphic sums where a client lives: ``NAME.secret`` and ``NAME.public``.

    Args:
        path: Where, without an ending.
        numbers: Of what: ``counts`` of rules, or ``weights`` and trees, which are real numbers.
    """
    secret, public = scheme_of(numbers).make_keys()
    hidden, shown = path.with_name(f"{path.name}.secret"), path.with_name(f"{path.name}.public")
    write_private(hidden, secret)
    write_whole(shown, public, private=False)
    return hidden, shown


def init_federation(
    folder: Path,
    task: Task,
    clients: Mapping[str, Path | None],
    settings: FederationSettings | None = None,
) -> NewFederation:
    """Make a federation in a new folder that only its owner can enter.

    Args:
        folder: Where; must not exist.
        task: What is learnt, from which columns.
        clients: Files of their public keys by name; None makes a pair here, to be moved to the client.
        settings: How it is reached, and for how long.

    Guarantees:
        - Private files can be read by their owner only; if anything goes wrong nothing is left behind.
    """
    if folder.exists():
        raise InvalidParameter(f"folder={folder.name!r} exists; a federation is made in a new one")
    with staged_folder(folder, private=True) as stage:
        staged = _fill(stage, task, clients, settings or FederationSettings())
    return NewFederation(
        staged.federation,
        folder,
        {name: folder / key.relative_to(stage) for name, key in staged.keys.items()},
        None if staged.sum_secret is None else folder / staged.sum_secret.relative_to(stage),
    )


def _fill(
    folder: Path,
    task: Task,
    clients: Mapping[str, Path | None],
    settings: FederationSettings,
) -> NewFederation:
    server, private = folder / "server", folder / "clients"
    server.mkdir(mode=0o700)
    keys: dict[str, Path] = {}
    public: dict[str, str] = {}
    for name, file in clients.items():
        client_name(name)
        if file is None:
            private.mkdir(mode=0o700, exist_ok=True)
            keys[name], file = make_key_files(private / name)  # noqa: PLW2901 - the one just made
        public[name] = write_public(read_public_key(_text(file)))
    authority_key, authority = make_authority(max(settings.days, AUTHORITY_DAYS))
    federation = Federation(
        address=settings.address,
        authority=authority.decode(),
        task=task,
        clients=public,
        answer_seconds=settings.answer_seconds,
    )
    write_private(server / "authority.key", authority_key)
    _write_server(server, federation, authority_key, settings.days)
    write_private(server / "operator.token", secrets.token_hex(32).encode())
    keyed = SUMS[task.plan.sum].keyed
    secret = _sum_keys(folder, settings.sum_public, task.plan.numbers) if keyed else None
    (folder / FILE).write_text(federation.as_toml(), encoding="utf-8")
    if settings.network is not None:
        (folder / NETWORK).write_bytes(settings.network.read_bytes())
    return NewFederation(federation, folder, keys, secret)


def _write_server(server: Path, federation: Federation, authority_key: bytes, days: float) -> None:
    host = federation.host_port()[0]
    key, certificate = make_server_certificate(
        authority_key, federation.authority.encode(), [host, "127.0.0.1", "localhost"], days
    )
    write_private(server / "server.key", key)
    (server / "server.crt").write_bytes(certificate)


def _sum_keys(folder: Path, sum_public: Path | None, numbers: str) -> Path | None:
    if sum_public is not None:
        try:
            given = sum_public.read_bytes()
        except OSError as error:
            raise InvalidInput(f"public key={sum_public.name!r} cannot be read: {error.strerror}") from None
        (folder / "server" / "sum.public").write_bytes(check_public_key(given, numbers))
        return None
    secret, public = scheme_of(numbers).make_keys()
    (folder / "clients").mkdir(mode=0o700, exist_ok=True)
    write_private(folder / "clients" / "sum.secret", secret)
    (folder / "server" / "sum.public").write_bytes(public)
    return folder / "clients" / "sum.secret"


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        raise InvalidInput(f"public key={file.name!r} cannot be read") from None


def renew_certificate(folder: Path, days: float = 365.0) -> None:
    """Make a new certificate for the server, by the same authority; clients need nothing new.

    Guarantees:
        - Key and certificate change in one step: whatever happens, a pair that belongs together stands there.
    """
    server = server_folder(folder)
    federation = Federation.read(folder / FILE)
    federation.refuse_expired()
    check.at_least(0.01, days=days)
    authority_key = read_secret(server / "authority.key")
    with staged_folder(server, private=True) as stage:
        pair = ("server.key", "server.crt")
        shutil.copytree(server, stage, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*pair))
        _write_server(stage, federation, authority_key, days)
