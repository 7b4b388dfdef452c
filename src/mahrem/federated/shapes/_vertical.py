"""Vertical learning: parties hold different columns of the same people, one of them the labels."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.shapes._alignment import align_ids
from mahrem.federated.shapes._hidden_products import Dealer, new_seed, refuse_large
from mahrem.federated.shapes._plan import AlignedPlan
from mahrem.federated.shapes._private_ids import check_points, words_of
from mahrem.federated.shapes._vertical_party import VerticalParty
from mahrem.federated.shapes._vertical_plan import VerticalPlan
from mahrem.federated.weights import SharedModel
from mahrem.federated.wire import Message, MessageGrid, Words, sorted_out


@dataclass(frozen=True)
class VerticalResult:
    """What a coordinator knows in the end: counts. The model lies in parts at the parties."""

    parties: tuple[str, ...]
    label: str  # the party with the labels
    rows: int  # how many people all parties have
    alone: Mapping[str, int] = field(default_factory=dict)  # ids that some other party does not have
    missing: Mapping[str, int] = field(default_factory=dict)  # rows without an id

    @property
    def holders(self) -> list[str]:
        """The parties without labels."""
        return [name for name in self.parties if name != self.label]


def learn_vertical(
    grid: MessageGrid,
    plan: VerticalPlan,
    classes: Sequence[str],
    *,
    after: Callable[[int], None] | None = None,
    join: bool = False,
) -> VerticalResult:
    """Align rows by private set intersection of ids and learn from columns that different parties hold.

    Args:
        grid: How to reach the parties (:class:`VerticalParty` of the same plan).
        plan: What is learnt.
        classes: Values of the target.
        after: Told after each round.
        join: Bring the parts of the model to the party with the labels in the end, sealed.

    Guarantees:
        - Steps are those of the same model over all columns in one place, to rounding.
        - Rows align by id alone: the order of anybody's rows changes nothing.
        - The coordinator gets points under the secrets of all parties, counts and sealed bytes.

    Raises:
        Infeasible: If a party gives no answer, or too few rows align; no party can be spared.
        InvalidInput: If not exactly one party has labels.

    References:
        Hardy et al.: Private federated learning on vertically partitioned data, 2017 (the plain protocol; we
        seal what passes the coordinator instead of computing on ciphertexts).
        Meadows: A more efficient cryptographic matchmaking protocol, 1986; Huberman et al.: Enhancing privacy
        and trust in electronic communities, 1999 (intersection by Diffie-Hellman).
        Vepakomma et al.: Split learning for health, 2018 (vertically partitioned columns).

    Example:
        >>> import polars as pl
        >>> from mahrem.federated import LocalGrid
        >>> from mahrem.federated.networks import Network
        >>> from mahrem.federated.shapes import VerticalParty
        >>> from mahrem.learning.classifiers import DeclaredNumbers
        >>> number = DeclaredNumbers(lower=0, upper=99)
        >>> bank = pl.DataFrame({"id": range(99), "age": range(99), "old": ["n"] * 50 + ["y"] * 49})
        >>> shop = pl.DataFrame({"id": range(98, 9, -1), "year": range(98, 9, -1)})
        >>> plan = VerticalPlan(network=Network(hidden=(), rate=1.0, batch=16), rounds=20)
        >>> key, classes = bytes(32), ("n", "y")
        >>> one = VerticalParty("bank", bank, "id", {"age": number}, classes, key, plan, target="old")
        >>> two = VerticalParty("shop", shop, "id", {"year": number}, classes, key, plan)
        >>> learnt = learn_vertical(LocalGrid({"bank": one, "shop": two}), plan, classes)
        >>> learnt.rows, learnt.alone["bank"], learnt.label
        (89, 10, 'bank')
        >>> model = join_parties([one, two])
        >>> model.predict(pl.DataFrame({"age": [3, 90], "year": [3, 90]})).tolist()
        ['n', 'y']
    """
    rounds = VerticalRounds(grid, plan, secrets.token_hex(8))
    result = rounds.align(classes)
    dealers = rounds.deal_matrices(result) if plan.hide_slopes else {}
    slopes: dict[str, dict[str, object]] = {name: {} for name in result.holders}
    steps = plan.steps(result.rows)
    for number in range(plan.rounds * steps):
        parts = rounds.ask("parts", number, slopes)
        held: dict[str, object] = {name: reply.body.get("part", b"") for name, reply in parts.items()}
        seed, seeds = new_seed(), {name: new_seed() for name in dealers}
        batch = plan.batch(number, result.rows)
        for name, dealer in dealers.items():
            held |= {":seed": seed, f":{name}": dealer.deal(seed, seeds[name], len(classes), batch)}
        (reply,) = rounds.ask("slopes", number, {result.label: held}).values()
        slopes = {
            name: {"slope": reply.body.get(name), "rest": reply.body.get(f":{name}"), "seed": seeds.get(name)}
            for name in result.holders
        }
        slopes = {
            name: {key: part for key, part in body.items() if part is not None}
            for name, body in slopes.items()
        }
        if after is not None and (number + 1) % steps == 0:
            after((number + 1) // steps)
    last = plan.rounds * steps
    ended = rounds.ask("done", last, slopes)
    if join:
        parts = {name: reply.body.get("part", b"") for name, reply in ended.items()}
        rounds.ask("join", last, {result.label: parts})
    return result


@dataclass
class VerticalRounds:
    """A coordinator's questions of one run: first whose rows are the same people."""

    grid: MessageGrid
    plan: AlignedPlan
    run: str

    def ask(self, kind: str, number: int, bodies: Mapping[str, Mapping[str, object]]) -> dict[str, Message]:
        """Ask parties, each its own; all must answer."""
        questions = {name: Message(kind, self.run, number, body) for name, body in bodies.items()}
        answers, failures = sorted_out(self.grid.send(questions), questions)
        for name, why in sorted(failures.items()):
            raise Infeasible(
                f"party={name!r} is missing ({why}); vertical learning needs the columns of every party",
                reached=len(answers),
            )
        return answers

    def deal_matrices(self, result: VerticalResult) -> dict[str, Dealer]:
        """Let the party with the labels have everybody's numbers, less noise that is drawn here."""
        seeds = {name: new_seed() for name in result.holders}
        answers = self.ask("shift", 0, {name: {"seed": seed} for name, seed in seeds.items()})
        dealers = {}
        for name, reply in answers.items():
            cells = reply.body.get("cells")
            if not isinstance(cells, int) or cells < 1:
                raise InvalidInput(f"party={name!r} sent no numbers")
            refuse_large(cells, result.rows)
            dealers[name] = Dealer(cells, result.rows, seeds[name])
        shifted = {name: reply.body.get("shifted") for name, reply in answers.items()}
        self.ask("begin", 0, {result.label: shifted})
        return dealers

    def align(self, classes: Sequence[str]) -> VerticalResult:
        """Let everybody know which of its rows all have, and in which order."""
        parties = tuple(sorted(self.grid.nodes()))
        if len(parties) < 2:
            raise Infeasible(f"parties={len(parties)}: at least two are needed", reached=len(parties))
        agreed = {"agreed": self.plan.fingerprint(classes)}
        answers = self.ask("ids", 0, dict.fromkeys(parties, agreed))
        labelled = [name for name in parties if answers[name].body.get("labels") is True]
        if len(labelled) != 1:
            raise InvalidInput(f"parties={len(labelled)} have labels; it must be one")
        raised = self._raised(parties, {name: answers[name].body.get("ids") for name in parties})
        aligned = align_ids(raised, self.plan.least_rows)
        agreement = {"parties": list(parties), "label": labelled[0]}
        self.ask(
            "align", 0, {name: {**agreement, "places": places} for name, places in aligned.places.items()}
        )
        missing = {name: int(answers[name].body.get("missing", 0)) for name in parties}
        return VerticalResult(parties, labelled[0], aligned.rows, aligned.alone, missing)

    def _raised(self, parties: Sequence[str], points: Mapping[str, Any]) -> dict[str, Words]:
        """Let each party's points pass through all others, so that they are under everybody's secret."""
        held = dict(points)
        for turn in range(1, len(parties)):
            senders = {parties[place - turn]: name for place, name in enumerate(parties)}
            bodies = {name: {"of": of, "ids": held[of]} for of, name in senders.items()}
            answers = self.ask("raise", turn, bodies)
            for of, name in senders.items():
                before, after = held[of], answers[name].body.get("ids")
                held[of] = check_points(after, None if before is None else len(before), name)
        return {name: words_of(check_points(held[name], None, name)) for name in parties}


def join_parties(parties: Sequence[VerticalParty]) -> SharedModel:
    """Put the parts of all parties together, where they agree to: one model over all columns.

    Raises:
        InvalidInput: If they did not learn together.
    """
    tops = [party for party in parties if party.top is not None]
    if len(tops) != 1 or any(party.part is None and party.top is None for party in parties):
        raise InvalidInput("parties: these did not learn together")
    held = {party.name: party.columns for party in parties}
    return tops[0].joined(held, {party.name: party.part for party in parties})
