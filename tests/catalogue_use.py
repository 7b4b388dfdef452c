"""Where code and templates speak to people: which texts of the catalogues they name, what they fill in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, nodes

SOURCES = Path(str(files("mahrem")))
_CATALOGUES = {"words", "catalogue", "texts", "english"}
_ANY = "\N{ASTERISK}"
_METHODS = {"number", "percent", "say", "language", "names", "get", "format"}  # of a catalogue, of texts


@dataclass(frozen=True)
class Use:
    """A text that is named somewhere; ``*`` stands for what is only known when it runs."""

    place: str
    code: str
    filled: frozenset[str] | None = None  # None where it cannot be read off the code

    @property
    def known(self) -> bool:
        """True when the code is written out."""
        return _ANY not in self.code

    def matches(self, code: str) -> re.Match[str] | None:
        """Say whether it may mean a text, and what the ``*`` stood for."""
        return re.fullmatch("(.*)".join(map(re.escape, self.code.split(_ANY))), code)


def uses() -> list[Use]:
    """Find every use in Python and in templates."""
    python = [use for path in sorted(SOURCES.rglob("*.py")) for use in _in_python(path)]
    return python + [use for path in sorted(SOURCES.rglob("*.jinja")) for use in _in_template(path)]


def texts_of_code() -> set[str]:
    """Give every text that is written out in Python: a code may be chosen before it is said."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES.rglob("*.py"))
    return {node.value for tree in trees for node in ast.walk(tree) if _is_text(node)}  # type: ignore[attr-defined]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def words_of_code() -> set[str]:
    """Give every word that stands in a name or a text of Python or of a template."""
    texts = (
        path.read_text(encoding="utf-8") for kind in ("py", "jinja") for path in SOURCES.rglob(f"*.{kind}")
    )
    return {word for text in texts for word in re.findall(r"[a-z0-9]+", text.lower())}


def _in_python(path: Path) -> Iterator[Use]:
    place = str(path.relative_to(SOURCES))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == "Note" and node.args:
                values = node.args[1] if len(node.args) > 1 else ast.Dict([], [])
                yield from (Use(place, code, _keys(values)) for code in _codes(node.args[0]))
            elif called in {"say", "find"} and node.args and isinstance(node.func, ast.Attribute):
                filled = frozenset(word.arg for word in node.keywords if word.arg)
                whole = called == "say" and all(word.arg for word in node.keywords)
                yield from (Use(place, code, filled if whole else None) for code in _codes(node.args[0]))
            elif called == "Refused" and len(node.args) > 1:
                filled = frozenset(word.arg for word in node.keywords if word.arg)
                own = len(node.args) > 2
                codes = (f"page.error.{code}" for code in _codes(node.args[1], dots=False))
                yield from (Use(place, code, None if own else filled) for code in codes)
        elif isinstance(node, ast.Subscript) and (chain := _chain(node)):
            yield Use(place, ".".join(chain))


def _codes(node: ast.expr, *, dots: bool = True) -> Iterator[str]:
    """Give what a code may be: a text, a text with holes, or either of two."""
    if isinstance(node, ast.IfExp):
        yield from _codes(node.body, dots=dots)
        yield from _codes(node.orelse, dots=dots)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if "." in node.value or not dots:
            yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else _ANY for part in node.values)


def _keys(node: ast.expr) -> frozenset[str] | None:
    if not isinstance(node, ast.Dict) or not all(isinstance(key, ast.Constant) for key in node.keys):
        return None
    return frozenset(str(key.value) for key in node.keys if isinstance(key, ast.Constant))


def _chain(node: ast.expr) -> list[str]:
    """Read ``words["page"]["error"]`` as a path; whatever comes after the last text is open."""
    if not isinstance(node, ast.Subscript):
        return []
    key = node.slice.value if isinstance(node.slice, ast.Constant) else _ANY
    if not isinstance(key, str) or (key == _ANY and not isinstance(node.value, ast.Subscript)):
        return []  # a list, or a variable of another meaning
    inner: ast.expr = node.value
    if isinstance(inner, ast.Subscript):
        outer = _chain(inner)
        return [*outer[:-1], key, _ANY] if outer else []
    name = inner.id if isinstance(inner, ast.Name) else getattr(inner, "attr", "")
    loaded = isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "load_catalogue"
    return [key, _ANY] if name in _CATALOGUES or loaded else []


def _in_template(path: Path) -> Iterator[Use]:
    place = str(path.relative_to(SOURCES))
    tree = Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))
    filled = {}
    for call in tree.find_all(nodes.Call):
        names = frozenset(str(word.key) for word in call.kwargs)
        if isinstance(call.node, nodes.Getattr) and call.node.attr == "format":
            filled[id(call.node.node)] = names
        elif isinstance(call.node, nodes.Getattr) and call.node.attr == "say" and call.args:
            first = call.args[0]
            if isinstance(first, nodes.Const):
                yield Use(place, str(first.value), None if call.dyn_kwargs else names)
    inner = {id(node.node) for node in _lookups(tree) if _key(node) not in _METHODS}
    for node in _lookups(tree):
        named = _path(node)
        if named and id(node) not in inner and _key(node) not in _METHODS:
            yield Use(place, ".".join(named), filled.get(id(node)))


def _lookups(tree: nodes.Node) -> list[Any]:
    return [*tree.find_all(nodes.Getattr), *tree.find_all(nodes.Getitem)]


def _key(node: Any) -> Any:
    return node.attr if isinstance(node, nodes.Getattr) else getattr(node.arg, "value", _ANY)


def _path(node: Any) -> list[str]:
    if isinstance(node, nodes.Name):
        return {"t": [""], "w": ["", "page"]}.get(node.name, [])
    if isinstance(node, nodes.Getattr | nodes.Getitem):
        outer = _path(node.node)
        key = _key(node)
        if isinstance(key, int):  # one of several texts
            return outer
        return [*(part for part in outer if part), str(key)] if outer else []
    return []
