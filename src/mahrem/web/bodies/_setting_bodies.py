"""Bodies of the API for what may be said to a verb, made from its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, create_model

from mahrem.errors import MahremError
from mahrem.readers import Reader
from mahrem.settings import Setting, read_setting
from mahrem.web._orders import Json

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(max_length=200)]
MOST_LISTED = 50


class Strict(BaseModel):
    """A body in which a misspelt key is an error."""

    model_config = ConfigDict(extra="forbid")


def setting_body(name: str, about: str, settings: Mapping[str, Setting], **more: Any) -> Any:
    """Make a body of settings and further fields; ``more`` wins over what a setting says."""
    fields = {key: body_field(known) for key, known in settings.items()}
    return create_model(name, __base__=Strict, __doc__=about, **{**fields, **more})


def fits(known: Setting, value: Any) -> Any:
    """Judge a value as a policy does; it is kept as it came, for it is written as JSON."""
    try:
        read_setting(known, value)
    except MahremError:
        raise ValueError(must_be(known)) from None
    return value


def must_be(known: Setting) -> str:
    """Say what a setting takes; never what was said, for it may be a value of the data."""
    if known.choices is not None:
        return f"{known.name} must be one of {', '.join(known.choices())}"
    return f"{known.name} must read {known.metavar or 'true or false'}"


def type_of(reader: Reader, known: Setting) -> Any:
    """Give the type of a value in JSON; the reader judges what no type can say."""
    number = Field(ge=reader.least, le=reader.most)
    many = Field(max_length=MOST_LISTED)
    kinds: Json = {
        "int": Annotated[int, number],
        "float": Annotated[float, number],
        "bool": bool,
        "str": Annotated[str, StringConstraints(max_length=10_000)],
        "Hashable": Name,
        "Sequence[Hashable]": Annotated[list[Name], many],
        "str | Sequence[str]": Annotated[list[Text], many],
        "Sequence[str]": Annotated[list[Text], many],
        "Sequence[int]": Annotated[list[int], many],
    }
    listed: Json = {} if known.choices is None else {"enum": list(known.choices())}
    return Annotated[kinds.get(reader.takes.removesuffix(" | None"), Any), Field(json_schema_extra=listed)]


def body_field(known: Setting) -> tuple[Any, Any]:
    """Give the type and the default of a setting, as pydantic takes them."""
    reader = replace(known.reader, takes=known.takes.removesuffix(" | None"))
    kind: Any = Annotated[type_of(reader, known), AfterValidator(partial(fits, known))]
    if known.default == () and reader.takes.endswith("Sequence[str]"):
        return kind, Field(default_factory=list)
    plain = known.default if isinstance(known.default, str | int | float) else None
    return kind | None, None if plain is None else (str(plain) if isinstance(plain, str) else plain)
