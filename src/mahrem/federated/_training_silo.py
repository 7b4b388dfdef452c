"""A silo that anonymises its table under its own policy and then helps to train a common model."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, PrivacyWarning
from mahrem.federated._boosting import Booster, SharedBins
from mahrem.federated._fixed_point import LARGEST_ROWS, to_fixed
from mahrem.federated._grid import Answerer
from mahrem.federated._learning_plan import LearningPlan
from mahrem.federated._masked_client import MaskedClient
from mahrem.federated._message import Message
from mahrem.federated._network import LARGEST, wrong_weights
from mahrem.federated._shared_schema import SharedSchema
from mahrem.pipeline import Release, anonymize
from mahrem.release import Policy
from mahrem.types import Floats, Integers

__all__ = ["ClientPool", "TrainingSilo", "privacy_report", "training_client"]

PROTOCOL = 1  # clients of another version are refused with a clear word
REPORTED = ("holds", "promises", "utility", "risk", "method", "rows", "rows_in", "dropped", "warnings")
Measure = Callable[[pl.DataFrame, Release], Mapping[str, float]]


@dataclass
class TrainingSilo:
    """A client: anonymises first, then trains on what it could have published.

    Args:
        name: Its name on the grid.
        frame: Its table; never leaves.
        schema: What was agreed on.
        plan: What is learnt.
        policy: Its own policy: settings of :func:`mahrem.anonymize` (``quasi``, ``k``, ...). None trains on
            the table as it is, which the report says.
        measure: More figures for its privacy report, from its table and the release.

    Guarantees:
        - Training sees the verified release and nothing else of the table.
        - A policy that cannot be kept, or a table smaller than k, is refused before anything leaves.
    """

    name: str
    frame: pl.DataFrame = field(repr=False)
    schema: SharedSchema = field(repr=False)
    plan: LearningPlan = field(repr=False)
    policy: Mapping[str, Any] | None = None
    measure: Measure | None = field(default=None, repr=False)
    _ready: tuple[Floats, Integers, dict[str, Any]] | None = field(default=None, repr=False)
    _booster: Booster | None = field(default=None, repr=False)

    @property
    def ready(self) -> tuple[Floats, Integers, dict[str, Any]]:
        """Rows to learn from, their classes, and the privacy report; made on first use."""
        if self._ready is None:
            cells: tuple[str, ...] = ()
            shown, report = self.frame, privacy_report(None, self.frame.height)
            if self.policy is not None:
                release = self._release()
                shown, cells = release.table, tuple(Policy.of(self.policy).quasi)
                report = privacy_report(release, self.frame.height)
                if self.measure is not None:
                    report |= self.measure(self.frame, release)
            rows, labels = self.schema.rows(shown, cells)
            if len(rows) == 0:
                raise InvalidInput("rows=0: no row of this silo has an agreed class")
            if len(rows) > LARGEST_ROWS:
                raise InvalidInput(f"rows={len(rows)}: at most {LARGEST_ROWS} can take part")
            self._ready = rows, labels, report
        return self._ready

    def _release(self) -> Release:
        wanted = [*self.schema.columns, self.schema.target]
        missing = [name for name in wanted if name not in self.frame.columns]
        if missing:
            raise InvalidInput(f"columns={len(missing)} that were agreed on are not in this table")
        said = {"rest": "insensitive", **(self.policy or {})}
        quasi = Policy.of(self.policy or {}).quasi
        trees = {name: tree for name, tree in self.schema.hierarchies.items() if name in quasi}
        if trees:
            said = {"hierarchy": trees, **said}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # the report holds them
            return anonymize(self.frame.select(wanted), html=False, **said)

    def answer(self, message: Message) -> Message:
        """Answer one question: ``prepare``, ``train`` or ``histogram``.

        Raises:
            InvalidInput: If it is none, or about another plan or schema.
        """
        if message.kind == "prepare":
            return message.reply(**self._prepare(message.body))
        if message.kind == "train":
            weights = self._train(message.body, message.round)
            return message.reply(weights=weights, rows=len(self.ready[0]))
        return message.reply(numbers=self.numbers(message.kind, message.body))

    def _prepare(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if body.get("protocol") != PROTOCOL:
            raise InvalidInput(
                f"protocol={PROTOCOL} is spoken here, not the server's; install the same version"
            )
        if body.get("agreed") != self.plan.fingerprint(self.schema.fingerprint()):
            raise InvalidInput("the server's plan or schema is not the one agreed on here")
        rows, _, report = self.ready
        return {"rows": len(rows), "report": report}

    def numbers(self, kind: str, body: Mapping[str, Any]) -> Integers:
        """Give whole numbers for a sum: weights times rows and the rows, or a histogram of gradients."""
        if kind == "train":
            many = len(self.ready[0])
            weights = self._train(body, int(body["round"])).astype(np.float64)
            return np.append(to_fixed(weights, LARGEST) * many, many)
        if kind != "histogram" or self.plan.model != "boosting":
            raise InvalidInput(f"kind={kind!r} is no question that this client answers")
        if self._booster is None:
            rows, labels, _ = self.ready
            bins = SharedBins.of(self.schema)
            self._booster = Booster(bins(rows), labels, len(self.schema.classes), bins.starts)
        try:
            return self._booster.numbers(body)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(f"a question that cannot be read ({type(error).__name__})") from None

    def _train(self, body: Mapping[str, Any], number: int) -> Floats:
        if self.plan.model == "boosting":
            raise InvalidInput("kind='train' is refused: boosting was agreed")
        rows, labels, _ = self.ready
        classes, network = len(self.schema.classes), self.plan.network()
        weights = body.get("weights")
        wrong = wrong_weights(weights, network.size(rows.shape[1], classes))
        if wrong is not None:
            raise InvalidInput(f"the server sent {wrong}")
        named = hashlib.sha256(f"{self.plan.seed}/{number}/{self.name}".encode()).digest()
        proximal = self.plan.aggregation().proximal
        seed = int.from_bytes(named[:8], "little")
        found = network.train(np.asarray(weights), rows, labels, classes, seed=seed, proximal=proximal)
        wrong = wrong_weights(found, len(found))
        if wrong is not None:
            raise InvalidInput(f"training gave {wrong}; a lower rate may help")
        return found


def privacy_report(release: Release | None, rows: int) -> dict[str, Any]:
    """Say what a silo promises: figures only, no cell of its data."""
    if release is None:
        return {"anonymised": False, "rows": rows}
    report = release.report
    return {"anonymised": True, **{key: report[key] for key in REPORTED if key in report}}


def training_client(silo: TrainingSilo) -> Answerer:
    """Give a silo as the plan wants it on the grid: under masks, parts in the clear are refused."""
    if silo.plan.sum == "plain":
        return silo

    def otherwise(message: Message) -> Message:
        if message.kind != "prepare":
            raise InvalidInput(f"kind={message.kind!r} is refused: this client sends sums under masks only")
        return silo.answer(message)

    return MaskedClient(
        silo.name,
        silo.numbers,
        otherwise,
        least_clients=silo.plan.least_clients,
        recount=silo.plan.fraction < 1,  # other clients in each round, as drawn
    )


@dataclass
class ClientPool(Mapping[str, Answerer]):
    """Many clients of which few are held at once: made when asked, the longest unused is let go.

    Args:
        names: All of them.
        make: Makes one.
        keep: How many are held; with masked sums at least as many as take part in a round.
    """

    names: tuple[str, ...] = field(repr=False)
    make: Callable[[str], Answerer] = field(repr=False)
    keep: int = 64
    _held: dict[str, Answerer] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._known = frozenset(self.names)

    def __getitem__(self, name: str) -> Answerer:
        if name not in self._known:
            raise KeyError(name)
        found = self._held.pop(name, None) or self.make(name)
        self._held[name] = found
        while len(self._held) > self.keep:
            del self._held[next(iter(self._held))]
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
