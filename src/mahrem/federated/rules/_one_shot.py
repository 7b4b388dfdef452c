"""du-CBA as published: every client trains CBA once, the server merges the rules."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from mahrem import check
from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.rules._exact import RulesResult
from mahrem.federated.wire import Message, MessageGrid, ask_all
from mahrem.learning.rules import CbaSettings, Rule, RuleList

SumOver: TypeAlias = Literal["all", "senders"]
Left: TypeAlias = tuple[tuple[str, str], ...]


@dataclass
class MergedRules:
    """Rules of many clients in one list; new clients and new data are added the same way.

    - Same left side, same class: ``support = sum s_i N_i / sum N_i`` and
      ``confidence = sum s_i N_i / sum (s_i N_i / c_i)``.
    - Same left side, other class: the one with the larger support stays, of equal ones the first to arrive.
    - Rules come by confidence, then support, then arrival.

    The text leaves open over whom ``N`` is summed: ``all`` clients (a silent one has none of the rule's rows)
    or only the ``senders`` of the rule. What the default class is it does not say either: here it is the
    clients' default that stands for most rows, of equal ones the first in the alphabet.

    References:
        Buyuktanir: du-CBA, 2022.

    Example:
        >>> def part(support, confidence, rows):
        ...     rule = Rule((("sky", "blue"),), "dry", support, confidence)
        ...     return RuleList(("sky",), ("dry", "wet"), (rule,), "wet", rows)
        >>> print(MergedRules().add(part(0.5, 1.0, 10)).add(part(0.25, 0.5, 20)).rules())
          1. if sky = blue then dry  (support 0.3333, confidence 0.6667)
             else wet
    """

    sum_over: SumOver = "all"
    columns: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    rows: int = 0
    parts: int = 0
    defaults: dict[str, int] = field(default_factory=dict)  # rows that stand behind each default class
    sums: dict[tuple[Left, str], tuple[float, float, int]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        check.one_of(get_args(SumOver), sum_over=self.sum_over)

    def add(self, part: RuleList) -> MergedRules:
        """Merge the rules of one client, or of new data of one.

        Raises:
            InvalidInput: If the rules are of another schema or cannot be; nothing is merged then.
        """
        part.check()
        if self.columns and sorted(part.columns) != sorted(self.columns):
            raise InvalidInput(
                f"columns={len(part.columns)}: these rules are of another schema than the others"
            )
        self.columns = self.columns or part.columns
        place = {name: number for number, name in enumerate(self.columns)}
        self.classes = tuple(sorted({*self.classes, *part.classes}))
        self.rows += part.rows
        self.parts += 1
        self.defaults[part.default] = self.defaults.get(part.default, 0) + part.rows
        for rule in part.rules:
            key = tuple(sorted(rule.left, key=lambda pair: place[pair[0]])), rule.right
            hits = rule.support * part.rows
            old = self.sums.get(key, (0.0, 0.0, 0))
            shown = hits / rule.confidence if rule.confidence > 0 else 0.0
            self.sums[key] = old[0] + hits, old[1] + shown, old[2] + part.rows
        return self

    def rules(self) -> RuleList:
        """Give the merged list."""
        if not self.parts or not self.rows:
            raise Infeasible(f"clients={self.parts}: there is nothing to merge yet", reached=0)
        best: dict[Left, tuple[float, float, int, str]] = {}
        for number, ((left, right), (hits, shown, senders)) in enumerate(self.sums.items()):
            rows = self.rows if self.sum_over == "all" else senders
            support = hits / rows if rows else 0.0
            if left not in best or support > -best[left][1]:
                best[left] = -(hits / shown if shown else 0.0), -support, number, right
        ranked = sorted((rank, left) for left, rank in best.items())
        rules = tuple(Rule(left, right, -less, -sure) for (sure, less, _, right), left in ranked)
        default = min(self.defaults, key=lambda label: (-self.defaults[label], label))
        return RuleList(self.columns, self.classes, rules, default, self.rows)

    def to_json(self) -> str:
        """Write the state, to go on merging later."""
        state = asdict(self)
        state["sums"] = [[list(left), right, *held] for (left, right), held in self.sums.items()]
        return json.dumps(state, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> MergedRules:
        """Read a state that :meth:`to_json` wrote."""
        try:
            state: dict[str, Any] = json.loads(text)
            sums = {
                (tuple((str(column), str(cell)) for column, cell in left), str(right)): (hits, shown, rows)
                for left, right, hits, shown, rows in state.pop("sums")
            }
            columns, classes = tuple(state.pop("columns")), tuple(state.pop("classes"))
            return cls(columns=columns, classes=classes, sums=sums, **state)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidInput(
                f"state={len(text)} characters cannot be read ({type(error).__name__})"
            ) from None


def without_few(rules: RuleList, least: int) -> RuleList:
    """Count rows in groups of ``least``, rounded down, before rules leave a client.

    A rule that fewer rows prove goes; fewer rows against it do not count. Figures of two rules differ by
    whole groups or not at all.

    Raises:
        InvalidInput: If the whole table has fewer rows, or rules carry no counts.

    Example:
        >>> few = Rule((("sky", "blue"),), "dry", 0.1, 1.0, (2, 0))
        >>> many = Rule((("sky", "grey"),), "wet", 0.4, 0.8, (2, 8))
        >>> print(without_few(RuleList(("sky",), ("dry", "wet"), (few, many), "wet", 20), 3))
          1. if sky = grey then wet  (support 0.3333, confidence 1.0000)
             else wet
    """
    if rules.rows < least:
        raise InvalidInput(f"rows={rules.rows}: fewer than {least} people, so nothing is said of them")
    rows = rules.rows - rules.rows % least
    kept = []
    for rule in rules.rules:
        if rule.counts is None:
            raise InvalidInput("counts=None: these rules do not say how many rows are behind them")
        counts = tuple(count - count % least for count in rule.counts)
        hits = counts[rules.classes.index(rule.right)]
        if hits:
            support, confidence = hits / rows, hits / sum(counts)
            kept.append(replace(rule, support=support, confidence=confidence, counts=counts))
    return replace(rules, rules=tuple(kept), rows=rows, rest=None)


def learn_one_shot(
    grid: MessageGrid,
    columns: Sequence[str],
    settings: CbaSettings | None = None,
    *,
    sum_over: SumOver = "all",
    least_clients: int = 1,
    into: MergedRules | None = None,
) -> RulesResult:
    """Learn du-CBA as published: one question, one answer, one merge.

    Args:
        grid: The clients.
        columns: The columns of all tables, without the target.
        settings: Of CBA on each client.
        sum_over: See :class:`MergedRules`.
        least_clients: Fewer answers than this and there is no model.
        into: Rules merged before, to which those of this grid are added; its own ``sum_over`` counts. It
            stays as it was if there is no model.

    Raises:
        Infeasible: If fewer than ``least_clients`` answer with rules that can be.
    """
    cba = settings or CbaSettings()
    question = Message("rules", secrets.token_hex(8), 1, {"columns": list(columns), "settings": asdict(cba)})
    answers, failures = ask_all(grid, grid.nodes(), question)
    merged = MergedRules(sum_over=sum_over) if into is None else deepcopy(into)
    merged.columns = merged.columns or tuple(columns)  # not what the first to answer says
    kept: list[str] = []
    sent = 0
    for node, reply in answers.items():
        try:
            part = RuleList.from_json(reply.body["rules"].decode())
            merged.add(part)
        except (InvalidInput, KeyError, AttributeError, UnicodeError) as error:
            failures[node] = str(error) if isinstance(error, InvalidInput) else "rules that cannot be read"
            continue
        kept.append(node)
        sent += len(part)
    if len(kept) < least_clients:
        reasons = "; ".join(f"{node}: {why}" for node, why in sorted(failures.items())[:3])
        raise Infeasible(
            f"clients={len(kept)}: at least {least_clients} must answer ({reasons})", reached=len(kept)
        )
    model = merged.rules()
    if into is not None:
        vars(into).update(vars(merged))
    why = ("rules are judged on each client's rows alone",)
    return RulesResult(model, False, why, tuple(kept), failures, {"rules": 1}, sent)
