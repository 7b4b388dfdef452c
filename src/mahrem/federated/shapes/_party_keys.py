"""Keys that parties agree on before a run, through a coordinator that cannot read or change them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.sums import ClientKeys, agreed, new_key, public_of
from mahrem.federated.wire import (
    KEY,
    Answerer,
    Message,
    MessageGrid,
    Seal,
    derived,
    framed,
    need_cryptography,
    sorted_out,
)

Parties: TypeAlias = Sequence[str]


@dataclass
class KeyedParty:
    """A party that agrees on keys with the others before it learns with them.

    Args:
        name: Its name on the grid.
        keys: What signs its keys with its long-term key, and says whether others signed theirs.
        admit: Refuses parties that it does not learn with.
        make: Gives the party itself, once keys are agreed, with the names of all.

    Guarantees:
        - Keys are fresh in every run: a pair shares one that nobody else has, all share one that the
          coordinator does not have, as long as each party's key stands in the federation file.
        - Parties that were told different lists do not come to the same keys, and stop.

    References:
        Bernstein: Curve25519, 2006. Krawczyk: SIGMA, 2003 (signed Diffie-Hellman).
    """

    name: str
    keys: ClientKeys = field(repr=False)
    admit: Callable[[Parties], None] = field(repr=False)
    make: Callable[[Seal, Parties], Answerer] = field(repr=False)
    client: Answerer | None = field(default=None, repr=False)
    _run: str = ""
    _private: Any = field(default=None, repr=False)
    _pairs: dict[str, bytes] = field(default_factory=dict, repr=False)
    _parties: list[str] = field(default_factory=list)

    def answer(self, message: Message) -> Message:
        """Answer ``hello``, ``keys`` and ``common``; then what the party answers.

        Raises:
            InvalidInput: If keys are not signed, a step is missing, or parties are others than agreed.
        """
        if message.kind == "hello":
            return message.reply(**self._hello(message))
        if message.kind in {"keys", "common"}:
            if message.run != self._run or self._private is None:
                raise InvalidInput("keys: a step of a run that did not begin here, or is over")
            step = self._take_keys if message.kind == "keys" else self._take_common
            return message.reply(**step(message.body))
        if self.client is None:
            raise InvalidInput("keys: nothing is answered before the parties have agreed on keys")
        return self.client.answer(message)

    def _hello(self, message: Message) -> dict[str, object]:
        need_cryptography("keys of parties")
        self._run, self._private, self.client, self._pairs = message.run, new_key(), None, {}
        public = public_of(self._private)
        signed = b"" if self.keys.sign is None else self.keys.sign(_statement(self.name, message.run, public))
        return {"key": public, "signed": signed}

    def _take_keys(self, body: Mapping[str, Any]) -> dict[str, Any]:
        names, publics, signed = (body.get(name) for name in ("names", "keys", "signed"))
        if self._pairs or not isinstance(names, list) or not isinstance(publics, bytes):
            raise InvalidInput("keys: no list of parties, or a second one")
        whole = bytes(signed or b"")
        if names != sorted(set(map(str, names))) or len(publics) != KEY * len(names) or len(names) < 2:
            raise InvalidInput("keys: a list that names a party twice, or has too few keys")
        if self.name not in names:
            raise InvalidInput("keys: this party is not in the list")
        self.admit(names)
        keys = {name: publics[KEY * place : KEY * (place + 1)] for place, name in enumerate(names)}
        if keys[self.name] != public_of(self._private) or len(set(keys.values())) < len(keys):
            raise InvalidInput("keys: this party's key is another there, or one stands there twice")
        size = len(whole) // len(names)
        for place, name in enumerate(names):
            given = whole[size * place : size * (place + 1)]
            if self.keys.verify is not None and not self.keys.verify(
                name, _statement(name, self._run, keys[name]), given
            ):
                raise InvalidInput(
                    "keys of a party are not signed by it; somebody stands in between, or it is no member"
                )
        bound = framed(self._run.encode(), *(part for name in names for part in (name.encode(), keys[name])))
        self._parties = names
        self._pairs = {
            name: derived(agreed(self._private, key), b"pair", bound)
            for name, key in keys.items()
            if name != self.name
        }
        return self._give_common() if self.name == names[0] else {}

    def _give_common(self) -> dict[str, object]:
        """Draw the key of all; the first party does, and seals it for each other one."""
        common = secrets.token_bytes(KEY)
        seal = Seal(common, self._pairs)
        self._begin(seal)
        return {name: seal.close_bytes(common, self._run, self.name, name, 0) for name in self._pairs}

    def _take_common(self, body: Mapping[str, object]) -> dict[str, object]:
        if not self._pairs or self.client is not None:
            raise InvalidInput("keys: a key of all before those of pairs, or a second one")
        first = self._parties[0]
        opened = Seal(bytes(KEY), self._pairs).open_bytes(body.get("common"), self._run, first, self.name, 0)
        self._begin(Seal(opened, self._pairs))
        return {}

    def _begin(self, seal: Seal) -> None:
        self.client = self.make(seal, self._parties)
        self._private = None  # never needed again


def _statement(name: str, run: str, public: bytes) -> bytes:
    return b"mahrem-party-1" + framed(name.encode(), run.encode(), public)


def agree_keys(grid: MessageGrid, nodes: Parties | None = None) -> list[str]:
    """Let parties agree on keys for a run; the coordinator carries what it cannot open.

    Args:
        grid: How to reach the parties (:class:`KeyedParty`).
        nodes: Who takes part; all that are online by default.

    Raises:
        Infeasible: If one of them gives no answer, or refuses.
    """
    run, names = secrets.token_hex(8), sorted(grid.nodes() if nodes is None else nodes)

    def ask(kind: str, bodies: Mapping[str, Mapping[str, object]]) -> dict[str, Message]:
        questions = {name: Message(kind, run, 0, body) for name, body in bodies.items()}
        answers, failures = sorted_out(grid.send(questions), questions)
        for name, why in sorted(failures.items()):
            raise Infeasible(f"party={name!r} agreed on no keys ({why})", reached=len(answers))
        return answers

    greetings = ask("hello", {name: {} for name in names})
    whole = {part: b"".join(_bytes(greetings[name], part) for name in names) for part in ("key", "signed")}
    listed = {"names": names, "keys": whole["key"], "signed": whole["signed"]}
    common = ask("keys", dict.fromkeys(names, listed))[names[0]] if names else None
    if common is not None:
        ask("common", {name: {"common": common.body.get(name)} for name in names[1:]})
    return names


def _bytes(message: Message, part: str) -> bytes:
    held = message.body.get(part)
    return held if isinstance(held, bytes) else b""
