"""Rounds of boosting: trees grow level by level from sums over all clients, which clients are shown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.sums import LARGEST_ROWS, from_fixed
from mahrem.federated.weights._boosting import Growth, SharedForest
from mahrem.federated.weights._perturbation import growth_of
from mahrem.federated.weights._rounds import LearningRounds
from mahrem.federated.wire import Message
from mahrem.types import Integers


def tree_rounds(rounds: LearningRounds) -> Iterator[None]:
    """Grow trees, level by level, from sums over all clients."""
    growth = growth_of(rounds.plan, rounds.schema)
    outputs = rounds.result.model.outputs
    forest = SharedForest.of_body(rounds.result.model.arrays, "forest")
    body: dict[str, object] = forest.as_body("forest")  # a run that goes on tells clients of all trees once
    for number in rounds.left:
        growing = SharedForest.empty(outputs, rounds.plan.depth)
        for level in range(rounds.plan.depth):
            asked = {"tree": number, "level": level, **body}
            question = Message("histogram", rounds.run, number * rounds.plan.depth + level, asked)
            total = _summed(rounds, question, growth, outputs)
            growing = growth.grown(growing, level, total)
            body = {"totals": total, "grown": growing.digest()}
        forest = forest.joined(growing)
        rounds.keep(number, forest.as_body("forest"), rounds.nodes)
        yield


def _summed(rounds: LearningRounds, question: Message, growth: Growth, outputs: int) -> Integers:
    level = question.body["level"]

    def fault(total: Integers) -> str | None:
        try:
            sums = growth.bins.whole_sums(total, outputs, level)
        except InvalidInput as error:
            return str(error)
        most = float(np.abs(from_fixed(total)).max(initial=0))
        negative = not growth.noise and bool((sums[..., 1] < -1e-5).any())  # noise may lie below 0
        return "sums that no rows can have" if negative or most > LARGEST_ROWS else None

    summed = rounds.adder(rounds.grid, rounds.nodes, question, fault)
    if summed.failures:
        rounds.note_refusals(question.round, summed.failures)
        rounds.result.left_out.update(summed.failures)  # it missed a level and cannot go on
        rounds.nodes = tuple(node for node in rounds.nodes if node in summed.nodes)
    rounds.require(len(rounds.nodes))
    return summed.total
