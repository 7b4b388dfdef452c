"""What the templates of verbs beside a release are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mahrem.web.bodies import ErrorDetail, FormField, Job
from mahrem.web.pages._contexts import Shell
from mahrem.web.pages._lattice_picture import LatticePicture


@dataclass(frozen=True, kw_only=True)
class OtherPage:
    """What else can be made of a table."""

    shell: Shell
    verbs: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class MaskedPage:
    """One verb: what is said to it, how it goes, what came of it."""

    shell: Shell
    verb: str
    verbs: Sequence[str]
    fields: Sequence[FormField]
    problem: ErrorDetail | None  # why it cannot begin
    unused: Sequence[str]  # what was decided for a release and does nothing here
    seen: int | None  # lines of the ledger that this page knows of
    job: Job | None
    figures: Sequence[tuple[str, str]]
    notes: Sequence[str]
    old: bool
    zip_url: str  # nothing where there is nothing to hand out


@dataclass(frozen=True, kw_only=True)
class NodeLine:
    """A node of a lattice, as a line of a table."""

    levels: Sequence[int]
    holds: bool
    loss: str
    suppressed: str
    classes: str
    smallest: str
    current: bool = False

    @property
    def address(self) -> str:
        """The node as a part of an address."""
        return ",".join(map(str, self.levels))


@dataclass(frozen=True, kw_only=True)
class LatticePage:
    """The lattice: a node with its neighbours, and all that hold."""

    shell: Shell
    verbs: Sequence[str]
    fields: Sequence[FormField]
    problem: ErrorDetail | None
    heights: Mapping[str, int]
    node: NodeLine | None
    near: Sequence[NodeLine]
    why: Sequence[tuple[str, str, str, str]]  # promise, wanted, classes, rows
    tried: str  # on how many rows
    picture: LatticePicture | None
    job: Job | None
    best: Sequence[NodeLine]
    counted: str  # how many nodes hold
    listed: bool  # whether every node can be downloaded
    old: bool
