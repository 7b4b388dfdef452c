"""Hierarchies as nested nodes, the form in which people see and edit them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.table.hierarchies._hierarchy import ROOT, Hierarchy

_DEEPEST = 100


def nested_hierarchy(
    tree: Hierarchy, *, depth: int | None = None, width: int | None = None
) -> dict[str, Any]:
    """Give a tree as nested nodes: ``label``, ``leaves`` (how many values lie under it), ``children``.

    A label that only repeats its child's is left to the child. Where children are left out, ``more`` counts
    them.

    Args:
        tree: The hierarchy.
        depth: How many levels below the root.
        width: How many children of a node.

    Example:
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> [child["label"] for child in nested_hierarchy(tree)["children"]]
        ['lung', 'joint']
    """
    return _nested(tree, tree.levels - 1, 0, depth, width)


def hierarchy_from_nested(root: Mapping[str, object], *, name: str = "hierarchy") -> Hierarchy:
    """Build a tree from nested nodes; a node without children is a value.

    Args:
        root: ``{"label": "*", "children": [{"label": "lung", "children": [{"label": "flu"}]}]}``; the label
            of the outermost node does not count.
        name: What errors call the tree.

    Guarantees:
        - What is no tree is refused with :class:`~mahrem.errors.InvalidInput`; the message holds no label.

    Example:
        >>> tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
        >>> hierarchy_from_nested(nested_hierarchy(tree)) == tree
        True
    """
    rows: list[list[str]] = []
    waiting: list[tuple[object, list[str]]] = [(child, []) for child in reversed(_children(root, name))]
    while waiting:
        node, above = waiting.pop()
        label = node.get("label") if isinstance(node, Mapping) else None
        if not isinstance(node, Mapping) or not isinstance(label, str) or not label.strip():
            raise InvalidInput(f"{name}: every node needs a label that is text")
        if len(above) >= _DEEPEST:
            raise InvalidInput(f"{name} is deeper than {_DEEPEST} levels; make it flatter")
        below = _children(node, name)
        if not below:
            rows.append([label, *reversed(above)])
        waiting.extend((child, [*above, label]) for child in reversed(below))
    if any(row[0].strip() == ROOT for row in rows):
        raise InvalidInput(f"{name}: no value may be called {ROOT}; that is what suppressed cells show")
    return Hierarchy.from_rows(_levelled(rows), name=name)


def _levelled(rows: Sequence[list[str]]) -> list[list[str]]:
    """Repeat the value of a short branch, so that nodes of one depth stand at one level."""
    longest = max(map(len, rows), default=0)
    return [[row[0]] * (longest - len(row)) + row for row in rows]


def _children(node: Mapping[str, object], name: str) -> Sequence[object]:
    children = node.get("children") or []
    if not isinstance(children, Sequence) or isinstance(children, str):
        raise InvalidInput(f"{name}: children of a node must be a list of nodes")
    return children


def _nested(
    tree: Hierarchy, level: int, node: int, depth: int | None, width: int | None
) -> dict[str, object]:
    nodes = tree.nodes[level]
    shown_node: dict[str, object] = {
        "label": tree.labels[level][node],
        "leaves": int(np.searchsorted(nodes, node, "right") - np.searchsorted(nodes, node)),
    }
    if level == 0 or (depth is not None and depth <= tree.levels - 1 - level):
        return shown_node
    start, stop = np.searchsorted(nodes, [node, node + 1])
    first, last = int(tree.nodes[level - 1][start]), int(tree.nodes[level - 1][stop - 1])
    if first == last and tree.labels[level - 1][first] == shown_node["label"]:
        return _nested(tree, level - 1, first, depth, width)
    shown = last if width is None else min(last, first + width - 1)
    shown_node["children"] = [
        _nested(tree, level - 1, child, depth, width) for child in range(first, shown + 1)
    ]
    if shown < last:
        shown_node["more"] = last - shown
    return shown_node
