"""Options that the verbs of ``mahrem federate`` share, made from specs of settings, and what they become."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mahrem.cli._options import SOURCE_ROWS, Row, speaks
from mahrem.errors import InvalidParameter
from mahrem.federated.networks import OwnNetwork
from mahrem.federated.rules import RulesPlan
from mahrem.federated.sums import SUMS
from mahrem.federated.weights import MODELS, LearningPlan, Protections
from mahrem.settings import Setting, read_settings, settings_of
from mahrem.words import LANGUAGES, load_catalogue

DIR = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that init made.")]
FEDERATION = Annotated[Path, typer.Argument(metavar="FEDERATION", help="The federation file.")]
MANY = list[str] | None
LANGUAGE = Annotated[
    str, typer.Option("--language", metavar="NAME", help=f"Of what is told: {', '.join(LANGUAGES)}.")
]
RULES = "du-cba"
_BOTH: Sequence[Row] = (  # they choose between plans, and mean the same in both
    ("model", str | None, "--model", "NAME", f"{', '.join(MODELS)}; {RULES} (rules) by default."),
    ("sum", str | None, "--sum", "KIND", f"How numbers are added: {', '.join(SUMS)} (extra he)."),
    (
        "least_clients",
        int | None,
        "--least-clients",
        "N",
        "Fewer than this and there is no model; all of hidden sums, else 2.",
    ),
)
_IN_BOTH = [name for name, *_ in _BOTH]


def rows_of_spec(
    spec: type, *, only: Collection[str] | None = None, leave_out: Collection[str] = ()
) -> list[Row]:
    """Give the options of a spec; what one means is the first sentence about it in the spec's docstring."""
    means = _described(spec)
    return [
        (known.name, _typed_as(known), known.spelling, known.metavar, _help(means[known.name], known))
        for known in settings_of(spec).values()
        if known.name not in leave_out and (only is None or known.name in only)
    ]


def _described(spec: type) -> dict[str, str]:
    """Read the section ``Args`` of a docstring."""
    text = inspect.getdoc(spec) or ""
    section = re.search(r"^Args:\n((?: .*\n?|\n)*)", text, re.MULTILINE)
    entries = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section.group(1) if section else "", re.MULTILINE)
    return {name: " ".join(words.split()) for name, words in entries}


def _help(means: str, known: Setting) -> str:
    sentence = re.sub(r"`+(?::\w+:)?", "", means.partition(". ")[0]).removesuffix(".")
    if known.choices is not None:
        sentence += f" ({', '.join(known.choices())})"
    unsaid = known.default in (None, False, 0) or known.repeats
    return f"{sentence}." if unsaid else f"{sentence}; default {_written(known.default)}."


def _written(default: object) -> str:
    return ",".join(map(str, default)) if isinstance(default, tuple) else f"{default}"


def _typed_as(known: Setting) -> object:
    if known.repeats:
        return MANY
    if known.metavar is None:
        return bool | None
    kinds: Mapping[str, object] = {"int": int | None, "float": float | None}
    return kinds.get(known.takes.removesuffix(" | None"), str | None)


def plan_panels(*, leave_out: Collection[str] = ()) -> dict[str, Sequence[Row]]:
    """Give the options that say what is learnt."""
    return {
        "What is learnt": _BOTH,
        "Rules": rows_of_spec(RulesPlan, leave_out=_IN_BOTH),
        "Weights and trees": rows_of_spec(LearningPlan, leave_out=[*_IN_BOTH, *leave_out]),
        "Protections": rows_of_spec(Protections),
    }


def speaks_rows(panels: Mapping[str, Sequence[Row]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options by panels, and those that say how a table is read."""
    return lambda verb: speaks(verb, {**panels, "Table": SOURCE_ROWS})


def learns(given: Mapping[str, object]) -> bool:
    """Say whether weights or trees are to be learnt, and not rules."""
    return bool(given.get("model", RULES) != RULES)


def plan_from(
    given: Mapping[str, object], usual_sum: str, network: Path | None = None
) -> RulesPlan | LearningPlan:
    """Make the plan that was said, of rules or of learning; what belongs to the other kind is refused.

    Args:
        given: What was said, by name.
        usual_sum: How numbers are added where nothing is said; one-shot rules are not added up.
        network: The file that makes an ``own`` network.
    """
    model = given.get("model", RULES)
    rules, learning = settings_of(RulesPlan), {**settings_of(LearningPlan), **settings_of(Protections)}
    mine, other = (learning, rules) if learns(given) else (rules, learning)
    for name in given:
        if name not in mine and name in other and name not in _IN_BOTH:
            raise InvalidParameter(f"{name}: {other[name].spelling} does not go with --model {model}")
    if learns(given):
        switches = settings_of(Protections)
        protections = {name: value for name, value in given.items() if name in switches}
        plan = {name: value for name, value in given.items() if name not in switches}
        own = None if network is None else OwnNetwork.read(network)
        code = {} if own is None else {"code": own.digest}
        learnt = LearningPlan.from_dict({"sum": usual_sum, **plan, **code, "protections": protections})
        return replace(learnt, own=own)
    if network is not None:
        raise InvalidParameter("network: it goes with --model own")
    if given.get("how") == "one-shot" and given.get("sum", "plain") != "plain":
        raise InvalidParameter(
            f"sum={given['sum']!r}: one-shot rules are not added up, the server sees those of every client; "
            "leave out --sum, or --how one-shot"
        )
    usual = {"sum": "plain" if given.get("how") == "one-shot" else usual_sum}
    return RulesPlan.from_dict({**usual, **{name: value for name, value in given.items() if name != "model"}})


def take_settings(
    spec: type, given: dict[str, Any], *, only: Collection[str] | None = None
) -> dict[str, Any]:
    """Take the settings of a spec out of what was said, read."""
    known = settings_of(spec)
    names = [name for name in known if name in given and (only is None or name in only)]
    return read_settings(known, {name: given.pop(name) for name in names})


def take_reading(given: dict[str, Any]) -> Any:
    """Take out of the settings how a table is read."""
    from mahrem.table import Reading

    return Reading(**{known.name: given.pop(known.name) for known in fields(Reading) if known.name in given})


def teller(*, quiet: bool, language: str = "en") -> Callable[[str], None]:
    """Give what prints progress in a language, or nothing."""
    catalogue = load_catalogue(language)

    def tell(line: str) -> None:
        if not quiet:
            print(catalogue.tell(line), file=sys.stderr, flush=True)  # noqa: T201 - progress goes there

    return tell
