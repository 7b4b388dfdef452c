"""What a client remembers of the sums it was in: two runs over different clients tell by their difference."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidInput, OutputFailed, spelled


@dataclass(kw_only=True)
class SumHistory:
    """The members of sums that a table was in, in a file of its own, over runs, federations and years.

    A run over fewer or other clients than before is refused: the difference of the two results is what is
    true of those who are in only one of them. Unless the owner says that these members are agreed to, after
    being told. Each client asks its own owner, so all who are left have to agree.

    Args:
        path: The file; its owner alone can read it.
        client: Names the client's key.
        table: Names its table, wherever it takes part; empty if it has no name.
        about: The columns that the sums speak of: results that share none cannot be subtracted. Of a model
            that is the column it predicts, of counts and of trees every column.
        federation: The federation, told to the owner.
        agreed: The members that the owner agreed to.
        held: What the table held, told to the owner alone.

    Raises:
        InvalidInput: If the file cannot be read: what is not known cannot be held against a new run.
    """

    path: Path
    client: str
    table: str = ""
    about: frozenset[str] = frozenset()
    federation: str = ""
    agreed: frozenset[str] | None = None
    held: str = ""

    def admit(self, run: str, members: frozenset[str]) -> None:
        """Remember whom the sums of a run are over, before a word is given for them.

        Raises:
            InvalidInput: If sums of this table were over others before, and nobody agreed to these; who can
                act is told more, in its cause.
        """
        for before in self._mine():
            if frozenset(before["members"]) != members != self.agreed:
                raise InvalidInput(
                    f"clients={len(members)}: this client was in sums over others before; its owner has to "
                    "agree to these members first"
                ) from InvalidInput(self._explain(before, members))
        line = {
            "time": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "client": self.client,
            "table": self.table,
            "about": sorted(self.about),
            "federation": self.federation,
            "run": run,
            "members": sorted(members),
            "held": self.held,
        }
        append_private(self.path, line)

    def _explain(self, before: dict[str, Any], members: frozenset[str]) -> str:
        others = sorted(frozenset(before["members"]) ^ members)
        return (
            f"the run of {before['time']} (federation {before['federation']}; {before['held']} here) was "
            f"over {', '.join(before['members'])}; whoever has both results can subtract them and read what "
            f"is true of the rows of {', '.join(others)} alone; if all agree to that, start each client "
            f"again with {spelled('members', ','.join(sorted(members)))}"
        )

    def _mine(self) -> Iterator[dict[str, Any]]:
        try:
            text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
            lines = [json.loads(line) for line in text.splitlines()]
            for line in lines:
                facts = {name: str(line[name]) for name in ("time", "federation", "held")}
                known = {**facts, "members": [str(name) for name in line["members"]]}
                by_key, by_table = line["client"] == self.client, line["table"] == self.table != ""
                about = {line["about"]} if isinstance(line["about"], str) else set(line["about"])
                if (about & self.about or about == self.about) and (by_key or by_table):
                    yield known
        except (OSError, ValueError, KeyError, TypeError):
            raise InvalidInput(
                f"history={self.path.name!r} of earlier runs cannot be read, so no new one is taken; mend it"
            ) from None


def append_private(path: Path, line: dict[str, Any], *, durable: bool = True) -> None:
    """Add a line to a file that only its owner can read.

    Args:
        path: The file.
        line: What it says.
        durable: Wait until the disk has it.

    Raises:
        OutputFailed: If it cannot be written.
    """
    written = json.dumps(line, ensure_ascii=False).encode() + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        held = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(held, written)  # one write: lines of several processes do not mix
            if durable:
                os.fsync(held)
        finally:
            os.close(held)
    except OSError as error:
        raise OutputFailed(f"file={path.name!r} cannot be written: {error.strerror}") from None
