"""What may be moved in the explorer: fields of settings, each with a slider."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mahrem.models import model_settings
from mahrem.web._explore import EXPLORED
from mahrem.web.bodies import Columns, FormField, Project, form_fields, settings_of_column
from mahrem.web.pages._contexts import SensitiveLine
from mahrem.web.pages._explored_contexts import SlidColumn, Slider
from mahrem.words import Catalogue

_RANGES: Mapping[str, tuple[float, float, float]] = {  # what sliders reach, and by which steps
    "k": (2, 50, 1),
    "suppression_limit": (0, 0.2, 0.01),
    "l": (1, 10, 1),
    "t": (0.05, 1, 0.05),
    "weights": (0.5, 5, 0.5),
}
_LEVELS = ("1", "2", "3")  # of a hierarchy
_STEPS: Mapping[str, tuple[str, ...]] = {
    "numeric": ("1", "2", "5", "10", "20", "50", "100"),
    "date": ("day", "week", "month", "quarter", "year"),
    "code": ("1", "2", "3", "4"),
    "ordinal": (),
    "categorical": (),
}


def ranged(field: FormField) -> Slider:
    """Give a field of a number a slider."""
    low, high, step = _RANGES[field.setting]
    number = float(field.value) if field.value else low
    return Slider(field=field, low=low, high=max(high, number), step=step)


def slid_promises(
    project: Project, promises: Mapping[str, object], texts: Catalogue
) -> Iterator[tuple[SensitiveLine, Sequence[Slider]]]:
    """Give sliders of l and t for every sensitive column; its own figures win over those of all."""
    figures = {name: known for name, known in model_settings().items() if name in {"l", "t"}}
    chosen = (project.choices or Columns(columns={})).columns
    for number, name in enumerate(
        column["name"] for column in (project.profile or {"columns": []})["columns"]
    ):
        if name not in chosen or chosen[name].role != "sensitive":
            continue
        values = {**{key: promises.get(key) for key in figures}, **chosen[name].promises}
        fields = form_fields(figures.values(), values, texts, prefix=f"own-{number}-")
        line = SensitiveLine(name=name, fields=fields, own=len(chosen[name].promises))
        yield line, [ranged(field) for field in fields]


def slid_columns(project: Project, texts: Catalogue) -> Iterator[SlidColumn]:
    """Give sliders of coarseness and weight for every quasi-identifier."""
    chosen = (project.choices or Columns(columns={})).columns
    settings = [settings_of_column()[name] for name in EXPLORED]
    for number, facts in enumerate((project.profile or {"columns": []})["columns"]):
        choice = chosen.get(facts["name"])
        if choice is None or choice.role != "quasi":
            continue
        kind = choice.kind or facts["kind"]
        steps = _LEVELS if facts["name"] in project.hierarchies else _STEPS.get(kind, ())
        fields = form_fields(settings if steps else settings[2:], choice.model_dump(), texts)
        yield SlidColumn(
            number=number,
            name=facts["name"],
            sliders=[_slid(replace(field, name=f"{field.name}-{number}"), steps) for field in fields],
        )


def _slid(field: FormField, steps: Sequence[str]) -> Slider:
    """Give a field of a column a slider: of numbers, or over the steps that are usual for its kind."""
    if field.setting in _RANGES:
        return ranged(field)
    own = [field.value] if field.value and field.value not in steps else []
    stops = ("", *steps, *own)
    return Slider(field=field, low=0, high=len(stops) - 1, step=1, stops=stops)
