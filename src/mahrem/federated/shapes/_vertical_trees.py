"""Boosted trees over columns that different parties hold; gradients pass under noise, and no label leaves."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mahrem.errors import InvalidInput
from mahrem.federated.shapes._hidden_products import Dealer, new_seed
from mahrem.federated.shapes._vertical import VerticalResult, VerticalRounds
from mahrem.federated.shapes._vertical_plan import VerticalTreesPlan
from mahrem.federated.wire import Message, MessageGrid


def learn_vertical_trees(
    grid: MessageGrid,
    plan: VerticalTreesPlan,
    classes: Sequence[str],
    *,
    after: Callable[[int], None] | None = None,
) -> VerticalResult:
    """Align rows by private set intersection of ids and grow trees over columns of different parties.

    The party with the labels grows the trees. For each level it needs sums of gradients over the cells of
    others' columns: a product of their cells with its gradients, which is reckoned so that they see gradients
    under noise only, and it the sums only (:class:`MatrixHolder`). The coordinator deals the noise.

    Args:
        grid: How to reach the parties (:class:`TreeParty` of the same plan).
        plan: What is learnt.
        classes: Values of the target.
        after: Told after each tree.

    Guarantees:
        - Without noise trees are those of all columns in one place.
        - Parties without labels see numbers that are evenly distributed whatever the labels are, and which of
          their own columns are cut where.
        - The party with the labels learns the sums over cells, with noise if so agreed, and on which side of
          each cut that it chose every common row lies. The coordinator learns counts.
        - Both hold for parties that follow the protocol, and a coordinator that works with none of them.

    Raises:
        Infeasible: If a party gives no answer, or too few rows align.
        InvalidInput: If not exactly one party has labels.

    References:
        Cheng et al.: SecureBoost: a lossless federated learning framework, 2021 (who learns what; there
        gradients are encrypted with Paillier). Beaver, 1991 (the products).

    Example:
        >>> import polars as pl
        >>> from mahrem.federated import LocalGrid
        >>> from mahrem.federated.shapes import TreeParty
        >>> from mahrem.learning.classifiers import DeclaredNumbers
        >>> number = DeclaredNumbers(lower=0, upper=99)
        >>> held = {"bank": {}, "shop": {"year": number}}
        >>> bank = pl.DataFrame({"id": range(99), "old": ["n"] * 50 + ["y"] * 49})
        >>> shop = pl.DataFrame({"id": range(98, 9, -1), "year": range(98, 9, -1)})
        >>> plan = VerticalTreesPlan(rounds=3, depth=1, cell_epsilon=0)
        >>> classes, key = ("n", "y"), bytes(32)
        >>> one = TreeParty("bank", bank, "id", held["bank"], classes, key, plan, target="old", held=held)
        >>> two = TreeParty("shop", shop, "id", held["shop"], classes, key, plan, held=held)
        >>> learn_vertical_trees(LocalGrid({"bank": one, "shop": two}), plan, classes).rows
        89
        >>> one.model().predict(pl.DataFrame({"year": [12, 90]})).tolist()
        ['n', 'y']
    """
    rounds = VerticalRounds(grid, plan, secrets.token_hex(8))
    growing = _TreeRounds(rounds, plan, rounds.align(classes), len(classes))
    growing.begin()
    for number in range(plan.rounds * plan.depth):
        growing.level(number)
        if after is not None and (number + 1) % plan.depth == 0:
            after((number + 1) // plan.depth)
    return growing.result


@dataclass
class _TreeRounds:
    """The coordinator: carries what parties seal for each other and deals noise."""

    rounds: VerticalRounds
    plan: VerticalTreesPlan
    result: VerticalResult
    classes: int
    dealers: dict[str, Dealer] = field(default_factory=dict)

    def begin(self) -> None:
        """Let the party with the labels have everybody's cells, less noise."""
        self.dealers = self.rounds.deal_matrices(self.result)

    def level(self, number: int) -> None:
        """Grow one level: gradients under noise, sums, cuts, and who is on which side of them."""
        seed = new_seed()
        asked = self._label("gradients", number, {"seed": seed})
        width = asked.get("width")
        if not isinstance(width, int) or width != self.plan.width(number, self.classes):
            raise InvalidInput(f"gradients={width!r} are not those of a level")
        seeds = {name: new_seed() for name in self.result.holders}
        bodies = {name: {"seed": seeds[name], "masked": asked.get(name)} for name in self.result.holders}
        answers = self._ask("product", number, bodies)
        dealt = {
            f":{name}": self.dealers[name].deal(seed, seeds[name], width) for name in self.result.holders
        }
        cuts = self._label("sums", number, {**answers, **dealt})
        sides = self._ask("sides", number, {name: {"cuts": cuts.get(name)} for name in self.result.holders})
        self._label("place", number, sides)

    def _ask(self, kind: str, number: int, bodies: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
        answers: dict[str, Message] = self.rounds.ask(kind, number, bodies)
        return {name: reply.body.get("sealed") for name, reply in answers.items()}

    def _label(self, kind: str, number: int, body: Mapping[str, object]) -> Mapping[str, object]:
        (reply,) = self.rounds.ask(kind, number, {self.result.label: body}).values()
        return reply.body
