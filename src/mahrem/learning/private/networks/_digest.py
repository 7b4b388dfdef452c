"""What a network is, for checkpoints: its code with all it refers to, and the shapes of its weights.

A checkpoint goes on with noise that was drawn. Another network on the same noise would be a second model for
one payment, so a name is not enough.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_PLAIN = (int, float, complex, str, bytes, type(None))
_SEVERAL = (tuple, list, set, frozenset)
_WEIGHTS = {"_parameters", "_buffers", "_modules"}  # of a layer: known by their shapes, and one by one
_ASIDE = {"__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__static_attributes__"}
_WRAPPED = ("__func__", "func", "fget", "__wrapped__")  # where methods, properties and caches keep a function


def network_digest(make: object, module: Any) -> str:
    """Give a fingerprint of a network.

    Args:
        make: What makes it: a name, a function, a class or an object that is called.
        module: The network that was made.

    Guarantees:
        - Another body of any function or method it is made of, another constant they refer to, another
          attribute of a layer, another layer or another shape of weights gives another fingerprint.
    """
    digest = hashlib.sha256(make.encode() if isinstance(make, str) else b"")
    seen: dict[int, object] = {}  # kept, so that no other object gets their ids
    for part in (make, *module.modules()):
        for piece in _pieces(part, seen):
            digest.update(piece + b"\0")
    for name, weights in module.state_dict().items():
        digest.update(f"{name} {tuple(weights.shape)} {weights.dtype}".encode())
    return digest.hexdigest()


def _pieces(part: Any, seen: dict[int, object]) -> Iterator[bytes]:
    """Give the code of a function or of a class's methods, what an object holds, and all that they reach."""
    if isinstance(part, _PLAIN):
        yield repr(part).encode()
        return
    yield getattr(part, "__qualname__", type(part).__qualname__).encode()
    if id(part) in seen or isinstance(part, ModuleType):
        return
    seen[id(part)] = part
    if isinstance(part, FunctionType):
        yield from () if _is_installed(part) else _function(part, seen)
    elif isinstance(part, type):
        for base in part.__mro__:
            yield from () if _is_installed(base) else _held(vars(base), seen)
    elif isinstance(part, Mapping):
        yield from _held(part, seen)
    elif isinstance(part, (*_SEVERAL, MethodType, partial)):
        for one in _members(part):
            yield from _pieces(one, seen)
    else:
        yield from _object(part, seen)


def _members(part: Any) -> Iterable[object]:
    """Give what is in a collection; of a bound function, itself and what it was bound to."""
    if isinstance(part, MethodType):
        return part.__func__, part.__self__
    if isinstance(part, partial):
        return part.func, part.args, part.keywords
    return sorted(part, key=repr) if isinstance(part, set | frozenset) else part


def _held(named: Mapping[Any, Any], seen: dict[int, object]) -> Iterator[bytes]:
    for name, value in sorted(named.items(), key=lambda item: str(item[0])):
        if str(name) not in _ASIDE:
            yield str(name).encode()
            yield from _pieces(value, seen)


def _function(part: FunctionType, seen: dict[int, object]) -> Iterator[bytes]:
    yield from _code(part.__code__, seen)
    names = set(_names(part.__code__))
    reached = {name: part.__globals__[name] for name in names if name in part.__globals__}
    for module in [value for value in reached.values() if isinstance(value, ModuleType)]:
        if not _is_installed(module):  # what is called in a module of ours by its name
            reached |= {f"{module.__name__}.{name}": getattr(module, name, None) for name in names}
    cells = [cell.cell_contents for cell in part.__closure__ or ()]
    for value in (cells, reached, part.__defaults__, part.__kwdefaults__):
        yield from _pieces(value, seen)


def _object(part: Any, seen: dict[int, object]) -> Iterator[bytes]:
    """Give what an object is and holds: a layer but for its weights, numbers as they are."""
    if hasattr(part, "dtype") and hasattr(part, "tolist"):
        yield repr((str(part.dtype), tuple(part.shape), part.tolist())).encode()
        return
    for name in _WRAPPED:
        if isinstance(inner := getattr(part, name, None), FunctionType):
            yield from _pieces(inner, seen)
    if hasattr(part, "state_dict"):
        yield str(part.extra_repr()).encode()
    elif _is_installed(type(part)):
        return
    yield from _pieces(type(part), seen)
    yield from _held({name: held for name, held in _attributes(part) if name not in _WEIGHTS}, seen)


def _attributes(part: object) -> Iterator[tuple[str, object]]:
    yield from getattr(part, "__dict__", {}).items()
    for base in type(part).__mro__:
        for name in base.__dict__.get("__slots__", ()):
            yield name, getattr(part, name, None)


def _code(code: CodeType, seen: dict[int, object]) -> Iterator[bytes]:
    yield code.co_code
    yield " ".join(code.co_names).encode()
    for constant in code.co_consts:
        yield from _code(constant, seen) if isinstance(constant, CodeType) else _pieces(constant, seen)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_installed(part: object) -> bool:
    """Say whether something came with Python or torch: their versions are not what a checkpoint guards."""
    named = part.__name__ if isinstance(part, ModuleType) else getattr(part, "__module__", None)
    home = (named or "").partition(".")[0]
    return home in {"torch", "builtins", "typing", "collections", "numpy", "functools", "abc", "enum"}
