"""CBA, classification based on associations: mine class rules, keep those that earn their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from mahrem import check
from mahrem.arrays.mining import cover_first, cover_marked, pack_bits
from mahrem.errors import InvalidInput
from mahrem.learning._estimator import Estimator, given_classes
from mahrem.learning.rules._class_rules import (
    ClassRules,
    Miner,
    Mining,
    SupportOf,
    class_rules,
    least_rows,
    mine_sets,
)
from mahrem.learning.rules._items import Items, as_cells, learn_items, number_classes
from mahrem.learning.rules._rule_list import Rule, RuleList
from mahrem.table import Hierarchy
from mahrem.types import Floats, Integers, Mask

Cover: TypeAlias = Literal["m1", "m2"]
Cut: TypeAlias = Literal["least", "shortest"]


@dataclass(frozen=True, kw_only=True)
class CbaSettings:
    """What CBA needs to know; printable, comparable, storable.

    - ``support``: least share of the rows; ``support_of`` says of what: the rule's left side, or the rule.
    - ``confidence``: least share of the left side's rows that have the rule's class.
    - ``longest``: most items of a left side; None for all lengths.
    - ``prune``: leave out rules with a higher pessimistic error than a part of them.
    - ``cut``: where the list ends: ``least``, where its error is first least, as published; ``shortest``,
      where it first is within one standard error of that, so that no rule stays for a few rows' sake.
    - ``miner``, ``cover``: how it is computed; they do not change the classifier.
    """

    support: float = 0.2
    confidence: float = 0.5
    longest: int | None = None
    support_of: SupportOf = "left"
    prune: bool = False
    cut: Cut = "least"
    miner: Miner = "eclat"
    cover: Cover = "m1"

    def __post_init__(self) -> None:
        check.between(0, 1, support=self.support)
        check.between(0, 1, confidence=self.confidence)
        if self.longest is not None:
            check.at_least(1, longest=check.whole(longest=self.longest))
        check.one_of(get_args(SupportOf), support_of=self.support_of)
        check.one_of(get_args(Miner), miner=self.miner)
        check.one_of(get_args(Cover), cover=self.cover)
        check.one_of(get_args(Cut), cut=self.cut)

    def least_rule(self, rows: int) -> int:
        """Give how many rows must show left side and class together."""
        return least_rows(self.support, rows) if self.support_of == "rule" else 1


def cba(cells: pl.DataFrame, target: Sequence[str] | pl.Series, settings: CbaSettings) -> RuleList:
    """Learn a list of rules from a table of cells and their classes.

    Args:
        cells: The rows as text; a missing cell and ``*`` are no item.
        target: Class of each row, as text.
        settings: See :class:`CbaSettings`.

    Guarantees:
        - Rules come by confidence, support, size, items; each is right about a row that no rule before takes.
        - The list ends where its error on the training rows is first least (or near it, see
          :class:`CbaSettings`); the default is the class most rows behind it have, or most rows at all if
          none is left.
        - Duplicate rows count as often as they occur.

    References:
        Liu, Hsu, Ma: Integrating classification and association rule mining, 1998. Breiman, Friedman,
        Olshen, Stone: Classification and regression trees, 1984 (one standard error).

    Example:
        >>> rows = pl.DataFrame({"sky": ["blue", "blue", "grey", "grey"], "day": ["1", "2", "1", "2"]})
        >>> print(cba(rows, ["dry", "dry", "wet", "wet"], CbaSettings()))
          1. if sky = blue then dry  (support 0.5000, confidence 1.0000)
             else wet
    """
    labels = pl.Series(target, dtype=pl.String)
    if cells.height == 0 or len(labels) != cells.height:
        raise InvalidInput(f"rows={cells.height}, classes={len(labels)}: every row needs a class")
    names, codes_of_class = number_classes(labels)
    items, codes = learn_items(cells)
    table = pack_bits(codes, len(items), codes_of_class, len(names))
    sets, counts = mine_sets(
        codes,
        codes_of_class,
        table,
        items.place,
        least_rows(settings.support, cells.height),
        Mining(
            longest=settings.longest,
            miner=settings.miner,
            support_of=settings.support_of,
            lean=not settings.prune,
        ),
    )
    ranked = class_rules(
        sets,
        counts,
        confidence=settings.confidence,
        minimum=settings.least_rule(cells.height),
        prune=settings.prune,
    )
    cover = cover_first if settings.cover == "m1" else cover_marked
    kept, covered = cover(table, ranked.left, ranked.right)
    return cut_list(ranked, kept, covered, table.totals(), items, names, cut=settings.cut)


def cut_list(
    ranked: ClassRules,
    kept: Mask,
    covered: Integers,
    totals: Integers,
    items: Items,
    classes: Sequence[str],
    *,
    cut: Cut = "least",
) -> RuleList:
    """Cut the kept rules where the error is first least, or near it, and choose the default class.

    Args:
        ranked: All rules, best first.
        kept: ``(m,)`` which of them are kept.
        covered: ``(m, classes)`` the rows each kept rule takes.
        totals: ``(classes,)`` all rows.
        items: What the rules' items show.
        classes: Names of the classes.
        cut: See :class:`CbaSettings`.
    """
    chosen, taken = ranked.chosen(kept), covered[kept]
    left_over = totals - np.cumsum(taken, axis=0)
    wrong = np.cumsum(taken.sum(axis=1) - taken[np.arange(len(chosen)), chosen.right])
    errors = wrong + left_over.sum(axis=1) - left_over.max(axis=1, initial=0)
    last = _list_end(errors, totals, cut)
    rest = left_over[last - 1] if last else totals
    rest = rest if rest.sum() else totals
    rules = rules_as_text(chosen.chosen(np.arange(last)), items, classes, int(totals.sum()))
    return RuleList(
        items.columns,
        tuple(classes),
        rules,
        classes[int(rest.argmax())],
        int(totals.sum()),
        tuple(rest.tolist()),
    )


def _list_end(errors: Integers, totals: Integers, cut: Cut) -> int:
    """Give how many rules stay; ``errors`` are those of the list up to each rule."""
    if not len(errors):
        return 0
    if cut == "least":
        return int(errors.argmin()) + 1
    rows, least = int(totals.sum()), int(errors.min())
    bare = np.concatenate([[rows - totals.max()], errors])  # the list without a rule may do as well
    return int((bare <= least + np.sqrt(least * (1 - least / rows))).argmax())


def rules_as_text(ranked: ClassRules, items: Items, classes: Sequence[str], rows: int) -> tuple[Rule, ...]:
    """Write rules out with columns, cells and classes."""
    hits = ranked.counts[np.arange(len(ranked)), ranked.right]
    pairs = [(items.columns[column], cell) for column, cell in items.pairs()]
    return tuple(
        Rule(
            tuple(pairs[item] for item in left if item >= 0),
            classes[right],
            hit / rows,
            sure,
            tuple(counts),
        )
        for left, right, hit, sure, counts in zip(
            ranked.left.tolist(),
            ranked.right.tolist(),
            hits.tolist(),
            ranked.confidence().tolist(),
            ranked.counts.tolist(),
            strict=True,
        )
    )


@dataclass(eq=False)  # one estimator is another, as scikit-learn wants it
class CBA(Estimator):
    """CBA as a classifier of scikit-learn's kind; needs no scikit-learn itself.

    Every cell is a category: bin numbers first (:class:`QuantileBins`, :class:`EqualWidthBins`,
    :class:`SupervisedBins`). An anonymised table can be learnt from as it is: an item is a published cell.
    In training a row shows the cell it shows and no other; in prediction it shows every item it lies in, so
    an exact 25 matches ``[20, 29]`` (see :func:`covered_bits`). ``*`` and missing cells are no items.

    Attributes after ``fit``: ``rules_`` (:class:`RuleList`), ``classes_``, ``n_features_in_``.

    Example:
        >>> model = CBA(support=0.1).fit([["a"], ["a"], ["b"]], [1, 1, 0])
        >>> model.predict([["b"], ["a"]]).tolist(), model.predict_proba([["a"]]).tolist()
        ([0, 1], [[0.0, 1.0]])
    """

    _estimator_type = "classifier"

    support: float = 0.2
    confidence: float = 0.5
    longest: int | None = None
    support_of: SupportOf = "left"
    prune: bool = False
    cut: Cut = "least"
    miner: Miner = "eclat"
    cover: Cover = "m1"
    hierarchies: Mapping[str, Hierarchy] | None = field(default=None, repr=False)

    def fit(self, X: object, y: object) -> CBA:
        """Learn rules from rows and their classes."""
        settings = self._settings()
        cells = as_cells(self.learn_features(X))
        labels = given_classes(y, cells.height)
        self.classes_, codes = _classes(labels)
        width = len(str(len(self.classes_)))  # numbers as text that sort as the classes do
        names = [f"{number:0{width}d}" for number in range(len(self.classes_))]
        coded_rules = cba(cells, pl.Series(names, dtype=pl.String).gather(codes), settings)
        spelt = dict(zip(names, map(str, self.classes_.tolist()), strict=True))
        self.rules_ = _renamed(coded_rules, spelt)
        self._coded_rules = coded_rules
        return self

    def predict(self, X: object) -> Any:
        """Give the class that the first matching rule says."""
        first = self._first(X)
        return self.classes_[self._coded_rules.decide(first)]

    def predict_proba(self, X: object) -> Floats:
        """Give the shares of the classes among the training rows of the first matching rule."""
        first = self._first(X)
        shares: Floats = self._coded_rules.shares()[first]
        return shares

    def score(self, X: object, y: object) -> float:
        """Give the share of rows that are predicted right."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def _settings(self) -> CbaSettings:
        return CbaSettings(
            support=self.support,
            confidence=self.confidence,
            longest=self.longest,
            support_of=self.support_of,
            prune=self.prune,
            cut=self.cut,
            miner=self.miner,
            cover=self.cover,
        )

    def _first(self, X: object) -> Integers:
        frame = self.refuse_other_features(X)
        return self._coded_rules.first(as_cells(frame, self._coded_rules.columns), self.hierarchies)


def _classes(labels: Any) -> tuple[Any, Integers]:
    """Give the sorted classes and the number of each row's; refuse rows without one."""
    try:
        classes, codes = np.unique(labels, return_inverse=True)
        whole = bool((classes == classes).all()) and None not in classes.tolist()  # noqa: PLR0124 - nan is not itself
    except TypeError:  # None or nan among words cannot be sorted
        whole = False
    if not whole:
        raise InvalidInput(
            f"rows={len(labels)}: y must say a class of one kind for each row; leave out rows without one"
        )
    return classes, codes


def _renamed(rules: RuleList, names: Mapping[str, str]) -> RuleList:
    return replace(
        rules,
        classes=tuple(names[label] for label in rules.classes),
        rules=tuple(replace(rule, right=names[rule.right]) for rule in rules.rules),
        default=names[rules.default],
    )
