"""Where kernels come from: built into the wheel, compiled just in time, or plain Python.

A kernel is a Python function that Numba understands. :func:`kernel` marks one that Python calls,
:func:`inner` one that only kernels call. In a wheel they have been translated ahead of time
(``native/build_kernels.py``), once for every processor and once for newer ones, and no compiler is needed.
A checkout without built kernels compiles them when they are first called, if Numba is there; else they run
as they are, slowly. Both say so once on standard error.

The variable ``MAHREM_KERNELS`` decides otherwise: ``v3`` or ``baseline`` (built for newer processors or for
all), ``jit``, or ``python``. What is asked for and not there is an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zlib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

from mahrem.errors import InvalidParameter, MissingExtra

__all__ = ["MARKED", "fingerprint", "inner", "inner_with", "kernel", "kernels_in_use", "lean"]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_HERE = Path(__file__).parent
_CHECKOUT = _HERE.parents[2]
_CHOICES = ("v3", "baseline", "jit", "python")
_BROKEN = (ImportError, OSError, ValueError, LookupError, TypeError, AttributeError)  # missing, damaged, odd

MARKED: list[tuple[str, FunctionType]] = []  # what a build builds: name and function


def kernel(function: Kernel) -> Kernel:
    """Mark a function that Python calls: by position, with what its annotations say, arrays in C order."""
    name = f"{function.__module__.removeprefix('mahrem.arrays.')}.{function.__name__}"
    way, library = _way()
    if way == "jit":
        MARKED.append((name, cast("FunctionType", function)))
        return _compiled(function, {})
    if library is None:
        return function
    built: Kernel | None = library.bind(name, function)
    if built is None:
        raise RuntimeError(f"{name} is not among the built kernels; build them again (make kernels)")
    return built


def inner(function: Kernel) -> Kernel:
    """Mark a function that only kernels call; where they are built it stays plain Python, for tests alone."""
    return inner_with()(function)


def lean(function: Kernel) -> Kernel:
    """Mark an :func:`inner` function that makes no array: references to those it is given are not counted."""
    return inner_with(_nrt=False)(function)


def inner_with(**options: Any) -> Callable[[Kernel], Kernel]:
    """Give :func:`inner` with options of Numba's: ``inline``, ``fastmath``, ``error_model``."""

    def mark(function: Kernel) -> Kernel:
        return _compiled(function, options) if _way()[0] == "jit" else function

    return mark


def kernels_in_use() -> str:
    """Say which kernels this process uses: ``v3``, ``baseline``, ``jit`` or ``python``."""
    return _way()[0]


def _compiled(function: Kernel, options: dict[str, Any]) -> Kernel:
    from numba import njit

    try:
        kernel: Kernel = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # no folder that may be written to
        kernel = njit(nogil=True, **options)(function)
    return kernel


@cache
def _way() -> tuple[str, Any]:
    """Decide where kernels come from; gives the name and, if they are built, their module."""
    asked = os.environ.get("MAHREM_KERNELS", "")
    if asked and asked not in _CHOICES:
        raise InvalidParameter(f"MAHREM_KERNELS={asked} must be one of {', '.join(_CHOICES)}")
    if asked in {"jit", "python"}:
        if asked == "jit" and find_spec("numba") is None:
            raise MissingExtra("MAHREM_KERNELS=jit needs Numba; install it with: pip install 'mahrem[jit]'")
        return asked, None
    try:
        library = _load("baseline", trusted=bool(asked))
    except _BROKEN as error:
        if asked:
            raise InvalidParameter(f"MAHREM_KERNELS={asked} cannot be had here: {error}") from error
        way = "jit" if find_spec("numba") is not None else "python"
        slow = "are compiled when they are first called, which takes a while"
        if way == "python":
            slow = "run as plain Python, slowly; with Numba (pip install 'mahrem[jit]') they are compiled"
        _say(f"{error}: kernels {slow}")
        return way, None
    if asked == "baseline" or not (asked or library.newer_processor()):
        return "baseline", library
    try:
        return "v3", _load("v3", trusted=bool(asked))
    except _BROKEN as error:
        if asked:
            raise InvalidParameter(f"MAHREM_KERNELS={asked} cannot be had here: {error}") from error
        _say(f"{error}: kernels for older processors are used")
        return "baseline", library


def _say(message: str) -> None:
    print(f"mahrem: {message}", file=sys.stderr)  # noqa: T201 - said once, where no log is set up yet


def _load(variant: str, *, trusted: bool) -> Any:
    """Load the built kernels, unless their file is missing, damaged or older than its sources.

    Who asks for them by name is ``trusted``: a file that was signed or stripped after the build is loaded.
    """
    try:
        manifest = json.loads((_HERE / "_built.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ImportError("no kernels are built for this machine") from None
    module = f"_built_{variant}"
    file = next((name for name in manifest["files"] if name.startswith(f"{module}.")), None)
    if file is None:
        raise ImportError(f"no kernels are built for processors of the kind {variant}")
    content = (_HERE / file).read_bytes()
    if not trusted and [len(content), zlib.crc32(content)] != manifest["files"][file]:
        raise ImportError(f"{file} is damaged (or was changed on purpose: then say MAHREM_KERNELS={variant})")
    checkout = (
        _HERE == _CHECKOUT / "src" / "mahrem" / "arrays" and (_CHECKOUT / "native" / "guard.c").is_file()
    )
    if checkout and manifest["sources"] != fingerprint(_CHECKOUT):
        raise ImportError("the built kernels are older than their sources (make kernels)")
    return import_module(f"mahrem.arrays.{module}")


def fingerprint(checkout: Path) -> str:
    """Give a hash of everything in a checkout that the kernels are built from."""
    package, native = checkout / "src" / "mahrem", checkout / "native"
    sources = [*sorted((package / "arrays").rglob("_[!_]*.py")), package / "types.py"]
    together = hashlib.sha256()
    for path in [*sources, native / "build_kernels.py", native / "guard.c"]:
        together.update(path.relative_to(checkout).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return together.hexdigest()
