"""What a server is told when it starts."""

from __future__ import annotations

import ipaddress
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.release import state_folder

__all__ = ["ServeSettings", "is_loopback", "read_password"]

_SHORTEST = 12  # characters of a password that others may try from outside


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """Where a server listens, what it may read, how much it takes and how long it keeps it.

    Attributes:
        host: Address to listen on; any but a loopback one needs TLS (``certificate``, ``key``) and password.
        port: Port to listen on; 0 takes a free one.
        names: Further host names under which the server is known.
        folders: Folders whose files may be opened by path.
        databases: PostgreSQL URIs that may be read; the page shows them without their passwords.
        state: Private folder for projects and jobs.
        max_upload: Bytes of the largest file that is taken.
        max_columns: Columns of the widest table that is taken.
        max_rows: Rows of the longest table that is taken.
        keep_hours: Raw data nobody touched for so long is removed.
        job_memory: Bytes of memory a job may use; by default what the machine has.
        job_seconds: Seconds after which a job is stopped.
        workers: Jobs that run at the same time.
        certificate: TLS certificate, PEM.
        key: Its key, PEM.
        password_file: A file, readable by its owner alone, that holds the password.
        demo: Have a project with fictional patients ready.
    """

    host: str = "127.0.0.1"
    port: int = 8321
    names: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    databases: tuple[str, ...] = field(default=(), repr=False)
    state: Path = field(default_factory=lambda: state_folder() / "web")
    max_upload: int = 2 * 10**9
    max_columns: int = 1000
    max_rows: int = 20_000_000
    keep_hours: float = 24.0
    job_memory: int | None = None
    job_seconds: float = 3600.0
    workers: int = 2
    certificate: Path | None = None
    key: Path | None = None
    password_file: Path | None = None
    demo: bool = False

    def __post_init__(self) -> None:
        check.between(0, 65535, port=self.port)
        for name in ("max_upload", "max_columns", "max_rows", "workers"):
            check.at_least(1, **{name: getattr(self, name)})
        for name in ("keep_hours", "job_seconds"):
            check.above_zero(**{name: getattr(self, name)})
        for folder in self.folders:
            if not folder.is_dir():
                raise InvalidParameter(f"folder={str(folder)!r} is not a folder")
        if not all(uri.startswith(("postgresql://", "postgres://")) for uri in self.databases):
            raise InvalidParameter("database must be a URI like postgresql://user@host:5432/name")  # unshown
        if (self.certificate is None) != (self.key is None):
            raise InvalidParameter("certificate and key belong together: say both or none")
        if not is_loopback(self.host) and (self.certificate is None or self.password_file is None):
            raise InvalidParameter(
                f"host={self.host!r} can be reached by other machines; that needs --certificate, --key and "
                "--password-file. Without them use 127.0.0.1"
            )

    @property
    def secure(self) -> bool:
        """Whether connections are encrypted."""
        return self.certificate is not None

    @property
    def memory(self) -> int:
        """Bytes of memory a job may use."""
        return self.job_memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_password(path: Path) -> str:
    """Read a password that nobody else can read."""
    try:
        mode = path.stat().st_mode
        password = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidParameter(
            f"password_file={path.name!r} cannot be read: {type(error).__name__}"
        ) from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidParameter(f"password_file={path.name!r} can be read by others; run: chmod 600 {path}")
    if len(password) < _SHORTEST:
        raise InvalidParameter(f"password_file={path.name!r} must hold at least {_SHORTEST} characters")
    return password
