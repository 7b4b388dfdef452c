"""The lattice in the open: judge a node, list those that hold, say why one fails."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from mahrem import check
from mahrem.drafts import node_search, prepare
from mahrem.errors import Infeasible, InvalidParameter, in_our_words
from mahrem.files import write_whole
from mahrem.models import Counts, Promise
from mahrem.partition import METHODS, Flash
from mahrem.partition.lattice import FullDomain, Grouped, NodeProfits, RankedLoss, Search
from mahrem.release import decided
from mahrem.release.decisions import GivenPolicy, policy_from, reading_of
from mahrem.table import open_source
from mahrem.types import Labels, Mask

if TYPE_CHECKING:
    from mahrem.drafts import Prepared
    from mahrem.release.decisions import Policy, ReleaseKeywords

Node = tuple[int, ...]
_LEAST = 5  # people that a figure of a node which fails is rounded up to, where k is smaller


@dataclass(frozen=True, kw_only=True)
class NodeReason:
    """A promise that a node breaks; how often is rounded up to a multiple of k, so that nobody stands out."""

    model: str
    column: str | None
    wanted: float
    classes: int  # at most so many break it
    rows: int  # at most so many are in them

    def as_dict(self) -> dict[str, object]:
        """Give what goes into JSON."""
        return {
            "model": self.model,
            "column": self.column,
            "wanted": self.wanted,
            "classes_at_most": self.classes,
            "rows_at_most": self.rows,
        }


@dataclass(frozen=True, kw_only=True)
class NodeVerdict:
    """What came of one node.

    Where it holds, figures are those of the release it would make. Where it fails, ``suppressed`` is rounded
    up to a multiple of k and the others are not told.
    """

    levels: Mapping[str, int]
    holds: bool
    loss: float | None
    suppressed: int
    classes: int | None
    smallest: int | None  # rows of the smallest class

    @property
    def height(self) -> int:
        """All levels, added up."""
        return sum(self.levels.values())

    def as_dict(self) -> dict[str, object]:
        """Give what goes into JSON."""
        return {
            "levels": dict(self.levels),
            "height": self.height,
            "holds": self.holds,
            "loss": self.loss,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "smallest": self.smallest,
        }


@dataclass(frozen=True)
class GeneralisationLattice:
    """Every choice of levels for the columns of one table, judged under one policy.

    It is for whoever holds the table: what it tells of many nodes together is not made to be published.

    Guarantees:
        - A node holds exactly when a full-domain method may publish it.
        - Each node is judged once, however often it is asked about.
        - No value of the table and no count below k of rows that would be refused is told.
    """

    columns: tuple[str, ...]
    heights: tuple[int, ...]  # levels of each column
    objective: str
    rows: int
    _prepared: Prepared = field(repr=False)
    _method: FullDomain = field(repr=False)
    _search: Search = field(repr=False)

    def __len__(self) -> int:
        """Count the nodes."""
        return math.prod(self.heights)

    def __iter__(self) -> Iterator[NodeVerdict]:
        """Judge all nodes, the lowest first."""
        return (self._verdict(node) for node in self._nodes())

    def node(self, levels: Mapping[str, int] | Sequence[int]) -> NodeVerdict:
        """Judge one node.

        Args:
            levels: A level for every column, by name (those not named are 0) or in the columns' order.

        Raises:
            InvalidParameter: If there is no such node.
        """
        return self._verdict(self._place(levels))

    def holding(self) -> list[NodeVerdict]:
        """Give all nodes that hold, the least loss first."""
        verdicts = [verdict for verdict in self if verdict.holds]
        return sorted(verdicts, key=lambda verdict: (verdict.loss, verdict.height, *verdict.levels.values()))

    def best(self) -> NodeVerdict:
        """Give the node that holds with the least loss.

        Raises:
            Infeasible: If no node holds.
        """
        if not self._searched:
            raise Infeasible(f"no node of {len(self):,} holds; allow more suppressed rows, or ask for less")
        assert self._search.best is not None  # noqa: S101 - it was found
        return self._verdict(self._search.best)

    def neighbours(self, levels: Mapping[str, int] | Sequence[int]) -> list[NodeVerdict]:
        """Judge the nodes one step below and one step above a node."""
        node = self._place(levels)
        near = [
            (*node[:column], level + step, *node[column + 1 :])
            for step in (-1, 1)
            for column, level in enumerate(node)
            if 0 <= level + step < self.heights[column]
        ]
        return [self._verdict(each) for each in near]

    def why(self, levels: Mapping[str, int] | Sequence[int]) -> tuple[NodeReason, ...]:
        """Say which promises some classes of a node break, and how many at most.

        A node may hold although classes break promises: these are suppressed, as far as the limit allows.
        Every promise is judged by itself against the whole table.
        """
        grouped = self._search.lattice.classes(self._place(levels))
        labels = self._search.lattice.labels(grouped)
        reasons = []
        for promise in self._prepared.promises:
            broken = self._broken(promise, labels, grouped) & (grouped.sizes > 0)
            if broken.any():
                reasons.append(
                    NodeReason(
                        model=promise.model.name,
                        column=promise.column,
                        wanted=float(promise.model.wanted),
                        classes=self._rounded(int(np.count_nonzero(broken))),
                        rows=self._rounded(int(grouped.sizes[broken].sum())),
                    )
                )
        return tuple(reasons)

    def as_dict(self) -> dict[str, object]:
        """Judge all nodes and give what goes into JSON."""
        return {
            "columns": dict(zip(self.columns, self.heights, strict=True)),
            "objective": self.objective,
            "rows": self.rows,
            "nodes": [verdict.as_dict() for verdict in self],
        }

    def write(self, path: str | Path) -> None:
        """Judge all nodes and write them as JSON or CSV, whichever the name ends in.

        Raises:
            InvalidParameter: If it ends in neither.
        """
        ending = check.one_of((".json", ".csv"), **{"ending of the file": Path(path).suffix.lower()})
        text = json.dumps(self.as_dict(), indent=1) if ending == ".json" else self._as_csv()
        write_whole(Path(path), text, private=True)

    def _as_csv(self) -> str:
        out = io.StringIO()
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow([*self.columns, "height", "holds", "loss", "suppressed", "classes", "smallest"])
        for each in self:
            figures = (each.loss, each.suppressed, each.classes, each.smallest)
            cells = ("" if figure is None else figure for figure in figures)
            lines.writerow([*each.levels.values(), each.height, str(each.holds).lower(), *cells])
        return out.getvalue()

    def _nodes(self) -> Iterator[Node]:
        every = itertools.product(*map(range, self.heights))
        return iter(sorted(every, key=lambda node: (sum(node), node)))

    @cached_property
    def _searched(self) -> bool:
        """Find the best node; what was judged before is not judged again."""
        Flash.search(self._method, self._search)  # type: ignore[arg-type] # asks for nothing of its own
        return self._search.best is not None

    def _verdict(self, node: Node) -> NodeVerdict:
        checked = self._search.check(node)
        return NodeVerdict(
            levels=dict(zip(self.columns, node, strict=True)),
            holds=checked.holds,
            loss=_rounded_loss(checked.loss) if checked.holds else None,
            suppressed=checked.refused if checked.holds else self._rounded(checked.refused),
            classes=checked.classes if checked.holds else None,
            smallest=checked.smallest if checked.holds else None,
        )

    def _place(self, levels: Mapping[str, int] | Sequence[int]) -> Node:
        if isinstance(levels, Mapping):
            check.unknown_keys(levels, self.columns, where="column of the lattice")
            node = tuple(levels.get(name, 0) for name in self.columns)
        else:
            node = tuple(levels)
        if len(node) != len(self.columns):
            raise InvalidParameter(
                f"levels={len(node)} must be one for each of the {len(self.columns)} columns"
            )
        for name, level, height in zip(self.columns, node, self.heights, strict=True):
            check.between(0, height - 1, **{f"levels.{name}": check.whole(**{f"levels.{name}": level})})
        return node

    def _broken(self, promise: Promise, labels: Labels, grouped: Grouped) -> Mask:
        """Say which classes break one promise; all, where they break it together."""
        sizes = grouped.sizes
        profits = NodeProfits.of(self._search.lattice, (promise.model,))
        if profits is not None:
            return ~profits.pays(grouped)
        if promise.model.of_table:
            nobody = np.zeros(0, np.int64)
            return ~promise.model.holds(Counts(sizes, nobody, nobody, nobody, np.zeros(0)))
        from mahrem.drafts import admission
        from mahrem.partition.judging import admitted_classes

        judge = admission(self._prepared, (promise,))
        return ~admitted_classes(labels, np.ones(len(sizes), np.bool_), judge)

    def _rounded(self, count: int) -> int:
        """Round up to a multiple of k."""
        least = max(_LEAST, self._search.minimum)
        return -(-count // least) * least


def _rounded_loss(loss: float) -> float:
    """Leave out the last digits: they tell in which order a sum was added up."""
    return loss if isinstance(loss, RankedLoss) else float(f"{loss:.12g}")


@in_our_words
def lattice(
    source: object, *, policy: GivenPolicy = None, **settings: Unpack[ReleaseKeywords]
) -> GeneralisationLattice:
    """Open the lattice of full-domain generalisation of a table; nothing is published.

    Every column has levels: those of its hierarchy, or of one made of its own domain. A node is a level for
    every column; it can be judged by itself, with its neighbours, or among all.

    Args:
        source: As for :func:`mahrem.anonymize`.
        policy: As for :func:`mahrem.anonymize`; a method must be one that lifts whole columns, by default
            ``flash``, and its option ``loss`` says what is minimised.
        **settings: As for :func:`mahrem.anonymize`.

    Raises:
        InvalidParameter: If nothing is promised, or something that levels alone cannot keep.

    Guarantees:
        - Nothing is written, and no value of the table is told.

    Example:
        >>> import mahrem as mh
        >>> patients = mh.demo_patients(400)
        >>> found = mh.lattice(patients, quasi=["age", "sex"], rest="drop", k=5)
        >>> best = found.best()
        >>> best.holds, found.node(best.levels) == best
        (True, True)
    """
    policy = lifting(policy_from(policy, settings, whole=True))
    opened = open_source(source, reading_of(policy))
    policy = decided(policy, opened)
    return lattice_of(prepare(opened, policy, to_publish=False), policy)


def lifting(policy: Policy) -> Policy:
    """Give a policy whose method lifts whole columns, or refuse it.

    Raises:
        InvalidParameter: If it names another method, another engine, or promises nothing.
    """
    if policy.engine != "local":
        raise InvalidParameter("lattice is for engine='local'")
    if policy.method in {"mondrian", "auto"}:  # not said
        policy = replace(policy, method="flash")
    if not METHODS[check.one_of(METHODS, method=policy.method)].full_domain:
        lifts = [name for name, method in METHODS.items() if method.full_domain]
        raise InvalidParameter(f"method={policy.method!r} lifts no columns; choose one of {', '.join(lifts)}")
    if not policy.promises():
        raise InvalidParameter("k=None: no promise was asked for; say at least k")
    return policy


def lattice_of(prepared: Prepared, policy: Policy) -> GeneralisationLattice:
    """Open the lattice of a table that was prepared, under a policy that lifts columns."""
    prepared, method, search = node_search(prepared, policy)
    return GeneralisationLattice(
        columns=tuple(axis.name for axis in prepared.axes),
        heights=search.lattice.heights,
        objective=method.loss,
        rows=search.lattice.rows,
        _prepared=prepared,
        _method=method,
        _search=search,
    )
