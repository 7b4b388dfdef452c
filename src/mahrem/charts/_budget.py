"""A ledger over time, and what its answers let somebody find."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mahrem.charts._frame import (
    FIRST,
    HEIGHT,
    INK,
    SECOND,
    WIDTH,
    Drawing,
    framed,
    measured,
    share_axis,
    titled,
    tooltip,
)
from mahrem.words import Catalogue, load_catalogue

_DASHED = {"type": "line", "strokeDash": [5, 4], "color": INK}


def draw_budget(
    spent: Iterable[tuple[str, float]],
    total: float,
    curve: Sequence[tuple[float, float]],
    language: str = "en",
) -> Drawing:
    """Draw what was spent over time below the total, and members found against false alarms.

    Args:
        spent: When something was paid, and what all of it cost by then.
        total: What may be spent.
        curve: False alarms and members found by the best attack on all answers.
        language: Of the words.
    """
    words = load_catalogue(language)
    body = {"vconcat": [_over_time(list(spent), total, words), _gain_curve(curve, words)]}
    return framed(words.say("chart.ledger"), words, body)


def _over_time(spent: Sequence[tuple[str, float]], total: float, words: Catalogue) -> Drawing:
    moments = [
        {"time": time, "epsilon": epsilon, "told": words.number(epsilon, 4)} for time, epsilon in spent
    ]
    moment, cost = words.say("chart.moment"), words.say("chart.spent")
    when = {
        "field": "time",
        "type": "temporal",
        "scale": {"type": "utc"},
        "axis": {"title": moment, "format": "%Y-%m-%d %H:%M", "labelAngle": -30, "tickCount": 5},
    }
    up = measured("epsilon", {"title": cost, "format": "~g"}, scale={"domain": [0, 1.1 * total]})
    return {
        "title": titled(
            words.say("chart.budget"), f"{words.say('budget.total', 0)}: ε = {words.number(total, 4)}"
        ),
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            {
                "data": {"values": moments},
                "mark": {
                    "type": "line",
                    "interpolate": "step-after",
                    "point": {"color": FIRST},
                    "color": FIRST,
                },
                "encoding": {"x": when, "y": up, "tooltip": tooltip(("time", moment), ("told", cost))},
            },
            {
                "mark": {"type": "rule", "color": SECOND, "strokeDash": [5, 4]},
                "data": {"values": [{"epsilon": total}]},
                "encoding": {"y": up},
            },
        ],
    }


def _gain_curve(curve: Sequence[tuple[float, float]], words: Catalogue) -> Drawing:
    alarms, detections = words.say("chart.alarms"), words.say("chart.found")
    points = [
        {
            "alarms": false,
            "found": true,
            "alarms_told": words.percent(false),
            "found_told": words.percent(true),
        }
        for false, true in curve
    ]
    both = {
        "x": measured("alarms", share_axis(alarms, words), scale={"domain": [0, 1]}),
        "y": measured("found", share_axis(detections, words), scale={"domain": [0, 1]}),
    }
    tips = tooltip(("alarms_told", alarms), ("found_told", detections))
    return {
        "title": titled(words.say("chart.gain"), words.say("chart.gain_under")),
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            {
                "data": {"values": points},
                "mark": {"type": "line", "color": FIRST, "point": {"size": 12, "color": FIRST}},
                "encoding": {**both, "tooltip": tips},
            },
            {
                "data": {"values": [{"alarms": 0, "found": 0}, {"alarms": 1, "found": 1}]},
                "mark": _DASHED,
                "encoding": both,
            },
        ],
    }
