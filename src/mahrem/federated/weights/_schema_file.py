"""The shared schema as a file that people read, correct and agree on."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed
from mahrem.federated.weights._schema import SharedSchema
from mahrem.files import write_whole


def write_schema(schema: SharedSchema, path: Path) -> None:
    """Write a schema as TOML into a new file.

    Raises:
        InvalidParameter: If there is a file of that name.
        OutputFailed: If it cannot be written.
    """
    try:
        write_whole(path, tomli_w.dumps(schema.as_table()), private=False, new=True)
    except FileExistsError:
        raise InvalidParameter(f"output={path.name!r} exists; a schema is written to a new file") from None
    except OSError as error:
        raise OutputFailed(f"output={path.name!r} cannot be written: {error.strerror}") from None


def read_schema(path: Path) -> SharedSchema:
    """Read a schema file.

    Raises:
        InvalidInput: If it is none.
    """
    return SharedSchema.from_table(read_toml("schema", path))


def read_toml(what: str, path: Path) -> dict[str, Any]:
    """Read a file that everybody gets.

    Raises:
        InvalidInput: If it cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"{what}={path.name!r} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeError):
        raise InvalidInput(f"{what}={path.name!r} is no TOML") from None
