"""Projects on disk: one private folder each, named at random, and nothing in it named by a person."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from mahrem.errors import InvalidParameter, OutputFailed
from mahrem.files import write_whole
from mahrem.web._errors import Refused, not_found
from mahrem.web.bodies import Columns, MadeRelease, Project
from mahrem.web.projects._job_folder import SHOWS_ROWS

_ID = re.compile(r"[0-9a-f]{32}")
_PROJECT = "project.json"
CANDIDATES = "candidates.json"  # settings that were tried, with values many people share
_SHOWN = 120  # characters of a name that are kept


class ProjectStore:
    """All projects of one server.

    Guarantees:
        - Folders are 0700 and files 0600, whatever the umask.
        - Only one server uses the folder at a time.
        - A project is replaced whole: a crash leaves the old or the new one.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()  # jobs run elsewhere
        self._lock = threading.RLock()
        try:
            _make_folder(self.root)
            _make_folder(self.root / "projects")
            self._held = self._claim()
        except OSError as error:
            raise OutputFailed(f"state={root.name!r} cannot be used: {error.strerror}") from error

    def _claim(self) -> IO[bytes]:
        held = os.fdopen(os.open(self.root / "lock", os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            held.close()
            raise InvalidParameter(
                f"state={self.root.name!r} is in use by another mahrem serve; stop it or name another --state"
            ) from None
        return held

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let nobody else change anything as long as the block lasts."""
        with self._lock:
            yield

    def close(self) -> None:
        """Let another server have the folder."""
        self._held.close()

    def create(self, name: str) -> Project:
        """Make an empty project."""
        project_id = secrets.token_hex(16)
        project = Project(id=project_id, name=_plain(name), created=now_words(), touched=time.time())
        _make_folder(self.root / "projects" / project_id)
        self._write(project)
        return project

    def folder(self, project_id: str) -> Path:
        """Give the folder of a project; only ids of ours name one."""
        if not _ID.fullmatch(project_id) or not (self.root / "projects" / project_id / _PROJECT).is_file():
            raise not_found("project")
        return self.root / "projects" / project_id

    def get(self, project_id: str) -> Project:
        """Read a project."""
        with self._lock:
            return Project.model_validate_json((self.folder(project_id) / _PROJECT).read_bytes())

    def list(self) -> list[Project]:
        """Give all projects, the last touched first."""
        projects = []
        for path in (self.root / "projects").iterdir():
            with suppress(Exception):  # removed meanwhile, or half made
                projects.append(self.get(path.name))
        return sorted(projects, key=lambda project: -project.touched)

    def update(self, project_id: str, **changes: Any) -> Project:
        """Change some fields of a project."""
        return self.edit(project_id, lambda project: project.model_copy(update=changes))

    def edit(self, project_id: str, change: Callable[[Project], Project]) -> Project:
        """Change a project by what it is now; nobody comes between."""
        with self._lock:
            project = change(self.get(project_id)).model_copy(update={"touched": time.time()})
            self._write(project)
            return project

    def _write(self, project: Project) -> None:
        write_whole(
            self.root / "projects" / project.id / _PROJECT, project.model_dump_json(indent=1).encode()
        )

    def remove(self, project_id: str) -> None:
        """Remove a project with all that belongs to it."""
        with self._lock:
            folder = self.folder(project_id)
            (folder / _PROJECT).unlink()
            shutil.rmtree(folder, ignore_errors=True)

    def forget_raw(self, project_id: str, why: str) -> Project:
        """Remove what holds raw values: what was sent, hierarchies, orders; releases and ledgers stay."""
        with self._lock:
            folder = self.folder(project_id)
            project = self.get(project_id)
            choices, kept = _without_orders(project.choices), _remove_superseded(folder, project)
            _remove_raw(folder)
            return self.update(
                project_id,
                source=None,
                choices=choices,
                before=[],
                hierarchies={},
                releases=kept,
                removed=why,
            )

    def forget_shown_rows(self, project_id: str) -> None:
        """Remove what shows rows of the table there was."""
        with self._lock:
            _remove_shown_rows(self.folder(project_id))

    def forget_unread(self, read: Container[str], before: float) -> None:
        """Remove what holds raw values where a project cannot be read and was written long ago."""
        for folder in (self.root / "projects").iterdir():
            with suppress(OSError), self._lock:  # removed meanwhile
                if folder.name not in read and (folder / _PROJECT).stat().st_mtime < before:
                    _remove_raw(folder)

    def refuse_full(self, most: int) -> int:
        """Give how many bytes may still be written, or refuse where there are none."""
        used = sum(_sizes(self.root))
        if used >= most:
            raise Refused(413, "no_room", used=round(used / 1e6), most=round(most / 1e6))
        return most - used

    @contextmanager
    def receiving(self, project_id: str) -> Iterator[IO[bytes]]:
        """Open a file that a source is streamed into; it vanishes unless it is kept with :meth:`keep`."""
        path = self.folder(project_id) / f"upload-{secrets.token_hex(8)}"
        try:
            with open(path, "xb", opener=_private) as file:
                yield file
        finally:
            path.unlink(missing_ok=True)

    def keep(self, project_id: str, file: IO[bytes], name: str) -> str:
        """Give a received file a name that no other had: a job that waits cannot meet another one there."""
        file.flush()
        with self._lock:
            folder = self.folder(project_id)
            for old in folder.glob("source*"):
                old.unlink()
            kept = Path(name)
            own = f"{kept.stem}-{secrets.token_hex(8)}{kept.suffix}"
            Path(file.name).rename(folder / own)
        return own

    def job_folder(self, project: str, job: str) -> Path:
        """Make the folder of a job."""
        folder = self.folder(project) / f"job-{job}"
        _make_folder(folder)
        return folder

    def clear_half_made(self) -> None:
        """Remove uploads and half removed projects that a killed server left behind."""
        for folder in (self.root / "projects").iterdir():
            if not (folder / _PROJECT).exists():
                shutil.rmtree(folder, ignore_errors=True)
        for path in (self.root / "projects").glob("*/upload-*"):
            path.unlink(missing_ok=True)


def _remove_superseded(folder: Path, project: Project) -> list[MadeRelease]:
    """Remove drafts that a later release took the place of; the last one and those handed out stay."""
    from mahrem.release.folders import remove_release  # whoever lists projects needs no release

    def went(job: str) -> bool:
        place = folder / f"job-{job}"
        return remove_release(place / "release", ("draft",), lambda: shutil.rmtree(place, ignore_errors=True))

    earlier, last = project.releases[:-1], project.releases[-1:]
    return [release for release in earlier if not went(release.job)] + last


def _sizes(folder: Path) -> Iterator[int]:
    """Give the sizes of all files below a folder, as they lie on the disk."""
    for here, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # removed meanwhile
                yield (Path(here) / name).lstat().st_size


def now_words() -> str:
    """Give the time as people and programs read it."""
    return in_words(time.time())


def in_words(seconds: float) -> str:
    """Give a time in seconds since 1970 as people and programs read it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _remove_shown_rows(folder: Path) -> None:
    for mark in folder.glob(f"job-*/{SHOWS_ROWS}"):
        shutil.rmtree(mark.parent, ignore_errors=True)


def _remove_raw(folder: Path) -> None:
    _remove_shown_rows(folder)
    for path in folder.iterdir():
        if path.name == CANDIDATES or path.name.startswith(("source", "upload-", "hierarchy-")):
            path.unlink(missing_ok=True)


def _without_orders(choices: Columns | None) -> Columns | None:
    """Take the orders out of choices: they list values."""
    if choices is None:
        return None
    plain = {name: choice.model_copy(update={"order": None}) for name, choice in choices.columns.items()}
    return choices.model_copy(update={"columns": plain})


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _make_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)


def _plain(name: str) -> str:
    """Shorten a name somebody gave and take control characters out; it is shown, never opened."""
    words = "".join(letter if letter.isprintable() else " " for letter in name).split()
    return " ".join(words)[:_SHOWN] or "table"
