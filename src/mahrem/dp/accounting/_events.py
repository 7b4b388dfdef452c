"""What happened, split from what it costs: events can be stored, compared and composed.

An event says which mechanism ran with which public numbers. ``_accounting`` turns a list of them into
epsilon and delta.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

from mahrem import check
from mahrem.dp._extra import accounting
from mahrem.errors import InvalidParameter


@dataclass(frozen=True)
class Pure:
    """Any mechanism that is ``epsilon``-DP; composed as the worst of them, randomised response."""

    epsilon: float

    def __post_init__(self) -> None:
        check.above_zero(epsilon=self.epsilon)


@dataclass(frozen=True)
class Approximate:
    """Any mechanism that is ``(epsilon, delta)``-DP."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check.above_zero(epsilon=self.epsilon)
        if not 0 < self.delta < 1:
            raise InvalidParameter(f"delta={self.delta!r} must lie between 0 and 1, both outside")


def promise_event(epsilon: float, delta: float) -> Pure | Approximate:
    """Give the event of a mechanism that is known to be ``(epsilon, delta)``-DP and no more."""
    return Pure(epsilon) if delta == 0 else Approximate(epsilon, delta)


@dataclass(frozen=True)
class Laplace:
    """Laplace noise of scale ``noise_multiplier`` times the sensitivity."""

    noise_multiplier: float

    def __post_init__(self) -> None:
        check.above_zero(noise_multiplier=self.noise_multiplier)


@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise of standard deviation ``noise_multiplier`` times the sensitivity."""

    noise_multiplier: float

    def __post_init__(self) -> None:
        check.above_zero(noise_multiplier=self.noise_multiplier)


@dataclass(frozen=True)
class DiscreteLaplace:
    """Integer noise with probability proportional to ``exp(-|k| / scale)`` on one number."""

    scale: float
    sensitivity: int

    def __post_init__(self) -> None:
        check.above_zero(scale=self.scale)
        check.at_least(1, sensitivity=check.whole(sensitivity=self.sensitivity))


@dataclass(frozen=True)
class DiscreteGaussian:
    """Integer noise with probability proportional to ``exp(-k**2 / (2 sigma**2))`` on one number."""

    sigma: float
    sensitivity: int

    def __post_init__(self) -> None:
        check.above_zero(sigma=self.sigma)
        check.at_least(1, sensitivity=check.whole(sensitivity=self.sensitivity))


@dataclass(frozen=True)
class Foreign:
    """An event of dp-accounting in a form that can be stored; made by :func:`foreign`."""

    name: str
    arguments: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Repeated:
    """The same event several times."""

    event: Event
    times: int

    def __post_init__(self) -> None:
        check.at_least(1, times=check.whole(times=self.times))


@dataclass(frozen=True)
class Composed:
    """Several events on the same data."""

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        if not self.events:
            raise InvalidParameter("events=() must hold at least one event")


Event: TypeAlias = (
    Pure
    | Approximate
    | Laplace
    | Gaussian
    | DiscreteLaplace
    | DiscreteGaussian
    | Foreign
    | Repeated
    | Composed
)
_PLAIN = {
    kind.__name__: kind for kind in (Pure, Approximate, Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian)
}


def foreign(event: object) -> Foreign:
    """Take an event of dp-accounting, such as the steps of a private training.

    Example:
        >>> import dp_accounting as da
        >>> step = da.PoissonSampledDpEvent(0.01, da.GaussianDpEvent(1.1))
        >>> foreign(da.SelfComposedDpEvent(step, 100)).name
        'SelfComposedDpEvent'
    """
    home = accounting().events
    name = type(event).__name__
    if getattr(home, name, None) is not type(event) or not isinstance(event, home.DpEvent):
        raise InvalidParameter(f"event of type {name} is no event of dp-accounting")
    taken = [(part.name, _stored(getattr(event, part.name))) for part in event.__attrs_attrs__]
    return Foreign(name, tuple(taken))


def _stored(value: Any) -> Any:
    home = accounting().events
    if isinstance(value, home.DpEvent):
        return foreign(value)
    if isinstance(value, list | tuple):
        return tuple(_stored(part) for part in value)
    if isinstance(value, bool | int | str) or value is None:
        return value
    return check.finite(argument=float(value))


def restored(event: Foreign) -> Any:
    """Make the event of dp-accounting again."""
    home = accounting().events
    kind = getattr(home, event.name, None)
    if not (isinstance(kind, type) and issubclass(kind, home.DpEvent)):
        raise InvalidParameter(f"event={event.name!r} is not known to this version of dp-accounting")
    return kind(**{name: _restore_value(value) for name, value in event.arguments})


def _restore_value(value: object) -> object:
    if isinstance(value, Foreign):
        return restored(value)
    return [_restore_value(part) for part in value] if isinstance(value, tuple) else value


def event_to_dict(event: Event) -> dict[str, Any]:
    """Write an event as plain data; :func:`event_from_dict` reads it."""
    match event:
        case Composed(events):
            return {"event": "Composed", "events": [event_to_dict(part) for part in events]}
        case Repeated(inner, times):
            return {"event": "Repeated", "of": event_to_dict(inner), "times": times}
        case Foreign(name, arguments):
            written = {key: _written(value) for key, value in arguments}
            return {"event": "Foreign", "name": name, "arguments": written}
        case _:
            return {"event": type(event).__name__, **asdict(event)}


def _written(value: object) -> object:
    if isinstance(value, Foreign):
        return event_to_dict(value)
    return [_written(part) for part in value] if isinstance(value, tuple) else value


def event_from_dict(plain: Mapping[str, Any]) -> Event:
    """Read an event; what is not one is refused."""
    match plain:
        case {"event": "Composed", "events": list(events)}:
            return Composed(tuple(event_from_dict(part) for part in events))
        case {"event": "Repeated", "of": inner, "times": int(times)}:
            return Repeated(event_from_dict(inner), times)
        case {"event": "Foreign", "name": str(name), "arguments": arguments}:
            return Foreign(name, tuple((key, _read(value)) for key, value in arguments.items()))
        case {"event": str(name), **rest} if name in _PLAIN:
            kind = _PLAIN[name]
            if set(rest) == {entry.name for entry in fields(kind)}:
                return kind(**rest)
    raise InvalidParameter("a record holds no event that this version knows")


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return event_from_dict(value)
    return tuple(_read(part) for part in value) if isinstance(value, list) else value


def pure_epsilon(event: Event) -> float | None:
    """Give the epsilon of an event that needs no delta; None for others."""
    match event:
        case Pure(epsilon):
            return epsilon
        case Laplace(multiplier):
            return 1 / multiplier
        case DiscreteLaplace(scale, sensitivity):
            return sensitivity / scale
        case Repeated(inner, times):
            alone = pure_epsilon(inner)
            return None if alone is None else alone * times
        case Composed(events):
            parts = [pure_epsilon(inner) for inner in events]
            known = [part for part in parts if part is not None]
            return math.fsum(known) if len(known) == len(parts) else None
    return None
