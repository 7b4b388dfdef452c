"""What a network is, for checkpoints: its code with all it refers to, and the shapes of its weights.

A checkpoint goes on with noise that was drawn. Another network on the same noise would be a second model for
one payment, so a name is not enough.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

_PLAIN = (int, float, complex, str, bytes, tuple, frozenset, list, dict, set, type(None))


def network_digest(make: object, module: Any) -> str:
    """Give a fingerprint of a network.

    Args:
        make: What makes it: a name, a function or a class.
        module: The network that was made.

    Guarantees:
        - Another body of any function or method it is made of, another constant they refer to, another layer
          or another shape of weights gives another fingerprint.
    """
    digest = hashlib.sha256(make.encode() if isinstance(make, str) else b"")
    seen: set[int] = set()
    for part in (make, *module.modules()):
        digest.update(type(part).__qualname__.encode())
        digest.update(str(getattr(part, "extra_repr", str)()).encode())
        for piece in _pieces(part if callable(part) and not _is_layer(part) else type(part), seen):
            digest.update(piece)
    for name, weights in module.state_dict().items():
        digest.update(f"{name} {tuple(weights.shape)} {weights.dtype}".encode())
    return digest.hexdigest()


def _is_layer(part: object) -> bool:
    return hasattr(part, "state_dict")


def _pieces(part: object, seen: set[int]) -> Iterator[bytes]:
    """Give the code of a function or of a class's methods, and of all of ours that it calls."""
    if id(part) in seen or isinstance(part, ModuleType) or _is_installed(part):
        return
    seen.add(id(part))
    if isinstance(part, type):
        for base in part.__mro__:
            if not _is_installed(base):
                for name, method in sorted(vars(base).items(), key=lambda item: item[0]):
                    yield name.encode()
                    yield from _pieces(getattr(method, "__func__", method), seen)
    elif isinstance(part, FunctionType):
        yield from _code(part.__code__)
        cells = [cell.cell_contents for cell in part.__closure__ or ()]
        reached = [part.__globals__[name] for name in _names(part.__code__) if name in part.__globals__]
        for value in [*cells, *reached, *(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values()]:
            yield from _pieces(value, seen)
    elif isinstance(part, _PLAIN):
        yield repr(part).encode()


def _code(code: CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield " ".join(code.co_names).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(constant).encode()


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_installed(part: object) -> bool:
    """Say whether something came with Python or torch: their versions are not what a checkpoint guards."""
    home = (getattr(part, "__module__", None) or "").partition(".")[0]
    return home in {"torch", "builtins", "typing", "collections", "numpy"}
