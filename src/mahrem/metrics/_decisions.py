"""Was managing the outliers worth it? The decision rules of Canbay (2019) over two measurements."""

from __future__ import annotations

from collections.abc import Mapping

from mahrem import check


def decide_by_dm(managed: Mapping[str, float], unmanaged: Mapping[str, float]) -> int:
    """Rule A: 1 when the managed release discerns more (its ``dm`` is smaller), else 0.

    The managed side counts all its classes: those of every round and those made of the leftovers.

    Args:
        managed: Utility of the release with managed outliers, by the names of every report.
        unmanaged: Utility of the release without.

    References:
        Canbay: doctoral thesis, 2019.

    Example:
        >>> decide_by_dm({"dm": 27}, {"dm": 41})
        1
    """
    return _smaller("dm", managed, unmanaged)


def decide_by_mean_class_size(managed: Mapping[str, float], unmanaged: Mapping[str, float]) -> int:
    """Rule B: 1 when the managed release has smaller classes on average (``mean_class_size``), else 0.

    The mean is all rows over all classes, those made of the leftovers among them; it is what the thesis calls
    AECS.

    Args:
        managed: Utility of the release with managed outliers, by the names of every report.
        unmanaged: Utility of the release without.

    References:
        Canbay: doctoral thesis, 2019.

    Example:
        >>> decide_by_mean_class_size({"mean_class_size": 3.0}, {"mean_class_size": 4.5})
        1
    """
    return _smaller("mean_class_size", managed, unmanaged)


def decide_by_gcp(managed: Mapping[str, float], unmanaged: Mapping[str, float]) -> int:
    """Rule C: 1 when the managed release loses less certainty (its ``gcp_sum`` is smaller), else 0.

    The managed side is the sum over all rounds and the leftovers.

    Args:
        managed: Utility of the release with managed outliers, by the names of every report.
        unmanaged: Utility of the release without.

    References:
        Canbay: doctoral thesis, 2019.

    Example:
        >>> decide_by_gcp({"gcp_sum": 2133.0}, {"gcp_sum": 2133.0})
        0
    """
    return _smaller("gcp_sum", managed, unmanaged)


def _smaller(name: str, managed: Mapping[str, float], unmanaged: Mapping[str, float]) -> int:
    for side, figures in (("managed", managed), ("unmanaged", unmanaged)):
        check.finite(**{f"{side}.{name}": figures.get(name)})
    return int(managed[name] < unmanaged[name])
