"""Folders that appear whole or not at all, and are replaced in one step where the system can."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from mahrem.files._stages import WAS, StageFolder, current_umask, sweep

_HERE = -100  # AT_FDCWD: paths count from the working folder
_NO_REPLACE, _EXCHANGE = 1, 2
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


@contextmanager
def staged_folder(target: Path, *, private: bool = False) -> Iterator[Path]:
    """Build a folder in a private place beside ``target`` and give it that name only if all went well.

    Args:
        target: The name it gets; a folder that stands there then is replaced.
        private: Only its owner may enter; else it and its files get the permissions any others get.

    Guarantees:
        - Under the name stands what stood there, or all of the new folder. Where the system cannot exchange
          two folders there is a moment with neither; a process killed in it is made good by the next stage in
          the same folder, or :func:`restore_interrupted`.
        - Whatever happens, nothing is left behind; after a kill the next stage in the same folder sees to it.
        - Until it has its name nobody but the owner can look into it.
    """
    parents = [parent for parent in target.parents if not parent.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with StageFolder(target.parent) as stage:
            new_folder = stage.path / "new"
            new_folder.mkdir(mode=0o700)
            yield new_folder
            if not private:
                _open_up(new_folder)
            if os.path.lexists(target):
                _replace(new_folder, target, stage.path / WAS)
            else:
                move_new(new_folder, target)
    finally:
        for parent in parents:
            with suppress(OSError):  # not empty: it holds the folder
                parent.rmdir()


def restore_interrupted(target: Path) -> None:
    """Put back a folder that a killed replacement had moved away; one that is there is left alone."""
    if not os.path.lexists(target):
        sweep(Path(os.path.abspath(target)).parent)  # noqa: PTH100 - resolve() would follow links


def move_new(path: Path, target: Path) -> None:
    """Give a file or folder a name that nobody has.

    Raises:
        FileExistsError: If somebody has it.
    """
    if _rename(path, target, _NO_REPLACE):
        return
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    path.rename(target)


def _replace(new_folder: Path, target: Path, was: Path) -> None:
    """Let a new folder and the old one change places; the old one goes with the stage."""
    if _rename(new_folder, target, _EXCHANGE):
        return
    was.mkdir(mode=0o700)
    target.rename(was / target.name)  # a sweeper knows from here what to put back
    try:
        new_folder.rename(target)
    except BaseException:  # also ctrl-C between the two renames
        (was / target.name).rename(target)
        raise


def _rename(path: Path, target: Path, how: int) -> bool:
    """Rename as plain ``rename`` cannot; says no where the system, or the file system, cannot either."""
    call = _system_call()
    if call is None:
        return False
    if call(_HERE, os.fsencode(path), _HERE, os.fsencode(target), how) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(target))


@cache
def _system_call() -> Any:
    """Find ``renameat2``, which Linux has; None elsewhere."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int
    return call


def _open_up(folder: Path) -> None:
    """Give finished files the permissions the user's umask gives any other file."""
    umask = current_umask()
    for path in folder.rglob("*"):
        path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)
    folder.chmod(0o777 & ~umask)
