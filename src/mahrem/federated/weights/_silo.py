"""A silo that anonymises its table under its own policy and then helps to train a common model."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mahrem.dp import Ledger
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter, PrivacyWarning
from mahrem.federated.networks import LARGEST, client_seed, wrong_weights
from mahrem.federated.sums import LARGEST_ROWS, ClientKeys, hide_client, to_fixed
from mahrem.federated.weights._booster import Booster
from mahrem.federated.weights._compression import Feedback
from mahrem.federated.weights._decoys import Decoys
from mahrem.federated.weights._given import GivenWeights
from mahrem.federated.weights._model import SharedModel
from mahrem.federated.weights._norm_bound import bound_norms
from mahrem.federated.weights._own_part import OwnPart
from mahrem.federated.weights._perturbation import Payments, cell_noise, growth_of
from mahrem.federated.weights._plan import LearningPlan
from mahrem.federated.weights._schema import SharedSchema
from mahrem.federated.wire import Answerer, Message
from mahrem.files import write_whole
from mahrem.pipeline import Release, anonymize
from mahrem.release.decisions import Policy
from mahrem.table import EVERY
from mahrem.types import Floats, Integers

PROTOCOL = 1  # clients of another version are refused with a clear word
REPORTED = ("holds", "promises", "utility", "risk", "method", "rows", "rows_in", "dropped", "warnings")
TOLD = ("anonymised", "holds")  # of a report where all else is hidden
ASKED = (
    "model",
    "wanted",
    "holds",
    "column",
)  # of a promise there: what its owner decided, not what rows reached
JUDGED_BY = 5  # right answers are counted in groups of so many
_STAYS = "stays in the silo: only what is learnt leaves it"
UNTOLD = "this silo cannot take part; where what it sends is hidden or noisy it tells nobody why"
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
        ledger: Pays for noise before anything leaves; None promises for this run alone.
        decoys: The clients' key of dummies, where the plan has them.
        fresh: Go through the rows in an order that nobody knows, another one each time: two runs over
            different clients differ then by more than those. Else a run can be repeated, as simulations are.
        keep_model: Where its own model is written after each round (``personal``), for its owner only.

    Guarantees:
        - Training sees the verified release and nothing else of the table.
        - A policy that cannot be kept, or a table smaller than k, is refused before anything leaves; under
          noise the silo answers with noise alone, so that nobody learns of it.
        - Under noise nothing leaves that was not paid, and its number of rows does not leave at all.
        - Each cell is read by itself, as the schema says: no record changes how another is read.
        - Without noise it trains on weights that an agreed run can have, see :class:`GivenWeights`.

    Raises:
        InvalidParameter: If a key of dummies is missing, or noise is to hide rows that are anonymised first.
    """

    open_kind: ClassVar[str] = "prepare"
    name: str
    frame: pl.DataFrame = field(repr=False)
    schema: SharedSchema = field(repr=False)
    plan: LearningPlan = field(repr=False)
    policy: Mapping[str, Any] | None = None
    measure: Measure | None = field(default=None, repr=False)
    ledger: Ledger | None = field(default=None, repr=False)
    decoys: Decoys | None = field(default=None, repr=False)
    fresh: bool = False
    keep_model: Path | None = field(default=None, repr=False)
    _ready: tuple[Any, Integers, dict[str, Any]] | None = field(default=None, repr=False)
    _booster: Booster | None = field(default=None, repr=False)
    _payments: Payments | None = field(default=None, repr=False)
    _feedback: Feedback | None = field(default=None, repr=False)
    _kept_back: tuple[Floats, Integers] = field(default=(np.zeros((0, 0)), np.zeros(0, np.int64)), repr=False)
    _own: OwnPart = field(init=False, repr=False)
    _given: GivenWeights = field(init=False, repr=False)

    def __post_init__(self) -> None:
        wanted = self.plan.protections.dummies
        if wanted != (0 if self.decoys is None else self.decoys.share):
            raise InvalidParameter(
                f"dummies={wanted:g}: each client needs the clients' key of as many dummies"
            )
        if self.policy is not None:
            self.plan.protections.refuse_anonymised()
        self._own = OwnPart(self.plan)
        self._given = GivenWeights(self.schema, self.plan)
        noise, small = self.plan.perturbation(), self.plan.compression()
        self._payments = None if noise is None else Payments(noise, self.ledger)
        self._feedback = None if small is None else Feedback(small)

    def for_grid(self, keys: ClientKeys | None = None) -> Answerer:
        """Give it as its plan wants it on the grid: under a hidden sum, parts in the clear are refused."""
        return hide_client(self.name, self, self.plan, keys)

    @property
    def ready(self) -> tuple[Any, Integers, dict[str, Any]]:
        """Rows to learn from (of trees their bins), classes, and the privacy report; made on first use."""
        if self._ready is None:
            shown, cells, report = self._shown()
            read = growth_of(self.plan, self.schema).bins.read if self.plan.kind.trees else self.schema.rows
            rows, labels = read(shown, cells)
            if self._payments is None and len(rows) == 0:
                raise InvalidInput("rows=0: no row of this silo has an agreed class")
            if self._payments is None and len(rows) > LARGEST_ROWS:
                raise InvalidInput(f"rows={len(rows)}: at most {LARGEST_ROWS} can take part")
            rows, labels = self._keep_back(rows, labels)
            self._ready = rows, labels, report
        return self._ready

    def _shown(self) -> tuple[pl.DataFrame, tuple[str, ...], dict[str, object]]:
        """Give the rows that are learnt from, which of their columns hold cells, and the privacy report."""
        if self.policy is None:
            return self.frame, (), privacy_report(None, self.frame.height)
        try:
            release = self._release()
        except (Infeasible, InvalidInput) as error:
            if self._payments is None:
                raise
            # Who stayed away would tell about the rows: it takes part with noise alone.
            return self.frame.clear(), (), {"anonymised": True, "holds": True, "left_out": str(error)}
        report = privacy_report(release, self.frame.height)
        if self.measure is not None:
            report |= self.measure(self.frame, release)
        return release.table, tuple(Policy.of(self.policy).quasi), report

    def _keep_back(self, rows: Any, labels: Integers) -> tuple[Any, Integers]:
        """Keep some rows back to validate by, where rounds may end early."""
        if self.plan.early_stop is None:
            return rows, labels
        order = np.random.default_rng(client_seed(self.plan.seed, 0, f"{self.name}/kept")).permutation(
            len(rows)
        )
        count = max(1, int(self.plan.validation * len(rows)))
        if count >= len(rows) or count < JUDGED_BY:
            raise InvalidInput(
                f"rows={len(rows)}: too few to keep {JUDGED_BY} or more of them back for early_stop"
            )
        self._kept_back = rows[order[:count]], labels[order[:count]]
        return rows[order[count:]], labels[order[count:]]

    def _refuse_unready(self) -> None:
        """Refuse a question without the reason, which stays here where rows are hidden: it tells of them."""
        try:
            _ = self.ready
        except Exception as error:
            if self._payments is None and not self.plan.hides:
                raise
            raise InvalidInput(UNTOLD) from error

    def _release(self) -> Release:
        wanted = [*self.schema.columns, self.schema.target]
        missing = [name for name in wanted if name not in self.frame.columns]
        if missing:
            raise InvalidInput(f"columns={len(missing)} that were agreed on are not in this table")
        settings: dict[str, Any] = {"rest": "insensitive", "accept": {EVERY: _STAYS}, **(self.policy or {})}
        quasi = Policy.of(self.policy or {}).quasi
        trees = {name: tree for name, tree in self.schema.hierarchies.items() if name in quasi}
        if trees:
            settings = {"hierarchy": trees, **settings}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # the report holds them
            return anonymize(self.frame.select(wanted), html=False, **settings)

    def answer(self, message: Message) -> Message:
        """Answer one question: ``prepare``, ``train`` or ``histogram``.

        Raises:
            InvalidInput: If it is none, or about another plan or schema.
        """
        if message.kind == "prepare":
            return message.reply(**self._prepare(message.body))
        if message.kind == "train":
            return message.reply(**self._sent(message.body, message.round))
        return message.reply(numbers=self.numbers(message.kind, message.body))

    def _prepare(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if body.get("protocol") != PROTOCOL:
            raise InvalidInput(
                f"protocol={PROTOCOL} is spoken here, not the server's; install the same version"
            )
        if body.get("agreed") != self.plan.fingerprint(self.schema.fingerprint()):
            raise InvalidInput("the server's plan or schema is not the one agreed on here")
        self._refuse_unready()
        self._given.begin()
        _, _, report = self.ready
        if self._payments is None:
            return {"report": hidden_report(report) if self.plan.hides else report}
        if self.plan.fraction == 1:  # else it pays when it is drawn
            wanted = body.get("rounds")
            self._payments.pay(min(wanted, self.plan.rounds) if isinstance(wanted, int) else 1)
        shown = {name: report[name] for name in TOLD if name in report}
        return {"report": {**shown, "private": self._payments.promise()}}

    def numbers(self, kind: str, body: Mapping[str, Any]) -> Integers:
        """Give whole numbers for a sum: an update times rows and the rows, or a histogram of gradients."""
        if kind == "train":
            update = self._update(body, int(body["round"]))
            return np.append(to_fixed(update, LARGEST) * self.counts, to_fixed(np.array(self.counts), np.inf))
        if kind == "validate" and self.plan.early_stop is not None:
            return self._validated(body)
        if kind != "histogram" or not self.plan.kind.trees:
            raise InvalidInput(f"kind={kind!r} is no question that this client answers")
        self._refuse_unready()
        if self._booster is None:
            self._booster = self._new_booster()
        try:
            return self._booster.numbers(body)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(f"a question that cannot be read ({type(error).__name__})") from None

    def _new_booster(self) -> Booster:
        bins, labels, _ = self.ready
        plan, schema, paid = self.plan, self.schema, self._payments
        noise = None if paid is None else cell_noise(plan, schema, paid)
        growth = growth_of(plan, schema)
        return Booster(bins, labels, len(schema.classes), growth, plan.depth, plan.rounds, noise)

    @property
    def counts(self) -> int:
        """How much this silo counts in an average: its rows, and 1 where noise hides how many there are."""
        return len(self.ready[0]) if self._payments is None else 1

    def _sent(self, body: Mapping[str, object], number: int) -> dict[str, object]:
        """Give what is sent in the clear: new weights, or a small update."""
        update = self._update(body, number)
        if self._feedback is not None:
            rng = np.random.default_rng(client_seed(self.plan.seed, number, f"{self.name}/sent"))
            return {**self._feedback.pack(update, rng), "rows": self.counts}
        return {"weights": (np.asarray(body["weights"]) + update).astype(np.float32), "rows": self.counts}

    def _update(self, body: Mapping[str, Any], number: int) -> Floats:
        """Give the protected update, with dummies among its numbers where they were agreed."""
        if self.plan.kind.trees:
            raise InvalidInput(f"kind='train' is refused: {self.plan.model} was agreed")
        self._refuse_unready()
        given = body.get("weights")
        wrong = wrong_weights(given, self.plan.weights_in(self.ready[0].shape[1], len(self.schema.classes)))
        if wrong is not None:
            raise InvalidInput(f"the server sent {wrong}")
        sent = np.asarray(given)
        if self._payments is None:  # under noise any weights will do, and each round is paid for
            self._given.accept(number, sent)
        if self.decoys is None:
            return self._protected(sent, number)
        weights = self._revealed(sent, self.decoys, begin=bool(body.get("begin")))
        mixed = self.decoys.mix(weights + self._protected(weights, number))
        return np.asarray(mixed - sent)

    def _revealed(self, sent: Floats, decoys: Decoys, *, begin: bool) -> Floats:
        """Take dummies out of what the server sent; the first weights only clients know."""
        width, classes = self.ready[0].shape[1], len(self.schema.classes)
        if begin:
            return self.plan.network().start(width, classes, decoys.seed())
        return decoys.open(sent, self.plan.network().size(width, classes))

    def _validated(self, body: Mapping[str, Any]) -> Integers:
        """Count right answers on the rows that are kept back, and these rows, in groups of people."""
        rows, labels = self._kept_back
        network, classes, given = self.plan.network(), len(self.schema.classes), body.get("weights")
        wrong = wrong_weights(given, network.size(rows.shape[1], classes))
        if wrong is not None:
            raise InvalidInput(f"the server sent {wrong}")
        self._given.judge(int(body["round"]), np.asarray(given))
        own = self._own.places(network, rows.shape[1], classes)
        scores = network.scores(self._own.own_weights(np.asarray(given), own), rows, classes)
        counted = np.array([int((scores.argmax(axis=1) == labels).sum()), len(labels)], np.int64)
        return counted - counted % JUDGED_BY

    def _keep_model(self, weights: Floats, number: int) -> None:
        """Write the model with this silo's own layers where its owner wants it."""
        if self.keep_model is not None:
            arrays = {"weights": np.asarray(weights, np.float32)}
            common = SharedModel(schema=self.schema, plan=self.plan, arrays=arrays, rounds=number)
            write_whole(self.keep_model, self.personal_model(common).to_bytes())

    def personal_model(self, common: SharedModel) -> SharedModel:
        """Give the common model with the layers that are this silo's own (``personal``)."""
        network, weights = self.plan.network(), common.arrays["weights"]
        own = self._own.places(network, self.schema.encoder.width, len(self.schema.classes))
        return common.next(common.rounds, {"weights": self._own.own_weights(weights, own)})

    def _protected(self, weights: Floats, number: int) -> Floats:
        """Train, and give the difference from the weights, clipped and with noise."""
        release = 0 if self._payments is None else self._payments.take()

        def train(begun: Floats, drift: Floats | None) -> Floats:
            return self._trained(begun, number, release, drift)

        network, width = self.plan.network(), self.ready[0].shape[1]
        if self.plan.scaffold:
            update = self._own.corrected_update(weights, network.steps(len(self.ready[0])), train)
        elif self.plan.personal:
            own = self._own.places(network, width, len(self.schema.classes))
            update = self._own.personal_update(weights, own, train)
            self._keep_model(weights, number)
        else:
            update = train(weights, None).astype(np.float64) - weights
        trained = (weights + update).astype(np.float32)
        by_client = self._payments is not None and self.plan.protections.unit == "client"
        if by_client or self.plan.hides:
            update[~np.isfinite(update)] = 0.0  # a refusal would tell about the rows
            np.clip(update, -LARGEST, LARGEST, out=update)
        elif (wrong := wrong_weights(trained, len(trained))) is not None:
            raise InvalidInput(f"training gave {wrong}; a lower rate may help")
        if self._payments is not None and by_client:
            return self._payments.perturbation.update(update, self._payments.stream, release)
        clip = self.plan.protections.clip
        return update if clip is None or self._payments is not None else bound_norms(update, clip)

    def _trained(self, weights: Floats, number: int, release: int, drift: Floats | None = None) -> Floats:
        rows, labels, _ = self.ready
        classes, network = len(self.schema.classes), self.plan.network()
        if self._payments is not None and (plan := self._payments.perturbation.training) is not None:
            steps = self._payments.perturbation.steps
            taken = range((release - 1) * steps, release * steps)  # none is taken twice
            stream = self._payments.stream
            return network.train_privately(weights, rows, labels, classes, plan, stream, taken)
        seed, proximal = client_seed(self.plan.seed, number, self.name), self.plan.proximal
        if self.fresh:
            seed = secrets.randbits(63)
        return network.train(weights, rows, labels, classes, seed=seed, proximal=proximal, drift=drift)


def hidden_report(report: Mapping[str, Any]) -> dict[str, Any]:
    """Give of a report what may be told where sums hide all else: what was promised, and rows in tens.

    Utility and risk are shares of rows and classes: of two that are exact the number of rows is found.
    Rows are rounded down.

    Example:
        >>> hidden_report({"anonymised": True, "holds": True, "rows": 247, "risk": {"highest": 0.2}})
        {'anonymised': True, 'holds': True, 'rows': 240}
    """
    shown = {name: report[name] for name in TOLD if name in report}
    if "promises" in report:
        shown["promises"] = [{name: promise[name] for name in ASKED} for promise in report["promises"]]
    return shown | ({"rows": report["rows"] - report["rows"] % 10} if "rows" in report else {})


def privacy_report(release: Release | None, rows: int) -> dict[str, Any]:
    """Say what a silo promises: figures only, no cell of its data."""
    if release is None:
        return {"anonymised": False, "rows": rows}
    report = release.report
    return {"anonymised": True, **{key: report[key] for key in REPORTED if key in report}}
