"""What is said about a federation of real processes besides what it learns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mahrem.federated._readers import from_number, path, refuse_settings
from mahrem.settings import setting, text


@dataclass(frozen=True, kw_only=True)
class FederationSettings:
    """How a federation is reached, and for how long.

    Args:
        address: Where clients reach the server.
        answer_seconds: How long the server waits for the answers of a round.
        days: How long the server's certificate holds.
        network: The file that makes an ``own`` network; a copy is put beside the federation file.
        sum_public: Public key of homomorphic sums, made by a client; by default a pair is made here if it is
            needed.
    """

    address: str = setting("127.0.0.1:9443", read=text, group="federation", metavar="HOST:PORT")
    answer_seconds: float = setting(60.0, read=from_number(0.1), group="federation", metavar="SECONDS")
    days: float = setting(365.0, read=from_number(0.01), group="federation", metavar="N")
    network: Path | None = setting(
        read=path, takes="Path | None", group="federation", metavar="FILE", private=True
    )
    sum_public: Path | None = setting(
        read=path, takes="Path | None", group="federation", metavar="FILE", private=True
    )

    def __post_init__(self) -> None:
        refuse_settings(self)
