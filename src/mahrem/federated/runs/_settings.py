"""What one client, and whoever runs a federation, say about their own part; the plan says what is common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mahrem.errors import InvalidParameter
from mahrem.federated._readers import above_zero, from_number, from_whole, path, refuse_settings
from mahrem.readers import texts
from mahrem.settings import setting, switch

if TYPE_CHECKING:
    from mahrem.table import Reading

Tell = Callable[[str], None]
_FILE: dict[str, Any] = {"read": path, "takes": "Path | None", "metavar": "FILE", "private": True}


def _source(_: str, value: object) -> object:
    return value


def _names(name: str, value: object) -> frozenset[str]:
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, Iterable) or not all(isinstance(one, str) and one for one in listed):
        raise InvalidParameter(f"{name}={value!r} must name clients, like north,south")
    return frozenset(listed)


@dataclass(frozen=True, kw_only=True)
class ClientSettings:
    """What a client does about its own table before anything leaves.

    Args:
        sum_secret: The clients' key of homomorphic sums.
        least_count: Rules: counts leave in multiples of this, rounded down, if it is more than agreed.
        epsilon: Rules: noise on the counts behind one-shot rules, in every run anew. See
            :func:`perturb_rules`.
        ledger: Pays for noise. A run that it does not cover is refused.
        disguise: The clients' key of dummy rules or weights. See :class:`Disguise` and :class:`Decoys`.
        dummies: Rules: dummy rules for each real one.
        network: Where ``own`` networks are learnt: the file that makes it, which must be the agreed one. It
            is run here; the server never sends one.
        keep_model: Where clients have layers of their own (``personal``): the file that this one's model is
            written to after each round.
        use_model: Where members answer about new people (``predict``): the model of the member with labels.
            Its table names these people then.
        keep_predictions: The file that predictions of these people are written to.
        patience: Seconds without the server before giving up.
        review: Show what was agreed, in words, and ask before taking part.
        yes: Agree to it without being asked; for scripts.
        known: Public keys (``NAME.pub``) that other members handed over. Where sums are hidden, members whose
            keys nobody vouched for may be the server's; ``review`` shows them all and asks.
        members: Agree to sums over exactly these clients, although earlier ones were over others. Whoever has
            both results can subtract them.
        audit: Where each question is written down; in the private folder of this user by default.
        despite: Faults of the table or the plan that its owner knows of and takes part with. ``undeclared``
            for every column, ``undeclared:job`` for one. See :func:`check_table`.
        policy: Where weights or trees are learnt: the table is anonymised under it before anything else, as
            by :func:`mahrem.anonymize`. Without one it is learnt from as it is, and the report says so.
    """

    sum_secret: Path | None = setting(**_FILE, group="client")
    least_count: int | None = setting(read=from_whole(1), group="client", metavar="N")
    epsilon: float | None = setting(read=above_zero, group="client", metavar="X")
    ledger: Path | None = setting(**_FILE, group="client")
    disguise: Path | None = setting(**_FILE, group="client")
    dummies: float = setting(1.0, read=from_number(0), group="client", metavar="X")
    patience: float = setting(300.0, read=from_number(0), group="client", metavar="SECONDS")
    review: bool = setting(False, read=switch, group="client")
    yes: bool = setting(False, read=switch, group="client")
    known: tuple[str, ...] = setting((), read=texts, group="client", metavar="FILE", private=True)
    members: frozenset[str] | None = setting(read=_names, takes="str | None", group="client", metavar="A,B")
    audit: Path | None = setting(**_FILE, group="client")
    network: Path | None = setting(**_FILE, group="client")
    keep_model: Path | None = setting(**_FILE, group="client")
    use_model: Path | None = setting(**_FILE, group="client")
    keep_predictions: Path | None = setting(**_FILE, group="client")
    despite: tuple[str, ...] = setting((), read=texts, group="client", metavar="CODE[:COL]")
    policy: Mapping[str, Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        refuse_settings(self)


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """How a run is carried out and kept.

    Args:
        output: The run folder; a new one under ``runs`` by default.
        resume: Go on after the last round of this run folder of weights or trees.
        predict: Ask about new people instead of learning, where members of other columns agreed to it.
        clients: Wait for so many; all by default.
        wait: Seconds to wait for them. Then it goes on with those that are there, if they are enough.
        retries: How often a run that lost clients waits ``wait`` seconds for them to come back. Weights and
            trees then go on after the last round, rules are learnt anew.
        test: Untouched rows to judge weights or trees by after each round.
        vet_by: Rows that no client has, to judge updates by where the plan says ``held_out``.
        network: The file that makes an ``own`` network; ``network.py`` beside the federation file by default.
        byte_budget: Stop before more bytes than this went both ways, in all parts of the run. The model so
            far is kept.
        force: Replace a finished run.
        depends_on: What else must be as before for a run to go on.
        reading: How to read rows to judge by.
        tell: Told about progress.
    """

    output: Path | None = setting(**_FILE | {"metavar": "DIR"}, group="run", spelling="-o --output")
    resume: Path | None = setting(**_FILE | {"metavar": "DIR"}, group="run")
    predict: bool = setting(False, read=switch, group="run")
    clients: int | None = setting(read=from_whole(0), group="run", metavar="N")
    wait: float = setting(60.0, read=from_number(0), group="run", metavar="SECONDS")
    retries: int = setting(2, read=from_whole(0, 100), group="run", metavar="N")
    test: object = setting(read=_source, takes="str | None", group="run", metavar="SOURCE")
    vet_by: object = setting(read=_source, takes="str | None", group="run", metavar="SOURCE")
    network: Path | None = setting(**_FILE, group="run")
    byte_budget: int | None = setting(read=from_whole(1), group="run", metavar="N")
    force: bool = setting(False, read=switch, group="run")
    depends_on: str = ""
    reading: Reading | None = None
    tell: Tell = field(default=lambda _: None, repr=False)

    def __post_init__(self) -> None:
        refuse_settings(self)


def refuse_other_task(kind: str, settings: object, *names: str) -> None:
    """Refuse settings that only another kind of task knows.

    Raises:
        InvalidParameter: The first of them that was said.
    """
    for name in names:
        value = getattr(settings, name)
        if value is not None and value is not False:
            raise InvalidParameter(f"{name}: it is for {kind}, which this federation does not learn")
