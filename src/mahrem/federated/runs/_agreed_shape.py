"""What the members of a federation of another shape agree on, as it stands in the federation file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from mahrem.errors import InvalidParameter
from mahrem.federated._readers import from_number, from_whole, refuse_settings
from mahrem.federated.runs._entries import SHAPES, FederationShape
from mahrem.settings import read_settings, setting, settings_of, switch, text

if TYPE_CHECKING:
    from mahrem.federated.networks import Network
    from mahrem.federated.shapes import (
        GossipPlan,
        LabelNoise,
        PredictionPlan,
        SplitPlan,
        TransferPlan,
        VerticalPlan,
        VerticalTreesPlan,
    )

    SomePlan: TypeAlias = VerticalPlan | VerticalTreesPlan | SplitPlan | GossipPlan | TransferPlan

MODELS = ("mlp", "logistic", "boosting")
_GROUP = "shape"
_COUNT: dict[str, Any] = {"read": from_whole(1), "group": _GROUP, "metavar": "N"}
_NUMBER: dict[str, Any] = {"group": _GROUP, "metavar": "X"}
RATES = {"boosting": 0.2}  # else 0.05


def _holds(name: str, value: object) -> dict[str, tuple[str, ...]]:
    if value == ():  # nobody was named
        return {}
    if not isinstance(value, Mapping):
        raise InvalidParameter(f"{name} must name the columns of each member")
    return {str(member): tuple(map(str, columns)) for member, columns in value.items()}


@dataclass(frozen=True, kw_only=True)
class AgreedShape:
    """A shape of federation between real processes.

    Args:
        shape: Which one.
        model: Layers, logistic regression, or trees; not every shape has each.
        rounds: How many rounds, or trees.
        epochs: Passes through the rows in a round.
        rate: Learning rate; 0.05, of trees 0.2.
        batch: Rows of a step; 64, of vertical logistic regression 4096. Sums over few tell single labels.
        units: Of vertical layers: what a party's columns become.
        tail: Of u-shaped: layers that clients have after the server's.
        label_epsilon: Of vertical and u-shaped: randomises labels before anything is learnt from them.
        depth: Depth of a tree.
        least_leaf: Least rows on each side of a cut of a tree.
        cell_epsilon: Of vertical trees: what sums over cells promise each row, by noise; 0 is none.
        least_rows: Of vertical: fewer people in common are an error.
        predict: Of vertical: members answer the one with the labels about new people, too, whose columns lie
            with them; see :func:`predict_vertical`.
        id: Of vertical: the column that says whom a row is about.
        holds: Of vertical and transfer: which columns each member has, by its name. Of vertical the one with
            the target has the labels.
        least_clients: Fewer members and there is no run; all where columns are at different members, else 2.
        seed: Of all that is drawn, but keys and noise.

    Example:
        >>> holds = {"a": ["x", "ill"], "b": ["y"]}
        >>> plan = AgreedShape(shape="vertical", model="logistic", id="nr", holds=holds)
        >>> plan.least, plan.own("b", ["x", "y"]), plan.label("ill")
        (2, ('y',), 'a')
        >>> AgreedShape(shape="gossip", model="boosting")
        Traceback (most recent call last):
        mahrem.errors.InvalidParameter: model='boosting': trees go with shape='vertical'
    """

    shape: str = setting(read=text, group=_GROUP, metavar="NAME", choices=lambda: SHAPES)
    model: str = setting("mlp", read=text, group=_GROUP, metavar="NAME", choices=lambda: MODELS)
    rounds: int = setting(10, **_COUNT)
    epochs: int = setting(1, **_COUNT)
    rate: float | None = setting(**_NUMBER, read=from_number(1e-9, 100))
    batch: int | None = setting(**_COUNT)
    units: int = setting(16, **_COUNT)
    tail: int = setting(1, **_COUNT)
    label_epsilon: float | None = setting(**_NUMBER, read=from_number(1e-3, 50))
    depth: int = setting(4, **_COUNT | {"read": from_whole(1, 12)})
    least_leaf: int = setting(10, **_COUNT)
    cell_epsilon: float = setting(4.0, **_NUMBER, read=from_number(0))
    least_rows: int = setting(10, **_COUNT | {"read": from_whole(2)})
    predict: bool = setting(False, read=switch, group=_GROUP)
    id: str = setting("", read=text, group=_GROUP, metavar="COL")
    holds: Mapping[str, tuple[str, ...]] = setting(
        (), read=_holds, takes="Mapping[str, Sequence[str]]", group=_GROUP, metavar="NAME=A,B", repeats=True
    )
    least_clients: int | None = setting(**_COUNT)
    seed: int = setting(0, **_COUNT | {"read": from_whole(0)})
    sum: ClassVar[str] = "plain"
    numbers: ClassVar[str] = "weights"
    recount: ClassVar[bool] = False
    groups: ClassVar[int] = 1
    hides: ClassVar[bool] = False
    private: ClassVar[bool] = False

    def __post_init__(self) -> None:
        refuse_settings(self)
        object.__setattr__(self, "holds", _holds("holds", self.holds))
        for why in self._refused():
            raise InvalidParameter(why)
        self.plan()

    def _refused(self) -> Iterator[str]:
        entry, shape = self.entry, self.shape
        if self.model == "boosting" and shape != "vertical":
            yield "model='boosting': trees go with shape='vertical'"
        if self.model == "logistic" and entry.layered:
            yield f"shape={shape!r} needs hidden layers: model='mlp'"
        if self.label_epsilon is not None and not entry.noisy_labels:
            yield f"label_epsilon goes with vertical and u-shaped, not with {shape}"
        if self.label_epsilon is not None and self.model == "boosting":
            yield "label_epsilon: trees tell nobody anything of the labels but cuts; leave it out"
        if entry.by_column != bool(self.holds):
            yield (
                f"holds: say which columns each member has, with shape={shape!r}"
                if entry.by_column
                else f"holds: all members have the same columns with shape={shape!r}"
            )
        if (shape == "vertical") != bool(self.id):
            yield "id: vertical learning needs the column that says whom a row is about, and others have none"
        if self.predict and shape != "vertical":
            yield f"predict: members of shape={shape!r} have all columns of the model; ask it where it lies"
        if any(not columns for columns in self.holds.values()) or len(self.holds) == 1:
            yield "holds: at least two members, each with a column"
        if self.holds and self.least_clients not in {None, len(self.holds)}:
            yield f"least_clients={self.least_clients}: no member of shape={shape!r} can be spared"

    @property
    def entry(self) -> FederationShape:
        """What is known of the shape."""
        return SHAPES[self.shape]

    @property
    def least(self) -> int:
        """The least members of a run."""
        return len(self.holds) or self.least_clients or 2

    @property
    def learning_rate(self) -> float:
        """The rate that was said, or the usual one."""
        return RATES.get(self.model, 0.05) if self.rate is None else self.rate

    @property
    def step_rows(self) -> int:
        """The batch that was said, or the usual one."""
        usual = 4096 if (self.shape, self.model) == ("vertical", "logistic") else 64
        return usual if self.batch is None else self.batch

    def own(self, name: str, columns: Any) -> tuple[str, ...]:
        """Give the columns that a member learns from, in the order of the schema."""
        held = set(self.holds[name]) if self.holds else set(columns)
        return tuple(column for column in columns if column in held)

    def label(self, target: str) -> str | None:
        """Name the one member of vertical learning that has the labels; None where all have."""
        if self.shape != "vertical":
            return None
        (name,) = (name for name, columns in self.holds.items() if target in columns)
        return name

    def refuse_schema(self, columns: Any, target: str) -> None:
        """Refuse columns that do not fit what members hold.

        Raises:
            InvalidParameter: If one is unknown, nobody's, or of vertical learning several members'.
        """
        held = [column for names in self.holds.values() for column in names if column != target]
        for column in held:
            if column not in columns:
                raise InvalidParameter(f"holds: column={column!r} is not in the schema")
        if not self.holds:
            return
        for column in columns:
            if column not in held:
                raise InvalidParameter(f"holds: nobody has column={column!r} of the schema")
        if self.shape == "vertical":
            labelled = [name for name, names in self.holds.items() if target in names]
            if len(held) > len(set(held)) or len(labelled) != 1:
                raise InvalidParameter(
                    f"holds: each column is one member's, and one of them has the target={target!r}; "
                    f"{len(labelled)} have it"
                )
        for name, names in self.holds.items():
            if not set(names) - {target}:
                raise InvalidParameter(f"holds: member={name!r} has no column to learn from")

    def noise(self) -> LabelNoise | None:
        """Give what randomises labels."""
        from mahrem.federated.shapes import LabelNoise

        return None if self.label_epsilon is None else LabelNoise(epsilon=self.label_epsilon)

    def network(self) -> Network:
        """Give the layers."""
        from mahrem.federated.networks import Network

        hidden = self.entry.hidden if self.model == "mlp" else ()
        return Network(hidden=hidden, rate=self.learning_rate, batch=self.step_rows, epochs=self.epochs)

    def plan(self) -> SomePlan:
        """Give what the shape itself agrees on."""
        from mahrem.federated import shapes

        common: dict[str, Any] = {"rounds": self.rounds, "seed": self.seed}
        if self.model == "boosting":
            return shapes.VerticalTreesPlan(
                **common,
                depth=self.depth,
                rate=self.learning_rate,
                least_leaf=self.least_leaf,
                cell_epsilon=self.cell_epsilon,
                least_rows=self.least_rows,
            )
        common["network"] = self.network()
        if self.shape == "vertical":
            units = self.units if self.model == "mlp" else 0
            rows, hidden = self.least_rows, not units
            return shapes.VerticalPlan(**common, units=units, least_rows=rows, hide_slopes=hidden)
        if self.shape == "gossip":
            return shapes.GossipPlan(**common)
        if self.shape == "transfer":
            return shapes.TransferPlan(**common, least_clients=max(2, self.least))
        return shapes.SplitPlan(**common, tail=self.tail if self.shape == "u-shaped" else 0)

    def prediction(self) -> PredictionPlan:
        """Give what members agree on about new people.

        Raises:
            InvalidParameter: If they agreed on none.
        """
        from mahrem.federated import shapes

        learnt = self.plan()
        if not self.predict or not isinstance(learnt, shapes.VerticalPlan | shapes.VerticalTreesPlan):
            raise InvalidParameter("predict: the members did not agree to answer about new people")
        return shapes.PredictionPlan(learnt=learnt)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, without None: a plan file has no such thing."""
        settings = {name: getattr(self, name) for name in settings_of(AgreedShape)}
        settings |= {
            "rate": self.learning_rate,
            "batch": self.step_rows,
            "holds": {name: list(held) for name, held in self.holds.items()},
        }
        return {name: value for name, value in settings.items() if value is not None}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> AgreedShape:
        """Read what :meth:`as_dict` gave, or the table of a federation file.

        Raises:
            InvalidParameter: If a key is none of the plan's.
        """
        return cls(**read_settings(settings_of(AgreedShape), given))
