"""What a node of a lattice loses, by each definition, in plain Python and row by row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from mahrem.table import Hierarchy
from mahrem.types import Integers


@dataclass(frozen=True)
class SlowNode:
    """A node: its classes that are shown and those that are refused, as lists of rows."""

    trees: Sequence[Hierarchy]
    leaves: Integers  # (n, d), -1 = missing
    node: tuple[int, ...]
    shown: list[list[int]]
    hidden: list[list[int]]
    rows: list[int]
    target: Sequence[int] = field(default_factory=list)

    @property
    def n(self) -> int:
        return len(self.rows)

    @property
    def refused(self) -> list[int]:
        return [row for members in self.hidden for row in members]

    def cell(self, row: int, column: int) -> int:
        return shown(self.trees[column], int(self.leaves[row, column]), self.node[column])


def shown(tree: Hierarchy, leaf: int, level: int) -> int:
    """What a cell says at a level: -1 for a missing value below the root."""
    if level == tree.levels - 1:
        return 0
    return -1 if leaf < 0 else int(tree.nodes[level, leaf])


def share(tree: Hierarchy, leaf: int, level: int) -> float:
    """Leaves under what a cell shows, over all: ARX's domain share."""
    if level == tree.levels - 1:
        return 1.0
    return (1 if leaf < 0 else int((tree.nodes[level] == tree.nodes[level, leaf]).sum())) / tree.leaves


def covered(tree: Hierarchy, leaf: int, level: int) -> float:
    """The same, but a value that is told apart covers nothing."""
    if level == tree.levels - 1:
        return 1.0
    under = 0 if leaf < 0 else int((tree.nodes[level] == tree.nodes[level, leaf]).sum())
    return under / tree.leaves if under > 1 else 0.0


def put_together(values: list[float], weights: list[float], how: str) -> float:
    d = len(values)
    match how:
        case "arithmetic":
            return sum(w * v / d for w, v in zip(weights, values, strict=True))
        case "geometric":
            return math.prod(((v + 1) * w) ** (1 / d) for w, v in zip(weights, values, strict=True)) - 1
        case "sum":
            return sum(w * v for w, v in zip(weights, values, strict=True))
        case "maximum" | "rank":
            return max(w * v for w, v in zip(weights, values, strict=True))
    raise AssertionError(how)


