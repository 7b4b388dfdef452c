"""What a server is told when it starts."""

from __future__ import annotations

import ipaddress
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.files import state_folder
from mahrem.readers import number, switch, text, texts, whole
from mahrem.settings import check_settings, setting
from mahrem.typed import size

_SHORTEST = 12  # characters of a password that others may try from outside


def _path(_: str, value: str | Path) -> Path:
    return Path(value).expanduser()


def _usual_state() -> Path:
    return state_folder() / "web"


def _folders(_: str, value: Iterable[str | Path]) -> tuple[Path, ...]:
    return tuple(Path(folder).expanduser() for folder in value)


_MANY: Mapping[str, Any] = {"group": "tables", "repeats": True, "takes": "Sequence[str]"}
_FILE: Mapping[str, Any] = {
    "read": _path,
    "takes": "str | Path | None",
    "group": "address",
    "metavar": "FILE",
}


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """Where a server listens, what it may read, how much it takes and how long it keeps it."""

    folders: tuple[Path, ...] = setting((), read=_folders, **_MANY, spelling="--folder", metavar="DIR")
    databases: tuple[str, ...] = setting(
        (), read=texts, **_MANY, spelling="--database", metavar="URI", private=True, secret=True
    )
    masters: tuple[str, ...] = setting((), read=texts, **_MANY, spelling="--master", metavar="URL")
    port: int = setting(8321, read=whole.within(0, 65535), group="address", metavar="N")
    host: str = setting("127.0.0.1", read=text, group="address", metavar="ADDRESS")
    socket: Path | None = setting(**_FILE)  # a Unix socket instead of a port
    names: tuple[str, ...] = setting((), read=texts, group="address", spelling="--name", metavar="HOST")
    certificate: Path | None = setting(**_FILE)
    key: Path | None = setting(**_FILE)
    password_file: Path | None = setting(**_FILE)
    state: Path = setting(_usual_state, read=_path, takes="str | Path | None", group="limits", metavar="DIR")
    max_upload: int = setting(2 * 10**9, read=whole.within(1), typed=size, group="limits", metavar="SIZE")
    max_rows: int = setting(20_000_000, read=whole.within(1), group="limits", metavar="N")
    max_columns: int = setting(1000, read=whole.within(1), group="limits", metavar="N")
    max_disk: int | None = setting(read=whole.within(1), typed=size, group="limits", metavar="SIZE")
    keep_hours: float = setting(24.0, read=number, group="limits", metavar="H")
    job_memory: int | None = setting(read=whole.within(1), typed=size, group="limits", metavar="SIZE")
    job_minutes: float = setting(60.0, read=number, group="limits", metavar="M")
    workers: int = setting(2, read=whole.within(1), group="limits", metavar="N")
    demo: bool = setting(False, read=switch, group="limits")

    def __post_init__(self) -> None:
        check_settings(self)
        for name in ("keep_hours", "job_minutes"):
            check.above_zero(**{name: getattr(self, name)})
        for folder in self.folders:
            if not folder.is_dir():
                raise InvalidParameter(f"folder={str(folder)!r} is not a folder")
        if not all(uri.startswith(("postgresql://", "postgres://")) for uri in self.databases):
            raise InvalidParameter("database must be a URI like postgresql://user@host:5432/name")  # unshown
        if (self.certificate is None) != (self.key is None):
            raise InvalidParameter("certificate and key belong together: say both or none")
        if self.socket is not None and (self.secure or self.host != "127.0.0.1"):
            raise InvalidParameter(
                "socket is for this machine alone; leave out host, certificate and key, or the socket"
            )
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
    def disk(self) -> int:
        """Bytes the state folder may hold; by default half of the disk it lies on."""
        if self.max_disk is not None:
            return self.max_disk
        place = next(folder for folder in (self.state, *self.state.absolute().parents) if folder.exists())
        volume = os.statvfs(place)
        return volume.f_frsize * volume.f_blocks // 2

    @property
    def memory(self) -> int:
        """Bytes of memory a job may use; by default all workers together leave a fifth to others."""
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return self.job_memory or machine * 4 // (5 * self.workers)


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
        password = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidParameter(
            f"password_file={path.name!r} cannot be read: {type(error).__name__}"
        ) from error
    check_unread_by_others("password_file", path)
    if len(password) < _SHORTEST:
        raise InvalidParameter(f"password_file={path.name!r} must hold at least {_SHORTEST} characters")
    return password


def check_unread_by_others(name: str, path: Path) -> None:
    """Refuse a file with a secret that anybody else on this machine can read."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InvalidParameter(f"{name}={path.name!r} cannot be read: {type(error).__name__}") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidParameter(f"{name}={path.name!r} can be read by others; run: chmod 600 {path}")
