"""What mahrem remembers of this user: a private folder, and a key of his own."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from mahrem.files._keys import held_key, shared_key


def state_folder() -> Path:
    """Give the private folder of this user: ``MAHREM_STATE``, or the place the system has for such things."""
    said = os.environ.get("MAHREM_STATE")
    if said:
        return Path(said)
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