def slow_loss(  # noqa: C901, PLR0912, PLR0915 - one definition after the other
    x: SlowNode,
    loss: str,
    *,
    minimum: int = 1,
    weights: Sequence[float] = (),
    factor: float = 0.5,
    aggregate: str | None = None,
    publisher_benefit: float = 1200.0,
    publisher_loss: float = 300.0,
    attacker_gain: float = 300.0,
    attacker_cost: float = 4.0,
    costs: Sequence[Sequence[float]] = (),
) -> float:
    d, n, refused = len(x.trees), x.n, x.refused
    s = 2 * factor if factor < 0.5 else 1.0
    g = 1.0 if factor <= 0.5 else 1 - 2 * (factor - 0.5)
    raw = list(weights) or [1.0] * d
    w = [weight / max(raw) for weight in raw]
    told = [row for members in x.shown for row in members]
    columns = range(d)
    match loss:
        case "dm":
            return sum(len(c) ** 2 for c in x.shown) + len(refused) * n
        case "dm*":
            return sum(len(c) ** 2 for c in x.shown) + sum(len(c) ** 2 for c in x.hidden)
        case "aecs" | "classes":
            groups = len(x.shown) * s + (g if refused else 0)
            return (n / groups if groups else math.inf) / (minimum if loss == "classes" else 1)
        case "ncp":
            cells = sum(
                w[j] * covered(x.trees[j], int(x.leaves[r, j]), x.node[j]) for r in told for j in columns
            )
            return (cells + len(refused) * sum(w)) / (n * sum(w))
        case "height":
            return put_together([float(level) for level in x.node], w, aggregate or "sum")
        case "precision":
            heights = [x.node[j] / (x.trees[j].levels - 1) for j in columns]
            values = [(len(told) * h * g + len(refused) * s) / n for h in heights]
            return put_together(values, w, aggregate or "arithmetic")
        case "precision*":
            heights = [x.node[j] / (x.trees[j].levels - 1) for j in columns]
            return put_together(heights, w, aggregate or "arithmetic")
        case "loss":
            values = []
            for j in columns:
                shares = {r: share(x.trees[j], int(x.leaves[r, j]), x.node[j]) for r in x.rows}
                total = sum(shares[r] * g for r in told) + sum(
                    shares[r] + s * (1 - shares[r]) for r in refused
                )
                least = g * n / x.trees[j].leaves
                values.append(max(0.0, (total - least) / (n - least)) if n > least else 0.0)
            return put_together(values, w, aggregate or "arithmetic")
        case "nu-entropy" | "nu-entropy*":
            values = []
            for j in columns:
                own = Counter(int(x.leaves[r, j]) for r in x.rows)
                node = Counter(x.cell(r, j) for r in x.rows)
                bits = sum(-math.log2(own[int(x.leaves[r, j])] / node[x.cell(r, j)]) for r in x.rows) * g
                if loss == "nu-entropy":
                    lost = Counter(x.cell(r, j) for r in refused)
                    bits += s * sum(-math.log2(lost[x.cell(r, j)] / len(refused)) for r in refused)
                values.append(bits)
            return put_together(values, w, aggregate or "sum")
        case "nu-entropy-scaled":
            values = []
            for j in columns:
                own = Counter(int(x.leaves[r, j]) for r in x.rows)
                node = Counter(x.cell(r, j) for r in x.rows)
                lost = Counter(x.cell(r, j) for r in refused)
                bits = sum(-math.log2(own[int(x.leaves[r, j])] / node[x.cell(r, j)]) for r in x.rows)
                bits += sum(-math.log2(lost[x.cell(r, j)] / len(refused)) for r in refused)
                most = sum(-math.log2(own[int(x.leaves[r, j])] / n) for r in x.rows)
                values.append(bits / most if most else 0.0)
            return put_together(values, w, aggregate or "arithmetic")
        case "stated":
            return put_together([costs[j][x.node[j]] for j in columns], w, aggregate or "sum")
        case "record-loss":
            size = math.prod(tree.leaves for tree in x.trees)
            total = s * len(refused)
            for r in told:
                shares = math.prod(share(x.trees[j], int(x.leaves[r, j]), x.node[j]) for j in columns)
                total += g * (math.log10(shares) / math.log10(size) + 1 if size > 1 else 0.0)
            return total
        case "ambiguity":
            total = len(refused) * math.prod(tree.leaves for tree in x.trees)
            for r in told:
                total += math.prod(
                    share(x.trees[j], int(x.leaves[r, j]), x.node[j]) * x.trees[j].leaves for j in columns
                )
            return total
        case "divergence":
            own = Counter(tuple(x.leaves[r]) for r in x.rows)
            size = {r: len(members) for members in x.shown for r in members}
            total = 0.0
            for r in x.rows:
                area = math.prod(tree.leaves for tree in x.trees)
                if r in size:
                    area = math.prod(
                        share(x.trees[j], int(x.leaves[r, j]), x.node[j]) * x.trees[j].leaves for j in columns
                    )
                chance = own[tuple(x.leaves[r])] / n
                total += chance * math.log2(chance / (size.get(r, len(refused)) / n / area))
            return total
        case "classification":
            most = max(factor, g, s)
            total = len(refused) * factor
            for members in x.shown:
                votes = sorted(Counter(x.target[r] for r in members).values(), reverse=True)
                torn = len(votes) > 1 and votes[0] == votes[1]
                total += len(members) * s if torn else (len(members) - votes[0]) * g
            return total / (most * n)
        case "payout":
            size = math.prod(tree.leaves for tree in x.trees)
            total = len(refused) * s * publisher_benefit
            for members in x.shown:
                first = members[0]
                shares = math.prod(share(x.trees[j], int(x.leaves[first, j]), x.node[j]) for j in columns)
                lost = math.log10(shares) / math.log10(size) + 1 if size > 1 else 0.0
                chance = 1 / len(members)
                pays = publisher_benefit * (1 - lost)
                if attacker_gain * chance - attacker_cost > 0:
                    pays -= publisher_loss * chance
                total += g * len(members) * (publisher_benefit - pays)
            return total
    raise AssertionError(loss)
