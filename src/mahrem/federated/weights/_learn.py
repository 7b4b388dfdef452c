"""Learning together: one model from silos that keep their tables."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from mahrem.federated.sums import make_adder
from mahrem.federated.weights._model import SharedModel
from mahrem.federated.weights._plan import LearningPlan
from mahrem.federated.weights._rounds import AfterRound, LearningRounds, WeightsResult
from mahrem.federated.weights._schema import SharedSchema
from mahrem.federated.weights._vetting import UpdateVerdict, Vetting
from mahrem.federated.wire import ByteBudgetSpent, MessageGrid


def learn_together(
    grid: MessageGrid,
    schema: SharedSchema,
    plan: LearningPlan | None = None,
    *,
    before: WeightsResult | None = None,
    after: AfterRound = lambda *_: None,
    vetted: Callable[[UpdateVerdict], None] = lambda _: None,
    held_out: pl.DataFrame | None = None,
    public: bytes | None = None,
) -> WeightsResult:
    """Learn one model from silos that keep their tables.

    Args:
        grid: How to reach the silos (:class:`TrainingSilo` of the same schema and plan).
        schema: What was agreed on.
        plan: What is learnt and how it is protected.
        before: Go on from this model instead of a new one; its verdicts count for
            :attr:`Protections.strikes`.
        after: Told after each round.
        vetted: Told each verdict on a client's update.
        held_out: Rows that no client has, by which the server judges updates; with
            :attr:`Protections.held_out`.
        public: The server's key of homomorphic sums (:func:`make_sum_keys`).

    Guarantees:
        - A silo whose policy fails, or whose table is smaller than k, is left out and named with the reason.
        - Weights that are not numbers, huge, or of another shape are refused client by client, and so are
          updates that a defence refuses; every verdict is kept with its reason.
        - A round with fewer than ``least_clients`` answers, or fewer than the aggregation needs, is an error;
          there is no empty model.

    Raises:
        Infeasible: If too few clients are left, also if every update was refused.

    References:
        McMahan et al.: Communication-efficient learning of deep networks from decentralized data, 2017.

    Example:
        >>> import polars as pl
        >>> from mahrem.federated import LocalGrid, TrainingSilo, propose_schema
        >>> rows = pl.DataFrame({"age": list(range(40)) * 2, "old": (["n"] * 20 + ["y"] * 20) * 2})
        >>> schema, plan = propose_schema(rows, "old"), LearningPlan(model="boosting", rounds=5, depth=1)
        >>> silos = {name: TrainingSilo(name, rows, schema, plan) for name in ("a", "b")}
        >>> learnt = learn_together(LocalGrid(silos), schema, plan)
        >>> learnt.nodes, learnt.model.predict(pl.DataFrame({"age": [3, 33]})).tolist()
        (('a', 'b'), ['n', 'y'])
    """
    chosen = plan or LearningPlan()
    start = before or WeightsResult(SharedModel.fresh(schema, chosen))
    start.model.refuse_other(schema, chosen)
    vetting = Vetting.of(schema, chosen, held_out, vetted)
    vetting.verdicts.extend(start.verdicts)
    result = WeightsResult(start.model, verdicts=vetting.verdicts)
    rounds = LearningRounds(grid, schema, chosen, result, make_adder(chosen, public), vetting, after)
    try:
        rounds.begin()
        for _ in chosen.kind.load()(rounds):
            pass
    except ByteBudgetSpent as spent:
        if result.model.rounds == 0:
            raise
        result.ended = str(spent)
    return result
