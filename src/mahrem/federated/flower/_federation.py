"""The federation file: who takes part, what is learnt, whom to trust. Public, and the same for everybody."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import tomli_w

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.rules import RulesPlan, RulesSchema
from mahrem.federated.runs import AgreedShape, RulesTask, ShapeTask, WeightsTask
from mahrem.federated.sums import least_of
from mahrem.federated.weights import LearningPlan, SharedSchema, read_toml
from mahrem.federated.wire.certificates import (
    fingerprint,
    read_certificate,
    read_public_key,
    refuse_dates,
    signature_holds,
    write_public,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

VERSION = 1
_TOP = ("version", "address", "authority", "answer_seconds", "table", "learning", "clients")
Task: TypeAlias = RulesTask | WeightsTask | ShapeTask
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def client_name(name: str) -> str:
    """Give back the name of a client if it is one: letters, digits, dot, dash, at most 64."""
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            f"client={name!r} must be letters, digits, dots and dashes, at most 64 of them"
        )
    return name


def _digest(part: object) -> str:
    return hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:16]


def _read_task(table: Mapping[str, Any], learning: Mapping[str, Any]) -> Task:
    """Read what is learnt: a plan that names a shape is one, that names a model one of weights or trees."""
    if "shape" in learning:
        return ShapeTask(SharedSchema.from_table(table), AgreedShape.from_dict(learning))
    if "model" in learning:
        return WeightsTask(SharedSchema.from_table(table), LearningPlan.from_dict(learning))
    return RulesTask(RulesSchema.from_table(table), RulesPlan.from_dict(learning))


@dataclass(frozen=True, kw_only=True)
class Federation:
    """What everybody in a federation agreed on.

    - ``address``: where clients reach the server, ``host:port``.
    - ``authority``: the certificate (PEM) that vouches for the server.
    - ``task``: what is learnt (:class:`RulesTask`, :class:`WeightsTask`, :class:`ShapeTask`).
    - ``clients``: public keys by name; they say who may take part and whose word is whose.
    - ``answer_seconds``: how long the server waits for the answers of a round.
    """

    address: str
    authority: str = field(repr=False)
    task: Task
    clients: Mapping[str, str] = field(default_factory=dict, repr=False)
    answer_seconds: float = 60.0

    def __post_init__(self) -> None:
        self.host_port()
        check.at_least(0.1, answer_seconds=self.answer_seconds)
        if len({tuple(key.split()[:2]) for key in self.clients.values()}) < len(self.clients):
            raise InvalidParameter(f"clients={len(self.clients)}: two of them have the same key")
        if len(self.clients) < self.least:
            raise InvalidParameter(f"clients={len(self.clients)} are fewer than least_clients={self.least}")
        for name in self.clients:
            client_name(name)
        holds = self.task.plan.holds if isinstance(self.task, ShapeTask) else {}
        if holds and set(holds) != set(self.clients):
            raise InvalidParameter(f"holds={len(holds)}: other members than the clients={len(self.clients)}")

    @property
    def least(self) -> int:
        """The least clients of a run; all where sums are hidden and nothing is said, or two runs tell."""
        plan = self.task.plan
        return least_of(plan, len(self.clients)) if plan.hides else plan.least

    def host_port(self) -> tuple[str, int]:
        """Give the server's host and port."""
        host, mark, port = self.address.rpartition(":")
        if not mark or not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise InvalidParameter(f"address={self.address!r} must read HOST:PORT")
        return host.strip("[]"), int(port)

    def as_toml(self) -> str:
        """Write the file; equal federations give equal text."""
        return tomli_w.dumps(
            {
                "version": VERSION,
                "address": self.address,
                "answer_seconds": float(self.answer_seconds),
                "authority": self.authority,
                "table": self.task.schema.as_table(),
                "learning": self.task.plan.as_dict(),
                "clients": dict(sorted(self.clients.items())),
            },
            multiline_strings=True,
        )

    def fingerprint(self) -> str:
        """Give what two parties compare to know that they hold the same file."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:  # every message carries it
        return fingerprint(self.as_toml().encode())

    def parts(self) -> str:
        """Name each part of the file shortly, for the other side to find out which one differs."""
        return self._parts

    @cached_property
    def _parts(self) -> str:  # every answer carries it
        file = tomllib.loads(self.as_toml())
        return json.dumps({name: _digest(part) for name, part in file.items()})

    def differs(self, given: bytes) -> str | None:
        """Say where another side's file differs from this one, if it does; ``given`` are its parts."""
        ours = json.loads(self.parts())
        try:
            theirs = dict(json.loads(given))
        except (ValueError, TypeError):
            return "an answer without word of its federation.toml; it cannot be read"
        names = [name for name, digest in ours.items() if theirs.get(name) != digest]
        if not names:
            return None
        return (
            f"its federation.toml differs from the server's in {', '.join(names)}; give it the server's file "
            f"(fingerprint {self.fingerprint()}) and start it again"
        )

    @classmethod
    def read(cls, path: Path) -> Federation:
        """Read a federation file.

        Raises:
            InvalidInput: If it is none, or a key or certificate in it is none.
        """
        try:
            return cls._from(read_toml("federation", path))
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidInput(
                f"federation={path.name!r}: something is missing or of another kind ({error})"
            ) from None

    @classmethod
    def _from(cls, file: dict[str, Any]) -> Federation:
        check.unknown_keys(file, _TOP, where="federation")
        if file["version"] != VERSION:
            raise InvalidInput(f"version={file['version']!r}: this mahrem reads version {VERSION}")
        task = _read_task(file["table"], file["learning"])
        read_certificate(file["authority"].encode(), "authority")
        for key in file["clients"].values():
            read_public_key(key)
        plain = {name: file[name] for name in ("address", "authority", "clients", "answer_seconds")}
        return cls(task=task, **plain)

    def refuse_expired(self) -> None:
        """Refuse an authority whose certificate does not hold today."""
        refuse_dates(read_certificate(self.authority.encode(), "authority"), "authority")

    def name_of(self, key: EllipticCurvePrivateKey) -> str:
        """Give the client whose key this is.

        Raises:
            InvalidInput: If it is nobody's.
        """
        mine = write_public(key.public_key()).split()[:2]
        for name, public in self.clients.items():
            if public.split()[:2] == mine:
                return name
        raise InvalidInput(
            f"key: its public part is not among the clients={len(self.clients)} of this federation; "
            f"ask the coordinator to add it"
        )

    def signed_by(self, name: str, statement: bytes, signature: bytes) -> bool:
        """Say whether a named client signed a statement."""
        key = self.clients.get(name)
        return key is not None and signature_holds(read_public_key(key), statement, signature)
