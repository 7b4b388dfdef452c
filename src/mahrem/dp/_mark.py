"""How far each ledger had come, kept outside of it: an old copy put back in its place is noticed."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mahrem.errors import Tampered

__all__ = ["check_mark", "set_mark"]


def _folder() -> Path:
    said = os.environ.get("MAHREM_STATE")
    if said:
        return Path(said) / "ledgers"
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "mahrem" / "ledgers"


def _path(key: bytes) -> Path:
    return _folder() / (hmac.new(key, b"mark", hashlib.sha256).hexdigest()[:32] + ".json")


def set_mark(key: bytes, sequence: int, seal: str) -> None:
    """Note the newest line; where there is no place for it, only replays go unnoticed."""
    path = _path(key)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        staged = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        staged.write_text(json.dumps({"sequence": sequence, "seal": seal}), encoding="ascii")
        staged.replace(path)


def check_mark(key: bytes, seals: Sequence[str], name: str) -> None:
    """Refuse a ledger that lacks a line it once had."""
    try:
        said = json.loads(_path(key).read_text(encoding="ascii"))
        sequence, seal = int(said["sequence"]), str(said["seal"])
    except (OSError, ValueError, KeyError, TypeError):
        return  # another machine, or a mark cut short: the chain of seals still holds
    if sequence >= len(seals) or seals[sequence] != seal:
        raise Tampered(
            f"ledger={name!r} is older than it was: {len(seals)} lines, but {sequence + 1} were written; "
            f"an earlier copy was put back, and its budget would be spent twice"
        )
