"""Scripts of sdcMicro: calls are read as text, none is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mahrem.errors import InvalidInput
from mahrem.release._imported import ImportedPolicy

_CALL = re.compile(r"(?<![\w.])([A-Za-z][\w.]*)\s*\(")
_KNOWN = {
    "addNoise", "createSdcObj", "dRisk", "dUtility", "globalRecode", "groupAndRename", "indivRisk", "kAnon",
    "ldiversity", "localSuppression", "measure_risk", "microaggregation", "modRisk", "pram", "rankSwap",
    "recordSwap", "shuffle", "suda2", "topBotCoding",
}  # fmt: skip
_NOISE = {"additive": "additive", "correlated": "correlated", "correlated2": "correlated", "ROMM": "rotation"}


def read_sdc_script(text: str) -> ImportedPolicy:
    """Read what a script says about roles, k and what else is done.

    Raises:
        InvalidInput: If no ``createSdcObj`` with ``keyVars`` is in it.

    Example:
        >>> found = read_sdc_script("s <- kAnon(createSdcObj(d, keyVars=c('age', 'sex')), k=3)")
        >>> found.settings["quasi"], found.settings["k"]
        (['age', 'sex'], 3)
    """
    reader = _Script()
    for name, given in _calls(re.sub(r"#[^\n]*", "", text)):
        reader.take(name, given)
    if not reader.settings.get("quasi"):
        raise InvalidInput("the script has no createSdcObj with keyVars written out as names")
    return ImportedPolicy(
        tool="sdcMicro",
        settings={"rest": "drop", **reader.settings},
        commands=tuple(reader.commands),
        unread=tuple(reader.unread),
    )


class _Script:
    """What was understood so far."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        self.commands: list[str] = []
        self.unread: list[str] = []

    def take(self, name: str, given: dict[str, Any]) -> None:
        """Take one call."""
        handler = getattr(self, f"_{name.lower()}", None)
        if handler is None:
            self.unread.append(f"{name}(): say what it does by hand")
        else:
            handler(given)

    def _createsdcobj(self, given: dict[str, Any]) -> None:
        self.settings["quasi"] = _names(given.get("keyVars"))
        sensitive = _names(given.get("sensibleVar"))
        if sensitive:
            self.settings["sensitive"] = sensitive
        beside = [*_names(given.get("numVars")), *_names(given.get("pramVars"))]
        if beside:
            self.unread.append(f"numVars and pramVars ({', '.join(beside)}): name their roles")
        weight, house = _names(given.get("weightVar")), _names(given.get("hhId"))
        options = "".join(
            [f", weight={weight[0]}" if weight else "", f", household={house[0]}" if house else ""]
        )
        if options:
            self.commands.append(f"risk: quasi={','.join(self.settings['quasi'])}{options}")
        for name in ("strataVar", "ghostVars", "alpha", "excludeVars"):
            if name in given:
                self.unread.append(f"createSdcObj({name}=)")

    def _kanon(self, given: dict[str, Any]) -> None:
        if "combs" in given or isinstance(given.get("k"), list):
            self.unread.append("kAnon(combs=): say key sets to the verb suppress, A,B=K each")
            return
        self.settings |= {"k": int(given.get("k") or 2), "method": "local-suppression"}
        if "importance" in given:
            self.unread.append("importance: say weights, COL=X; the more, the later a column is hidden")

    _localsuppression = _kanon

    def _ldiversity(self, given: dict[str, Any]) -> None:
        names = _names(given.get("ldiv_index")) or _names(given.get("sensibleVar"))
        if names:
            self.settings.setdefault("sensitive", names)
        self.unread.append("ldiversity() measures; to promise it say l of the sensitive column")

    def _pram(self, given: dict[str, Any]) -> None:
        names = _names(given.get("variables")) or ["COLUMN"]
        keep = given.get("pd", 0.8)
        kept = f":keep={keep:g}" if isinstance(keep, float | int) else ""
        self.commands += [f"perturb: {name}=pram{kept}" for name in names]

    def _addnoise(self, given: dict[str, Any]) -> None:
        kind = _NOISE.get(str(given.get("method", "additive")))
        names = ",".join(_names(given.get("variables"))) or "COLUMNS"
        if kind is None:
            self.unread.append(f"addNoise(method={str(given.get('method'))[:20]!r})")
            return
        share = float(given.get("noise", 150)) / 100 if kind == "additive" else float(given.get("delta", 0.1))
        self.commands.append(f"perturb: {names}=noise:share={share:g},kind={kind}")

    def _rankswap(self, given: dict[str, Any]) -> None:
        names = ",".join(_names(given.get("variables"))) or "COLUMNS"
        far = given.get("P", 5)
        percent = f":percent={far:g}" if isinstance(far, float | int) else ""
        self.commands.append(f"perturb: {names}=rank-swap{percent}")

    def _shuffle(self, given: dict[str, Any]) -> None:
        self.commands.append("perturb: COLUMNS=shuffle")
        if given:
            self.unread.append("shuffle(form=): here numbers that stay are what columns hang on")

    def _microaggregation(self, given: dict[str, Any]) -> None:
        size = given.get("aggr", 3)
        self.commands.append(f"anonymize: method=mdav, k={int(size) if isinstance(size, float) else 3}")

    def _suda2(self, given: dict[str, Any]) -> None:
        share = given.get("DisFraction")
        fraction = f"fraction={share:g}" if isinstance(share, float) else ""
        self.commands.append(f"risk: {fraction or 'quasi=...'}")


def _calls(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give calls of sdcMicro's functions in their order, with what was written between their brackets."""
    for match in _CALL.finditer(text):
        if match[1] in _KNOWN:
            inside = _inside(text, match.end())
            yield (
                match[1],
                dict(_argument(part, place) for place, part in enumerate(_parts(inside)) if part.strip()),
            )


def _inside(text: str, begin: int) -> str:
    depth, quote = 1, ""
    for place in range(begin, len(text)):
        sign = text[place]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth == 0:
                return text[begin:place]
    return text[begin:]


def _parts(text: str) -> list[str]:
    """Split at commas that stand between no brackets and no quotes."""
    parts, depth, quote, last = list[str](), 0, "", 0
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[last:place])
            last = place + 1
    return [*parts, text[last:]]


def _argument(text: str, place: int) -> tuple[str, Any]:
    match = re.fullmatch(r"\s*([A-Za-z.][\w.]*)\s*=(?!=)(.*)", text, re.DOTALL)
    return (match[1], _value(match[2])) if match else (str(place), _value(text))


def _value(text: str) -> Any:
    stripped = text.strip()
    if match := re.fullmatch(r"c\s*\((.*)\)", stripped, re.DOTALL):
        return [_value(part) for part in _parts(match[1])]
    if match := re.fullmatch(r"\"([^\"]*)\"|'([^']*)'", stripped):
        return match[1] if match[1] is not None else match[2]
    try:
        return float(stripped.removesuffix("L"))
    except ValueError:
        return None


def _names(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [name for name in listed if isinstance(name, str) and name]
