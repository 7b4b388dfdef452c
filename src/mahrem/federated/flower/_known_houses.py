"""Whose keys the owner of a client knows: sums among members that a server made up hide nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mahrem.errors import InvalidInput
from mahrem.federated.sums import append_private
from mahrem.federated.wire.certificates import read_public_key, write_public


@dataclass(frozen=True)
class KnownHouses:
    """Public keys that the owner of a client has from the houses themselves, kept over federations.

    Whoever writes the federation file names its members. Of three, two may be puppets of the server: the sum
    of all three is then the counts of the third. No program can tell a hospital from a made-up one, so the
    owner gives the files that the others handed him, or compares their fingerprints when he is asked.

    Args:
        path: The file; its owner alone can read it.
        client: Names the client's key: what one client's owner knows is not known to another's.

    Raises:
        InvalidInput: If the file cannot be read.
    """

    path: Path
    client: str

    def learn(self, keys: Iterable[str]) -> None:
        """Remember keys that the owner vouches for."""
        new = {plain_key(key) for key in keys} - self.keys()
        for key in sorted(new):
            append_private(self.path, {"client": self.client, "key": key})

    def learn_files(self, files: Iterable[str]) -> None:
        """Remember the keys in files that houses handed over.

        Raises:
            InvalidInput: If one cannot be read, or is no public key.
        """
        for file in map(Path, files):
            try:
                text = file.read_text("utf-8")
            except (OSError, UnicodeError):
                raise InvalidInput(f"known={file.name!r} cannot be read") from None
            self.learn([write_public(read_public_key(text))])

    def keys(self) -> frozenset[str]:
        """Give all keys that are known."""
        try:
            text = self.path.read_text("utf-8") if self.path.exists() else ""
            lines = [json.loads(line) for line in text.splitlines()]
            return frozenset(plain_key(line["key"]) for line in lines if line["client"] == self.client)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise InvalidInput(f"file={self.path.name!r} of known keys cannot be read; mend it") from None


def plain_key(key: str) -> str:
    """Give a public key without the comment behind it."""
    return " ".join(key.split()[:2])
