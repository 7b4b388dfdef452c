"""Dummy rules among real ones: cells travel as keyed tokens, so that the server cannot tell them apart."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from mahrem import check
from mahrem.files import check_key
from mahrem.learning.rules import Rule, RuleList

LENGTH = 20  # characters of a token: 80 bits


@dataclass(frozen=True)
class Disguise:
    """Hides which rules are real: the clients share a key that the server does not have.

    Every cell of a rule becomes a token under the key. Dummy rules are made of tokens that stand for no
    cell. They come from one pool that all clients derive from the key, so that a dummy comes from several
    clients as a real rule does; each has the figures and the size of a real rule and stands beside it, and
    every real rule gets its share. The server merges them all. Back at a client, rules with a token that is
    none of its cells are taken away. Within one answer a real rule and the dummies beside it cannot be told
    apart; over many clients, figures that agree too little or tokens that come too seldom may hint at one.

    The effect of the dummies on the model **cancels exactly**: no row ever shows one, they share no left side
    with a real rule, and the order of the real rules does not depend on them. (A rule whose cell a client
    has never seen goes with them there; no row of that client would show it.) Columns, classes, supports and
    the number of rows are not hidden. The key must stay among the clients.

    Args:
        key: At least 16 bytes that only the clients know.
        dummies: How many dummy rules a client adds for each real one.
        pool: How many different dummies there are.

    Example:
        >>> rule = Rule((("sky", "blue"),), "dry", 0.5, 1.0)
        >>> real = RuleList(("sky",), ("dry", "wet"), (rule,), "wet", 10)
        >>> disguise = Disguise(bytes(32), dummies=2.0)
        >>> hidden = disguise.hide(real)
        >>> len(hidden), disguise.reveal(hidden, [("sky", "blue"), ("sky", "grey")]) == real
        (3, True)
    """

    key: bytes = field(repr=False)
    dummies: float = 1.0
    pool: int = 256

    def __post_init__(self) -> None:
        check_key("key", self.key)
        check.at_least(0, dummies=self.dummies)
        check.at_least(1, pool=check.whole(pool=self.pool))

    def token(self, *parts: str) -> str:
        """Give the token of a column and a cell, or of a dummy's number."""
        text = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
        return hmac.new(self.key, text, hashlib.sha256).hexdigest()[:LENGTH]

    def hide(self, rules: RuleList) -> RuleList:
        """Give the rules in tokens, with dummies among them; the real ones keep their order."""
        if not rules.rules:
            return replace(rules, rest=None)
        real = [
            Rule(
                tuple((column, self.token("cell", column, cell)) for column, cell in rule.left),
                rule.right,
                rule.support,
                rule.confidence,
            )
            for rule in rules.rules
        ]
        wanted = min(self.pool, round(self.dummies * len(real)))
        source = secrets.SystemRandom()
        turns = source.sample(range(len(real)), len(real))
        mixed = [[rule] for rule in real]
        for turn, number in enumerate(source.sample(range(self.pool), wanted)):
            place = turns[turn % len(real)]  # equal figures: the order of the list does not give it away
            dummy = self._dummy(number, rules.columns, real[place])
            mixed[place].insert(source.randrange(len(mixed[place]) + 1), dummy)
        return replace(rules, rules=tuple(rule for rules in mixed for rule in rules), rest=None)

    def reveal(self, merged: RuleList, cells: Iterable[tuple[str, str]]) -> RuleList:
        """Give the rules in cells again, without dummies and without cells that are not among ``cells``."""
        known = {(column, self.token("cell", column, cell)): cell for column, cell in cells}
        rules = [
            replace(rule, left=tuple((column, known[column, cell]) for column, cell in rule.left))
            for rule in merged.rules
            if all(pair in known for pair in rule.left)
        ]
        return replace(merged, rules=tuple(rules))

    def _dummy(self, number: int, columns: Sequence[str], like: Rule) -> Rule:
        """Make a dummy: columns and tokens by its number alone, figures and size of a real rule."""
        order = sorted(
            range(len(columns)), key=lambda place: self.token("order", str(number), columns[place])
        )
        size = len(like.left)
        left = [
            (columns[place], self.token("dummy", str(number), columns[place]))
            for place in sorted(order[:size])
        ]
        return Rule(tuple(left), like.right, like.support, like.confidence)
