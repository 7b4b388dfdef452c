"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mahrem.files._stages import stage_file, sweep

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


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
