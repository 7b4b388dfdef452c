"""The exchanges of a run, written down as they happen: what was asked, and the bytes of every client."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

from mahrem.errors import InvalidInput
from mahrem.federated.wire._byte_budget import refuse_beyond
from mahrem.federated.wire._grid import Exchange, Replies, Traffic
from mahrem.federated.wire._message import Failure, Message

LOG_FILES = ROUNDS, TRAFFIC, VETTING = "rounds.csv", "traffic.csv", "vetting.csv"
_BY_ROUND = [column.name for column in fields(Exchange)]
_BY_CLIENT = ("round", "client", "bytes_down", "bytes_up")
_KINDS: Mapping[str, Callable[[str], Any]] = {"int": int, "str": str, "float": float}
MOST_DRAWN = 40  # clients in the picture


class Described(Protocol):
    """What can be written down: a plan, a verdict."""

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""


class CountedGrid(Protocol):
    """A grid that counts its bytes."""

    traffic: Traffic

    def nodes(self) -> list[str]:
        """Name the clients."""

    def send(self, messages: Mapping[str, Message]) -> Replies:
        """Send and wait."""


@dataclass
class ExchangeLog:
    """``rounds.csv`` has a line for every exchange, ``traffic.csv`` one for every client in it.

    A run that goes on adds to both, so that its bytes are those of all its parts.

    Args:
        folder: Where they lie.
        budget: Bytes of all parts of the run, both ways; an exchange beyond it is refused.
    """

    folder: Path
    budget: int | None = None
    rounds: list[Exchange] = field(default_factory=list, repr=False)
    traffic: Traffic = field(default_factory=Traffic, repr=False)
    at: int = 0  # the round of the model that is worked on

    def take_over(self) -> None:
        """Take over the exchanges of earlier parts; a line that was being written when it died is lost.

        Raises:
            InvalidInput: If they cannot be read.
        """
        try:
            kinds = [_KINDS[str(column.type)] for column in fields(Exchange)]
            for line in _lines(self.folder / ROUNDS):
                self.rounds.append(Exchange(*(kind(cell) for kind, cell in zip(kinds, line, strict=True))))
            by_client = [
                (int(at), node, int(down), int(up)) for at, node, down, up in _lines(self.folder / TRAFFIC)
            ]
        except (OSError, ValueError):
            raise InvalidInput(f"{ROUNDS} or {TRAFFIC} of the run to go on with cannot be read") from None
        for _, node, down, up in by_client:
            self.traffic.add(node, down, up)
        for name in (ROUNDS, TRAFFIC):
            (self.folder / name).unlink(missing_ok=True)
        self._append(ROUNDS, _BY_ROUND, [vars(done).values() for done in self.rounds])
        self._append(TRAFFIC, _BY_CLIENT, by_client)

    def allow(self, messages: Mapping[str, Message]) -> None:
        """Refuse an exchange that would go beyond the byte budget.

        Raises:
            ByteBudgetSpent: If it would.
        """
        if self.budget is not None:
            refuse_beyond(self.budget, self.rounds, self.at, messages)

    def note(self, done: Exchange, by_client: Mapping[str, tuple[int, int]]) -> None:
        """Write down an exchange, with the bytes to and from each client."""
        self.rounds.append(done)
        for node, (down, up) in by_client.items():
            self.traffic.add(node, down, up)
        self._append(ROUNDS, _BY_ROUND, [vars(done).values()])
        self._append(TRAFFIC, _BY_CLIENT, [(done.round, node, *both) for node, both in by_client.items()])

    def vetted(self, verdict: Described) -> None:
        """Write down what was found about a client's update; ``vetting.csv`` has a line for each."""
        line = verdict.as_dict()
        self._append(VETTING, line, [line.values()])

    def _append(self, name: str, head: Iterable[str], lines: Iterable[Iterable[object]]) -> None:
        path = self.folder / name
        new = not path.exists()
        with path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(head)
            writer.writerows(lines)

    def bytes(self) -> dict[str, Any]:
        """Give the bytes in all, by client, and by round of the model."""
        by_round: dict[str, dict[str, int]] = {}
        for done in self.rounds:
            if done.model_round:
                cost = by_round.setdefault(str(done.model_round), {"up": 0, "down": 0})
                cost["up"] += done.bytes_up
                cost["down"] += done.bytes_down
        return {
            "up": sum(self.traffic.received.values()),
            "down": sum(self.traffic.sent.values()),
            "up_by_client": dict(sorted(self.traffic.received.items())),
            "down_by_client": dict(sorted(self.traffic.sent.items())),
            **({"by_round": by_round} if by_round else {}),
        }

    def pictures(self) -> dict[str, str]:
        """Draw the traffic by kind of question and by client."""
        from mahrem.report import grouped_svg

        kinds = {
            kind: [done for done in self.rounds if done.what == kind]
            for kind in dict.fromkeys(done.what for done in self.rounds)
        }
        by_kind = {
            kind: (sum(done.bytes_up for done in held), sum(done.bytes_down for done in held))
            for kind, held in kinds.items()
        }
        clients = sorted(self.traffic.sent)[:MOST_DRAWN]
        by_client = {
            node: (self.traffic.received.get(node, 0), self.traffic.sent.get(node, 0)) for node in clients
        }
        return {
            "traffic.svg": grouped_svg(
                _bars("kB in all exchanges", by_kind), title="Traffic by kind of question", amount="kB"
            ),
            "clients.svg": grouped_svg(
                _bars("kB by client", by_client), title="Traffic by client", amount="kB"
            ),
        }


def _bars(panel: str, amounts: Mapping[str, tuple[int, int]]) -> list[dict[str, object]]:
    return [
        {"panel": panel, "name": name, "series": series, "value": amount / 1000}
        for name, both in amounts.items()
        for series, amount in zip(("to the server", "to the clients"), both, strict=True)
    ]


def _lines(path: Path) -> Iterator[list[str]]:
    """Give the whole lines of a table, without its head."""
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        yield from csv.reader(text[: text.rfind("\n") + 1].splitlines()[1:])


@dataclass
class WatchedGrid:
    """A grid whose every exchange is allowed and written down by a log, and told of."""

    grid: CountedGrid
    log: ExchangeLog
    tell: Callable[[Exchange], None]

    def nodes(self) -> list[str]:
        """Name the clients."""
        return self.grid.nodes()

    def send(self, messages: Mapping[str, Message]) -> Replies:
        """Send, wait and tell."""
        self.log.allow(messages)
        traffic = self.grid.traffic
        before = {node: (traffic.sent.get(node, 0), traffic.received.get(node, 0)) for node in messages}
        start = time.perf_counter()
        replies = self.grid.send(messages)
        taken = round(time.perf_counter() - start, 6)
        by_client = {
            node: (traffic.sent.get(node, 0) - down, traffic.received.get(node, 0) - up)
            for node, (down, up) in before.items()
        }
        done = Exchange(
            len(self.log.rounds) + 1,
            next((message.kind for message in messages.values()), "nothing"),
            len(messages),
            sum(not isinstance(reply, Failure) for reply in replies.values()),
            sum(down for down, _ in by_client.values()),
            sum(up for _, up in by_client.values()),
            taken,
            self.log.at,
        )
        self.log.note(done, by_client)
        self.tell(done)
        return replies
