"""Rounds of averaging: every client's weights are looked at, or added up unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.networks import LARGEST, wrong_weights
from mahrem.federated.sums import LARGEST_ROWS, from_fixed
from mahrem.federated.weights._model import CONTROL, DISGUISED
from mahrem.federated.weights._plan import LearningPlan
from mahrem.federated.weights._rounds import LearningRounds
from mahrem.federated.weights._server_step import server_step
from mahrem.federated.weights._validation import ValidationRounds
from mahrem.federated.wire import Message, ask_all
from mahrem.types import Floats, Integers


def average_rounds(rounds: LearningRounds) -> Iterator[None]:
    """Average weights, round by round."""
    plan = rounds.plan
    held = DISGUISED if plan.protections.dummies else "weights"
    validation = None if plan.early_stop is None else ValidationRounds(rounds, plan.early_stop)
    for number in rounds.left:
        drawn = rounds.draw(number)
        before = rounds.result.model.arrays
        given = np.concatenate([before[held], before[CONTROL]]) if plan.scaffold else before[held]
        body = {"weights": given, "round": number, "begin": number == 1}
        mean, nodes = _together(plan)(rounds, drawn, Message("train", rounds.run, number, body))
        if plan.scaffold:
            weights, control = np.split(mean, 2)
            arrays = {held: weights, CONTROL: control}
        else:
            moved, kept = server_step(plan.server, plan.server_speed, given, mean, before)
            arrays = {held: moved, **kept}
        arrays = {name: part.astype(np.float32) for name, part in arrays.items()}
        if (wrong := wrong_weights(arrays[held], len(arrays[held]))) is not None:
            raise InvalidInput(f"round={number} gave {wrong}; a lower rate may help")
        if validation is not None:
            rounds.result.validated = validation.measure(number, arrays[held], nodes)
        rounds.keep(number, arrays, nodes)
        if validation is not None and validation.stop():
            return
        yield


_Combined: TypeAlias = tuple[Floats, tuple[str, ...]]  # new weights, and who is in them


def _together(plan: LearningPlan) -> Callable[[LearningRounds, Sequence[str], Message], _Combined]:
    if not plan.hides:
        return _compared
    return _summed if plan.groups == 1 else _grouped


def _compared(
    rounds: LearningRounds, drawn: Sequence[str], question: Message
) -> tuple[Floats, tuple[str, ...]]:
    """Look at every client's weights, refuse what cannot be or harms, put the rest together."""
    answers, failures = ask_all(rounds.grid, drawn, question)
    number, given = question.round, question.body["weights"]
    received: dict[str, Floats] = {}
    rows_of: dict[str, int] = {}
    wrong: dict[str, str] = {}
    for node, reply in answers.items():
        try:
            received[node], rows_of[node] = _read(rounds.plan, reply.body, given)
        except InvalidInput as error:
            wrong[node] = str(error)
    rounds.vetting.note(number, wrong)
    failures |= wrong
    rounds.note_refusals(number, failures)
    rounds.require(len(received), failures)
    kept = _judged(rounds, question, received, failures)
    rounds.bar()
    rounds.require(len(kept), failures)
    rows = np.array([rows_of[node] for node in kept], np.float64)
    return rounds.plan.aggregation()(np.stack(list(kept.values())), rows), tuple(kept)


def _judged(
    rounds: LearningRounds, question: Message, received: Mapping[str, Floats], failures: dict[str, str]
) -> dict[str, Floats]:
    """Let defences judge what came; adds to the failures."""
    kept = rounds.vetting.judge(question.round, question.body["weights"], received)
    failures |= rounds.vetting.refused(question.round)
    rounds.note_refusals(question.round, failures)
    return kept


def group_clients(nodes: Sequence[str], groups: int) -> dict[str, tuple[str, ...]]:
    """Part clients into groups whose sums the server sees: the same in every round and run.

    The server vets the mean update of each group as it would that of a client, and groups count alike. So one
    that lies moves the model by no more than its group may: a bound on norms divided by the groups, and
    nothing where a median of groups stands against it. It is robust while most groups hold no liar, and as
    private as a sum over the clients of one group, of which clients demand ``least_clients``. Groups that
    changed from round to round would tell single clients by their differences: clients refuse that.

    References:
        Velicheti, Xia, Koyejo: Secure Byzantine-robust distributed learning via clustering, 2021.

    Example:
        >>> group_clients(["a", "b", "c", "d", "e"], 2)
        {'group-1': ('a', 'c', 'e'), 'group-2': ('b', 'd')}
    """
    names = sorted(nodes)
    return {f"group-{number + 1}": tuple(names[number::groups]) for number in range(groups)}


def _grouped(rounds: LearningRounds, drawn: Sequence[str], question: Message) -> _Combined:
    """Sum each group unseen, and look at the groups as at clients."""
    received: dict[str, Floats] = {}
    failures: dict[str, str] = {}
    inside: dict[str, tuple[str, ...]] = {}
    barred = rounds.vetting.barred()
    for name, group in group_clients(drawn, rounds.plan.groups).items():
        if name in barred:
            failures[name] = barred[name]
            continue
        try:
            received[name], inside[name] = _summed(rounds, group, question)
        except (Infeasible, InvalidInput) as error:  # its sum cannot be, or is not opened; others may be
            failures[name] = str(error)
    rounds.require_parts(len(received), failures)
    kept = _judged(rounds, question, received, failures)
    rounds.require_parts(len(kept), failures)
    weights = rounds.plan.aggregation()(np.stack(list(kept.values())), np.ones(len(kept)))
    return weights, tuple(sorted(node for name in kept for node in inside[name]))


def _summed(
    rounds: LearningRounds, drawn: Sequence[str], question: Message
) -> tuple[Floats, tuple[str, ...]]:
    """Add updates times rows, whose parts nobody sees, and divide by the rows of all."""
    given = question.body["weights"]

    def fault(total: Integers) -> str | None:
        rows = float(from_fixed(total[-1:]).sum())
        if len(total) != len(given) + 1 or not 0.5 < rows < LARGEST_ROWS + 0.5:
            return "another length, or a number of rows that cannot be"
        most = np.abs(from_fixed(total[:-1])).max(initial=0.0)
        return None if most <= 1.01 * LARGEST * rows else "a sum that no such updates can have"

    summed = rounds.adder(rounds.grid, drawn, question, fault)
    rounds.note_refusals(question.round, summed.failures)
    if rounds.plan.groups == 1:
        rounds.require(len(summed.nodes), summed.failures)
    weights = given + from_fixed(summed.total[:-1]) / np.rint(from_fixed(summed.total[-1:]))
    wrong = wrong_weights(weights, len(given))
    if wrong is not None:
        raise InvalidInput(f"the clients' sum gives {wrong}; nobody can say who sent it")
    return weights, summed.nodes


def _read(plan: LearningPlan, body: Mapping[str, Any], given: Floats) -> tuple[Floats, int]:
    """Read one client's answer: its weights, and how much they count.

    Raises:
        InvalidInput: If they cannot be.
    """
    small, rows, weights = plan.compression(), body.get("rows"), body.get("weights")
    if small is not None:
        weights = given + small.restore(body, len(given))
    wrong = wrong_weights(weights, len(given))
    if wrong is None and not (isinstance(rows, int) and 0 < rows <= LARGEST_ROWS):
        wrong = "a number of rows that cannot be"
    if wrong is not None:
        raise InvalidInput(wrong)
    # where clients may lie, a number of rows is one more lie: it would outweigh what was judged
    alike = plan.protections.private or plan.protections.vetting
    return np.asarray(weights), 1 if alike else int(rows or 0)
