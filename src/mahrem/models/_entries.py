"""All privacy models: one entry each, with the settings that ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypedDict, cast

from mahrem.entries import Entries, Entry
from mahrem.errors import InvalidParameter
from mahrem.readers import Reader, number, text, whole
from mahrem.settings import Setting

if TYPE_CHECKING:
    from mahrem.models._counts import PrivacyModel

Fraction = Literal["", "never", "may", "must"]
GROUP = "promises"
MOST = 10**12  # more than any table has rows, and within 64 bits


@dataclass(frozen=True, kw_only=True)
class ModelEntry(Entry):
    """A privacy model, before it is loaded.

    Attributes:
        figure: The setting that asks for it, such as ``l``.
        kind: Which one is meant where several models have this figure; the first of them is the usual one.
        needs: Further settings that it must be told.
        takes_k: It must be told the k of the release too.
        keyword: What its class calls the figure, if not by the setting's name.
        of_column: It is about a sensitive column, and each may have its own; else about the whole table.
        fraction: Of models about risk: it ``may``, ``must`` or ``never`` can be told the share of the
            population that is in the table.
    """

    figure: Setting
    kind: str | None = None
    needs: tuple[Setting, ...] = ()
    takes_k: bool = False
    keyword: str = ""
    of_column: bool = True
    fraction: Fraction = ""

    def load(self) -> Callable[..., PrivacyModel]:
        """Import the class: it takes its figures by keyword."""
        return cast("Callable[..., PrivacyModel]", super().load())


def model_setting(
    name: str, read: Reader, metavar: str, *, example: object, words: Mapping[str, str] | None = None
) -> Setting:
    """Say a figure of a privacy model; ``words`` by language are for models of other distributions."""
    return Setting(
        name=name,
        read=read,
        takes=f"{read.takes} | None",
        group=GROUP,
        metavar=metavar,
        example=example,
        on_spark=True,
        words=words or {},
    )


def _pair(name: str, value: object) -> tuple[float, float]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, Sequence) or len(parts) != 2:
        raise InvalidParameter(f"{name} must be two numbers: MIN,MAX")
    try:
        return float(parts[0]), float(parts[1])
    except (TypeError, ValueError):
        raise InvalidParameter(f"{name} must be two numbers: MIN,MAX") from None


def _level(name: str, value: object) -> float:
    """Read an l: whole numbers stay whole, as distinct diversity counts values."""
    level: float = number(name, value)
    return int(level) if float(level).is_integer() else level


_K = model_setting("k", whole.within(1, MOST), "N", example=5)
_L = model_setting("l", Reader(read=_level, takes="float", least=1, most=MOST), "N", example=3)
_C = replace(model_setting("c", number.within(0, MOST), "X", example=3.0), spelling="--c")
_T = model_setting("t", number.within(0, MOST), "X", example=0.2)  # a divergence may pass 1, a distance not
_ALPHA = model_setting("alpha", number.within(0, 1), "X", example=0.5)
_BETA = model_setting("beta", number.within(0, MOST), "X", example=1.0)
_DELTA_DISCLOSURE = model_setting("delta_disclosure", number.within(0, MOST), "X", example=1.0)
_DELTA_PRESENCE = replace(
    model_setting(
        "delta_presence", Reader(read=_pair, takes="Sequence[float] | str"), "MIN,MAX", example=[0.0, 0.5]
    ),
    on_spark=False,
)
_TRAJECTORY_K = replace(
    model_setting("trajectory_k", whole.within(1, MOST), "N", example=5), on_spark=False, on_page=False
)


def _sampled(name: str, read: Reader, metavar: str, example: object) -> Setting:
    return replace(model_setting(name, read, metavar, example=example), on_spark=False, on_page=False)


def _gain_and_cost(name: str, value: object) -> tuple[float, float]:
    try:
        return _pair(name, value)
    except InvalidParameter:
        raise InvalidParameter(f"{name} must be two numbers: GAIN,COST") from None


_K_MAP = _sampled("k_map", whole.within(1, MOST), "N", 5)
_AVERAGE_RISK = _sampled("average_risk", number.within(0, 1), "X", 0.05)
_JOURNALIST_RISK = _sampled("journalist_risk", number.within(0, 1), "X", 0.2)
_MARKETER_RISK = _sampled("marketer_risk", number.within(0, 1), "X", 0.05)
_POPULATION_UNIQUENESS = _sampled("population_uniqueness", number.within(0, 1), "X", 0.01)
_POPULATION_UNIQUENESS_KIND = replace(
    _sampled("population_uniqueness_kind", text, "KIND", "dankar"),
    choices=lambda: ("dankar", "pitman", "zayatz", "snb"),
)
_NO_ATTACK = _sampled(
    "no_attack", Reader(read=_gain_and_cost, takes="Sequence[float] | str"), "GAIN,COST", [300.0, 4.0]
)
_SAMPLE_UNIQUENESS = _sampled("sample_uniqueness", number.within(0, 1), "X", 0.01)


def _amounts(name: str, value: object) -> tuple[float, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    try:
        amounts = tuple(float(part) for part in parts)  # type: ignore[attr-defined] # else refused below
    except (TypeError, ValueError):
        amounts = ()
    if len(amounts) != 4:
        raise InvalidParameter(f"{name} must be four numbers: BENEFIT,LOSS,GAIN,COST")
    return amounts


_PROFITABILITY = _sampled(
    "profitability",
    Reader(read=_amounts, takes="Sequence[float] | str"),
    "BENEFIT,LOSS,GAIN,COST",
    [1200.0, 300.0, 300.0, 4.0],
)
_SAMPLED: tuple[tuple[str, str, Setting, Fraction], ...] = (
    ("k-map", "_sampled:KMap", _K_MAP, "must"),
    ("journalist-risk", "_sampled:JournalistRisk", _JOURNALIST_RISK, "must"),
    ("no-attack", "_sampled:NoAttack", _NO_ATTACK, "may"),
    ("profitability", "_profitability:Profitability", _PROFITABILITY, "may"),
    ("average-risk", "_whole_table:AverageRisk", _AVERAGE_RISK, "never"),
    ("sample-uniqueness", "_whole_table:SampleUniqueness", _SAMPLE_UNIQUENESS, "never"),
    ("marketer-risk", "_whole_table:MarketerRisk", _MARKETER_RISK, "must"),
    ("population-uniqueness", "_whole_table:PopulationUniqueness", _POPULATION_UNIQUENESS, "must"),
)
# Of these, by the setting: the model where people are counted in a population, not estimated.
_COUNTED: tuple[tuple[str, str, Setting], ...] = (
    ("k-map-population", "_population_k_map:PopulationKMap", _K_MAP),
    ("no-attack-population", "_population_k_map:PopulationNoAttack", _NO_ATTACK),
    ("profitability-population", "_profitability:PopulationProfitability", _PROFITABILITY),
)
COUNTED: Mapping[str, str] = {figure.name: name for name, _, figure in _COUNTED}

# By name, the settings that ask for models of whole tables; a policy has a field for each.
TABLE_SETTINGS: Mapping[str, Setting] = {
    asking.name: asking
    for asking in (
        _K,
        _DELTA_PRESENCE,
        _TRAJECTORY_K,
        *(figure for _, _, figure, _ in _SAMPLED),
        _POPULATION_UNIQUENESS_KIND,
    )
}


def _column(
    name: str,
    home: str,
    figure: Setting,
    kind: str | None = None,
    *,
    needs: tuple[Setting, ...] = (),
    takes_k: bool = False,
    keyword: str = "",
) -> ModelEntry:
    home = f"mahrem.models.{home}"
    entry = ModelEntry(name=name, home=home, figure=figure, kind=kind, needs=needs)
    return replace(entry, takes_k=takes_k, keyword=keyword)


def _table(name: str, home: str, figure: Setting, fraction: Fraction = "", keyword: str = "") -> ModelEntry:
    return replace(_column(name, home, figure, keyword=keyword), of_column=False, fraction=fraction)


MODELS: Entries[ModelEntry] = Entries(
    "mahrem.models",
    ModelEntry,
    (
        _table("k-anonymity", "_k_anonymity:KAnonymity", _K),
        _column("distinct-l-diversity", "_l_diversity:DistinctDiversity", _L, "distinct"),
        _column("entropy-l-diversity", "_l_diversity:EntropyDiversity", _L, "entropy"),
        _column("grassberger-l-diversity", "_l_diversity:GrassbergerDiversity", _L, "grassberger"),
        _column("recursive-(c,l)-diversity", "_l_diversity:RecursiveDiversity", _L, "recursive", needs=(_C,)),
        _column("t-closeness-equal", "_t_closeness:EqualCloseness", _T, "equal"),
        _column("t-closeness-ordered", "_t_closeness:OrderedCloseness", _T, "ordered"),
        _column("t-closeness-hierarchical", "_t_closeness:HierarchicalCloseness", _T, "hierarchical"),
        _column("t-closeness-kl", "_t_closeness:KLCloseness", _T, "kl"),
        _column("(alpha,k)-anonymity", "_alpha_k:AlphaK", _ALPHA, takes_k=True),
        _column("beta-likeness-basic", "_beta_likeness:BasicLikeness", _BETA, "basic"),
        _column("beta-likeness-enhanced", "_beta_likeness:EnhancedLikeness", _BETA, "enhanced"),
        _column("delta-disclosure", "_delta_disclosure:DeltaDisclosure", _DELTA_DISCLOSURE, keyword="delta"),
        _table("delta-presence", "_delta_presence:DeltaPresence", _DELTA_PRESENCE),
        _table("delta-presence-shown", "_delta_presence:ShownPresence", _DELTA_PRESENCE),
        *(_table(name, f"populations.{home}", figure) for name, home, figure in _COUNTED),
        *(_table(name, f"populations.{home}", figure, share) for name, home, figure, share in _SAMPLED),
        _table("trajectory-k-anonymity", "_k_anonymity:TrajectoryAnonymity", _TRAJECTORY_K, keyword="k"),
    ),
)


def model_families() -> dict[str, list[ModelEntry]]:
    """Give the models of sensitive columns by the figure that asks for them."""
    families: dict[str, list[ModelEntry]] = {}
    for entry in MODELS.values():
        if entry.of_column:
            families.setdefault(entry.figure.name, []).append(entry)
    return families


def model_settings() -> dict[str, Setting]:
    """Give the settings that ask for models of sensitive columns, those of other distributions too."""
    settings: dict[str, Setting] = {}
    for figure, entries in model_families().items():
        settings[figure] = entries[0].figure
        kinds = tuple(entry.kind for entry in entries if entry.kind is not None)
        if kinds:
            settings[f"{figure}_kind"] = replace(
                model_setting(f"{figure}_kind", text, "KIND", example=kinds[0]), choices=partial(tuple, kinds)
            )
        settings |= {known.name: known for entry in entries for known in entry.needs}
    return settings


# Written by scripts/keywords.py: these settings for type checkers.
class ModelKeywords(TypedDict, total=False):
    """Figures of privacy models of sensitive columns."""

    l: float | None  # noqa: E741 - the literature's name
    l_kind: Literal["distinct", "entropy", "grassberger", "recursive"] | None
    c: float | None
    t: float | None
    t_kind: Literal["equal", "ordered", "hierarchical", "kl"] | None
    alpha: float | None
    beta: float | None
    beta_kind: Literal["basic", "enhanced"] | None
    delta_disclosure: float | None
