"""A real PostgreSQL server on loopback, where its programs are installed."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def postgres_programs() -> Path | None:
    """Find the folder of PostgreSQL's own programs; the newest counts."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3])
    )
    return versions[-1].parent if versions else None


@contextmanager
def postgres_server(programs: Path) -> Iterator[str]:
    """Start a server with a password and give its URI; it is stopped and its folder removed at the end."""
    password = secrets.token_hex(16)
    as_owner: list[str] = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="mahrem-postgres-") as name:
        folder = Path(name)
        (folder / "password").write_text(password, encoding="utf-8")
        if as_owner:
            for path in (folder, folder / "password"):
                shutil.chown(path, "postgres")
        data, port = folder / "data", _free_port()
        control = [*as_owner, str(programs / "pg_ctl"), "-D", str(data)]
        options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder}"
        make = ["-A", "scram-sha-256", "-U", "postgres", "--no-sync", f"--pwfile={folder / 'password'}"]
        _run([*as_owner, str(programs / "initdb"), "-D", str(data), *make])
        _run([*control, "-l", str(folder / "log"), "-w", "-o", options, "start"])
        try:
            yield f"postgresql://postgres:{password}@127.0.0.1:{port}/postgres"
        finally:
            _run([*control, "-m", "immediate", "-w", "stop"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")
