"""Who takes part in a federation, with which key and which table."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mahrem.federated.flower._federation import Federation
from mahrem.federated.runs import TableOwner
from mahrem.federated.sums import ClientKeys, SumHistory
from mahrem.federated.wire.certificates import read_secret, sign_bytes
from mahrem.table import Reading

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey


@dataclass(frozen=True)
class FederationMember:
    """A client of a federation: its long-term key, and its table, which never leaves.

    What it signs is bound to the federation: a signature says nothing in another one.

    Raises:
        InvalidInput: If the key is that of no client.
    """

    federation: Federation
    key: EllipticCurvePrivateKey = field(repr=False)
    source: object = field(repr=False)
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        self.name  # noqa: B018 - refuses a key that is nobody's

    @cached_property
    def name(self) -> str:
        """Its name in the federation."""
        return self.federation.name_of(self.key)

    def owner(self, sum_secret: Path | None = None, history: SumHistory | None = None) -> TableOwner:
        """Give it as a task's client, with the clients' key of homomorphic sums if there is one."""
        secret = None if sum_secret is None else read_secret(sum_secret)
        return TableOwner(
            name=self.name,
            source=self.source,
            reading=self.reading,
            keys=ClientKeys(
                secret=secret,
                sign=self.sign,
                verify=self.verify,
                history=history,
                members=len(self.federation.clients),
            ),
            federation=self.federation.fingerprint(),
        )

    def sign(self, statement: bytes) -> bytes:
        """Sign a statement."""
        return sign_bytes(self.key, self._bound(statement))

    def verify(self, who: str, statement: bytes, signature: bytes) -> bool:
        """Say whether another client of the federation signed a statement."""
        return self.federation.signed_by(who, self._bound(statement), signature)

    def _bound(self, statement: bytes) -> bytes:
        return self.federation.fingerprint().encode() + statement
