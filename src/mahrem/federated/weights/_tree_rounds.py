"""Rounds of boosting: trees grow level by level from sums over all clients."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mahrem.federated.sums import LARGEST_ROWS, from_fixed
from mahrem.federated.weights._boosting import BoostedTrees, SharedBins, grown
from mahrem.federated.weights._rounds import LearningRounds
from mahrem.federated.wire import Message
from mahrem.types import Floats, Integers


def tree_rounds(rounds: LearningRounds) -> Iterator[None]:
    """Grow trees, level by level, from sums over all clients."""
    bins = SharedBins.of(rounds.schema)
    outputs = rounds.result.model.outputs
    forest = BoostedTrees.of_body(rounds.result.model.arrays, "forest")
    sent = 0  # a run that goes on tells clients of all trees once
    for number in rounds.left:
        growing = BoostedTrees.empty(outputs, rounds.plan.depth)
        for level in range(rounds.plan.depth):
            body = {"start": sent, **forest.last(sent).as_body("new"), "level": level}
            body |= growing.as_body("growing")
            exchange = number * rounds.plan.depth + level
            shape = (outputs, 2**level, int(bins.starts[-1]), 2)
            sums = _histogram(rounds, Message("histogram", rounds.run, exchange, body), shape)
            growing = grown(growing, level, sums, bins.starts, rounds.plan.learning_rate)
        sent, forest = len(forest), forest.joined(growing)
        rounds.keep(number, forest.as_body("forest"), rounds.nodes)
        yield


def _histogram(rounds: LearningRounds, question: Message, shape: tuple[int, ...]) -> Floats:
    def fault(total: Integers) -> str | None:
        if total.shape != (int(np.prod(shape)),):
            return "a histogram of another shape"
        sums = from_fixed(total).reshape(shape)
        good = bool((sums[..., 1] >= -1e-6).all()) and float(np.abs(sums).max(initial=0)) <= LARGEST_ROWS
        return None if good else "sums that no rows can have"

    summed = rounds.adder(rounds.grid, rounds.nodes, question, fault)
    if summed.failures:
        rounds.note_refusals(question.round, summed.failures)
        rounds.result.left_out.update(summed.failures)  # it missed a level and cannot go on
        rounds.nodes = tuple(node for node in rounds.nodes if node in summed.nodes)
    rounds.require(len(rounds.nodes))
    return from_fixed(summed.total).reshape(shape)
