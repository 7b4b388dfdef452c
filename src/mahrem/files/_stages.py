"""Stages: private places where something is made, held by a lock that dies with its process.

A stage is ``.mahrem-``, a word and sixteen random digits. Whoever begins one looks for those of others in the
same folder: one whose lock can be had belongs to nobody any more and is removed. Where the system knows no
such locks nothing is ever removed. A file waits in a stage until it appears, whole or not at all.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

WAS = "was"  # within a stage: what stood under the name that is being replaced
_STAGE = re.compile(r"\.mahrem-[a-z]+-[0-9a-f]{16}")
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_PRIVATE_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL


def stage_file(folder: Path) -> tuple[Path, int]:
    """Make an empty file for its owner alone; gives its path and an open descriptor that holds it."""
    while True:
        path = _unused(folder, "file")
        descriptor = os.open(path, _PRIVATE_FILE, 0o600)
        if _hold(descriptor, path):
            return path, descriptor


class StageFolder:
    """An empty folder that only its owner can enter; it vanishes at the end, also if the process is killed.

    Args:
        folder: Where it is made; stages of processes that are gone are swept from there first.
        what: A word for its name, in small letters.

    Guarantees:
        - Nobody else can look into it, at no moment.
        - It is removed when the block ends or :meth:`remove` is called; after a kill by the next stage here.
        - A stage of a process that still runs is never removed by another.
    """

    def __init__(self, folder: Path, what: str = "stage") -> None:
        sweep(folder)
        while True:
            self.path = _unused(folder, what)
            self.path.mkdir(mode=0o700)
            try:
                self._held = os.open(self.path, os.O_RDONLY)
            except FileNotFoundError:  # swept before it was held
                continue
            if _hold(self._held, self.path):
                return

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):  # removed before
            os.close(self._held)
        self._held = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def sweep(folder: Path) -> None:
    """Remove the stages that killed processes left in a folder, and put back what one had moved away."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if _STAGE.fullmatch(entry.name):
                with suppress(OSError):  # another user's, or another sweeper was quicker
                    _sweep_one(Path(entry.path))


def _sweep_one(path: Path) -> None:
    status = path.lstat()
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if not _lock(descriptor, wait=False) or not _same(descriptor, path):
            return
        if stat.S_ISDIR(status.st_mode):
            _put_back(path)
            shutil.rmtree(path)
        else:
            path.unlink()
    finally:
        os.close(descriptor)


def _put_back(stage: Path) -> None:
    """Give what a replacement had moved away its name again, if nothing took the name since."""
    with suppress(FileNotFoundError):
        for old in (stage / WAS).iterdir():
            place = stage.parent / old.name
            if not os.path.lexists(place):
                old.rename(place)


def _unused(folder: Path, what: str) -> Path:
    return folder / f".mahrem-{what}-{secrets.token_hex(8)}"


def _hold(descriptor: int, path: Path) -> bool:
    """Hold a new stage; says no, and closes it, if a sweeper took it for one that nobody holds."""
    _lock(descriptor, wait=True)
    if _same(descriptor, path):
        return True
    os.close(descriptor)
    return False


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Take the lock of an open file or folder; says whether it is had."""
    try:
        import fcntl
    except ImportError:  # no such locks here: nobody ever has one
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # another has it, or a file system that knows no locks
        return False
    return True


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one at a time into a block, of all processes and threads; where there are no locks, everybody.

    Args:
        path: The file that is locked; it is made where there is none, and stays.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


def _same(descriptor: int, path: Path) -> bool:
    """Say whether a path still leads to what is open."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (there.st_ino, there.st_dev) == (here.st_ino, here.st_dev)


@contextmanager
def appearing(
    path: Path,
    *,
    private: bool = True,
    new: bool = False,
    durable: bool = False,
    beside: Path | None = None,
) -> Iterator[BinaryIO]:
    """Open a private file beside ``path`` that takes its name at the end, or vanishes.

    Args:
        path: The name it gets; what has that name is replaced.
        private: Only its owner may read it; else it gets the permissions any other new file gets.
        new: Refuse a name that is taken (``FileExistsError``), also if it was taken meanwhile.
        durable: Wait until the disk has it.
        beside: The folder it waits in, of the same file system; else the one of ``path``.

    Guarantees:
        - Under the name stands what stood there, or all of the new file, at every moment.
        - Until it has its name nobody but the owner can read it.
        - What a killed process left of such a file is removed by the next one in that folder.
    """
    folder = path.parent if beside is None else beside
    sweep(folder)
    if new and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    stage, descriptor = stage_file(folder)
    try:
        with open(descriptor, "w+b", buffering=0) as stream:  # noqa: PTH123 - the descriptor is private from birth
            yield stream
            if not private:
                os.fchmod(descriptor, 0o666 & ~current_umask())
            if durable:
                os.fsync(descriptor)
            _name(stage, path, new=new)
        if durable:
            sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            stage.unlink()
        raise


def write_whole(
    path: Path,
    content: bytes | str,
    *,
    private: bool = True,
    new: bool = False,
    durable: bool = False,
    beside: Path | None = None,
) -> Path:
    """Write a file that appears whole or not at all, as :func:`appearing` does; text as UTF-8."""
    rest = memoryview(content.encode() if isinstance(content, str) else content)
    with appearing(path, private=private, new=new, durable=durable, beside=beside) as stream:
        while rest:  # a raw file may take less than it is given
            rest = rest[stream.write(rest) :]
    return path


def current_umask() -> int:
    """Say which permissions the user takes from new files."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _name(stage: Path, path: Path, *, new: bool) -> None:
    if not new:
        stage.replace(path)
        return
    try:
        os.link(stage, path)  # unlike a rename it never takes a name from another
    except OSError as error:
        if error.errno not in _NO_LINKS or os.path.lexists(path):
            raise
        stage.rename(path)
    else:
        stage.unlink()
