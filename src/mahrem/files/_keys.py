"""Keys in files: made whole at once, readable by their owner alone, never short; and a user's own one."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed, either
from mahrem.files._stages import write_whole

SHORTEST_KEY = 16  # bytes
_LENGTH = 32  # of those made here


def check_key(name: str, key: bytes) -> bytes:
    """Refuse a key that could be guessed.

    Example:
        >>> check_key("key", b"")
        Traceback (most recent call last):
            ...
        mahrem.errors.InvalidParameter: key has 0 bytes; it must have at least 16
    """
    if len(key) < SHORTEST_KEY:
        raise InvalidParameter(f"{name} has {len(key)} bytes; it must have at least {SHORTEST_KEY}")
    return key


def held_key(path: Path, *, private: bool = False) -> tuple[bytes, bool]:
    """Read a key, and say whether others can get at it too.

    Args:
        path: The file.
        private: Refuse a key that others can get at.

    Raises:
        OSError: If the file cannot be read.
        InvalidInput: If others can get at it and must not.
        InvalidParameter: If the key is empty or short.
    """
    with path.open("rb") as stream:
        mode = os.fstat(stream.fileno()).st_mode
        key = stream.read()
    exposed = os.name == "posix" and bool(mode & (stat.S_IRWXG | stat.S_IRWXO))
    if private and exposed:
        raise InvalidInput(f"key={path.name!r} can be read by others; chmod 600 {path.name}")
    return check_key(f"key file={path.name!r}", key), exposed


def given_key(path: Path) -> tuple[bytes, bool]:
    """Read a key that somebody named, and say whether others can get at it too."""
    try:
        return held_key(path)
    except OSError as error:
        raise InvalidParameter(
            f"key file={path.name!r} cannot be read ({_reason(error)}); make one with "
            f"{either('mahrem.table.columns.make_key', 'mahrem key FILE')}"
        ) from None


def make_key(path: Path) -> bytes:
    """Make a random key of 32 bytes in a new file that only its owner can read; never overwrites.

    Guarantees:
        - The file holds all of the key or is not there, at every moment; then the disk has it.
    """
    key, path = secrets.token_bytes(_LENGTH), Path(path)
    try:
        write_whole(path, key, new=True, durable=True)
    except FileExistsError:
        raise InvalidParameter(
            f"key file={path.name!r} is already there; a lost key cannot be made again"
        ) from None
    except OSError as error:
        raise OutputFailed(f"key file={path.name!r} could not be written ({_reason(error)})") from None
    return key


def shared_key(path: Path) -> bytes:
    """Read a key, made when it is first needed.

    Guarantees:
        - Processes that come at the same time get the same key.

    Raises:
        OSError: If it can be neither read nor written.
        InvalidParameter: If it is empty or short.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileExistsError):  # another process was quicker; its key is as good
            write_whole(path, secrets.token_bytes(_LENGTH), new=True, durable=True)
    return held_key(path)[0]


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else type(error).__name__


def state_folder() -> Path:
    """Give the private folder of this user: ``MAHREM_STATE``, or the place the system has for such things."""
    folder = os.environ.get("MAHREM_STATE")
    if folder:
        return Path(folder)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "mahrem"


def private_key() -> bytes:
    """Give this user's own key, made when it is first needed."""
    return shared_key(_key_path())


def refuse_short_key() -> None:
    """Refuse a key of this user that is empty or short, before anything is made that would be told by it."""
    with suppress(OSError):  # not there yet, or no place for one: that is said where it is needed
        held_key(_key_path())


def _key_path() -> Path:
    return state_folder() / "key"
