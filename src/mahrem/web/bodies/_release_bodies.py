"""What may be said about a release on the page, made from its settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, create_model

from mahrem.models import model_settings
from mahrem.settings import Setting
from mahrem.web.bodies._setting_bodies import Name, Strict, body_field, fits, setting_body, type_of
from mahrem.web.bodies._steps import USUAL_K, settings_of_step

RoleName = Literal["quasi", "sensitive", "identifier", "insensitive", "drop"]
ROLES: tuple[RoleName, ...] = ("quasi", "sensitive", "identifier", "insensitive", "drop")
DECLARED = frozenset({"population", "learn_from"})  # tables: files below folders named when the server starts


class FileBelow(Strict):
    """A file below a declared folder."""

    folder: Annotated[int, Field(ge=0, le=1000)]
    path: Annotated[str, StringConstraints(min_length=1, max_length=1000)]


@cache
def settings_of_column() -> Mapping[str, Setting]:
    """Give what may be said of one column, besides its role and its hierarchy (a page of its own)."""
    own = {name: known for name, known in settings_of_step("columns").items() if known.reader.of_columns}
    return {
        name: known
        for name, known in own.items()
        if known.repeats and name not in {*ROLES, "roles", "hierarchy"} and not known.hidden
    }


def _column_field(known: Setting) -> tuple[Any, Any]:
    """Of one column: whether it is named, or the value it has."""
    inner = known.reader.inner
    if inner is None or not known.on_page:
        return bool, False
    judge = AfterValidator(lambda value: fits(known, {"column": value})["column"])
    kind: Any = Annotated[type_of(inner, known), judge]
    return kind | None, None


if TYPE_CHECKING:
    # Their fields are made below; here stand only those that other modules read by name.
    class ReleasePromises(Strict):
        """What is promised about the published table, and how it is made."""

        k: int | None = USUAL_K
        method: str = ""
        strategy: str = ""
        language: str = ""

    class ReadingChoice(Strict):
        """How a file is read; what is not said is found out."""

        region: str | None = None

    class ColumnChoice(Strict):
        """What a person decided about one column."""

        role: RoleName
        kind: str | None = None
        order: list[str] | None = None
        promises: dict[str, float | str] = Field(default_factory=dict)
else:
    ReleasePromises = setting_body(
        "ReleasePromises",
        "What is promised about the published table, and how it is made.",
        settings_of_step("promises"),
        k=(body_field(settings_of_step("promises")["k"])[0], USUAL_K),
        **dict.fromkeys(DECLARED, (FileBelow | None, None)),
    )
    ReadingChoice = setting_body(
        "ReadingChoice", "How a file is read; what is not said is found out.", settings_of_step("reading")
    )
    ColumnChoice = create_model(
        "ColumnChoice",
        __base__=Strict,
        __doc__="What a person decided about one column.",
        role=(RoleName, ...),
        promises=(
            dict[str, float | str],
            Field(
                default_factory=dict,
                description=f"ReleasePromises of a sensitive column alone: {', '.join(model_settings())}",
            ),
        ),
        **{name: _column_field(known) for name, known in settings_of_column().items()},
    )


class Columns(Strict):
    """Roles of all columns that are not to be dropped, and whose row it is."""

    columns: dict[Name, ColumnChoice] = Field(max_length=5000)
    subject: Name | None = None
