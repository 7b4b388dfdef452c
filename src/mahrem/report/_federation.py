"""The page about a run of a federation, in any language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mahrem.report._html import load_template
from mahrem.report._reproduced import lines_svg
from mahrem.words import NOTHING, Catalogue, Note, load_catalogue

DRAWN = 60  # rounds in the picture


def federation_page(content: Mapping[str, Any], language: str = "en") -> str:
    """Draw what is known of a run as one page; nothing is loaded, nothing runs, all text is escaped.

    Args:
        content: Codes and figures, see :func:`mahrem.federated.runs.report_run`.
        language: One of :data:`LANGUAGES`.
    """
    words = load_catalogue(language)
    return load_template("federation").render(
        t=words,
        run=content,
        facts=list(_facts(content, words)),
        members=[_member(member, words) for member in content["members"]],
        picture=_picture(content["history"], words),
        protections=[_sentence("protection", line, words) for line in content["protections"]],
        server=[_sentence("server", line, words) for line in content["server"]],
        attacks=[_attack(attack, words) for attack in content["attacks"]],
    )


def _sentence(table: str, line: Mapping[str, Any], words: Catalogue) -> str:
    values = {name: value for name, value in line.items() if name != "code"}
    return words.say(f"federation.{table}.{line['code']}", **values)


def _facts(content: Mapping[str, Any], words: Catalogue) -> Iterator[tuple[str, str]]:
    model = content["model"]
    yield words.say("federation.word.state"), words.say(f"federation.state.{content['state']}")
    yield (
        words.say("federation.word.where"),
        words.say("federation.word.real" if content["real"] else "federation.word.simulated"),
    )
    yield words.say("federation.word.model"), str(model["kind"])
    if model["kind"] == "rules":
        exact = words.say("word.true" if model["exact"] else "word.false")
        yield words.say("federation.word.rules"), words.number(model["rules"])
        yield words.say("federation.word.exact"), exact
    else:
        yield words.say("federation.word.rounds"), words.number(model["rounds"])
    for name in ("accuracy", "precision", "recall", "f1"):
        if name in model["figures"]:
            yield words.say(f"federation.figure.{name}"), words.number(model["figures"][name], 4)
    if not model["figures"]:
        yield words.say("federation.figure.accuracy"), words.say("federation.word.unjudged")
    took = sum(member["took_part"] for member in content["members"])
    yield (
        words.say("federation.word.members"),
        f"{words.number(took)} / {words.number(len(content['members']))}",
    )
    both = [content["bytes"][way] for way in ("up", "down")]
    yield words.say("federation.word.bytes"), " / ".join(map(words.number, both))
    yield words.say("federation.word.seconds"), words.number(content["seconds"], 1)


def _member(member: Mapping[str, Any], words: Catalogue) -> tuple[str, ...]:
    def truth(value: object) -> str:
        return NOTHING if value is None else words.say("word.true" if value else "word.false")

    took = truth(member["took_part"]) + (f": {member['why']}" if member["why"] else "")
    checked = truth(member["passed"])
    if member["rows"] is not None:
        checked += ", " + words.say("federation.word.at_least", rows=member["rows"])
    return member["name"], took, checked, truth(member["anonymised"]), words.number(member["refused"])


def _picture(history: list[Mapping[str, Any]], words: Catalogue) -> str | None:
    judged = [line for line in history if "accuracy" in line]
    if len(judged) < 2:
        return None
    step = max(1, len(judged) // DRAWN)
    names = {name: words.say(f"federation.figure.{name}") for name in ("accuracy", "f1")}
    rows = [
        {
            "dataset": words.say("federation.word.judged"),
            "method": shown,
            "round": line["round"],
            "ours": line[name],
        }
        for line in judged[::-step][::-1]
        for name, shown in names.items()
    ]
    axes = (words.say("federation.word.rounds"), words.say("federation.word.share"))
    title = words.say("federation.word.learning")
    return lines_svg(rows, across="round", title=title, names=axes, best=names["accuracy"])


def _attack(attack: Mapping[str, Any], words: Catalogue) -> tuple[str, ...]:
    named = words["federation"]["attack"].get(attack["attack"], attack["attack"])
    if attack["rate"] is None:
        why = Note.read(attack["skipped_note"], attack["skipped"] or "")
        return named, words.say("red_team.skipped"), NOTHING, words.tell(why)
    verdict = words.say("red_team.alarming" if attack["alarming"] else "red_team.calm")
    return named, words.percent(attack["rate"]), words.percent(attack["baseline"]), verdict
