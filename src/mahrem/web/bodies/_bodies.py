"""What requests and answers of the API look like, beyond projects and jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from mahrem.dp import LedgerSettings
from mahrem.dp.queries import QuerySettings
from mahrem.pipeline.comparing import Sweep
from mahrem.settings import settings_of
from mahrem.web.bodies._release_bodies import FileBelow
from mahrem.web.bodies._setting_bodies import Name, Strict, Text, setting_body

Sql = Annotated[str, StringConstraints(max_length=10_000)]


class FolderFiles(BaseModel):
    """Files that may be opened by path."""

    number: int
    name: str
    files: list[str]
    more: bool


class NewProject(Strict):
    """A project by its name."""

    name: Text = "table"


class SourcePath(FileBelow):
    """A file below a declared folder, and what of it where it is a database."""

    table: Text | None = None
    query: Sql | None = None


class SourceDatabase(Strict):
    """A table of a declared database, or a question to it."""

    database: Text
    table: Text | None = None
    query: Sql | None = None


class TreeNode(Strict):
    """A node of a hierarchy; one without children is a value."""

    label: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    leaves: int | None = None
    more: int | None = None
    children: list[TreeNode] = Field(default_factory=list)


class HierarchyTree(Strict):
    """A hierarchy as a tree; the label of the outermost node does not count."""

    tree: TreeNode


class HierarchyWish(Strict):
    """How to make a hierarchy; without a way, the kind of the column decides."""

    intervals: list[Annotated[float, Field(gt=0)]] | None = Field(default=None, max_length=20)
    dates: list[Literal["day", "week", "month", "quarter", "year", "decade"]] | None = Field(
        default=None, max_length=6
    )
    mask: Literal["left", "right"] | None = None
    prefix: list[Annotated[int, Field(ge=0, le=100)]] | None = Field(default=None, max_length=20)
    groups: list[Annotated[int, Field(ge=1, le=10**6)]] | None = Field(default=None, max_length=20)


class Adopted(Strict):
    """A point of a comparison, to go on with."""

    method: Text
    k: Annotated[int, Field(ge=1, le=10**6)]
    strategy: Literal["strict", "relaxed"] | None = None


class KnownColumn(Strict):
    """What is public about a column without looking at the data."""

    lower: float | None = None
    upper: float | None = None
    missing: float | None = None
    categories: list[Text] | None = Field(default=None, max_length=1000)


if TYPE_CHECKING:
    # Their fields are made below; here stand only those that other modules read by name.
    class CompareWish(Strict):
        """Which methods and k to sweep; by default all that suit the size."""

        methods: list[str] | None = None

    class LedgerWish(Strict):
        """A privacy budget for the table; everything here must be known without looking at it."""

    class Question(Strict):
        """A question to be answered privately, and what it may cost."""

        question: str
else:
    _Epsilon = Annotated[float, Field(gt=0, le=1000)]
    CompareWish = setting_body(
        "CompareWish",
        "Which methods and k to sweep; by default all that suit the size.",
        settings_of(Sweep),
        budget=(Annotated[float, Field(ge=0, le=86400)] | None, 300.0),
    )
    LedgerWish = setting_body(
        "LedgerWish",
        "A privacy budget for the table; everything here must be known without looking at it.",
        settings_of(LedgerSettings),
        epsilon=(_Epsilon, ...),
        columns=(dict[Name, KnownColumn], Field(default_factory=dict, max_length=1000)),
    )
    Question = setting_body(
        "Question",
        "A question to be answered privately, and what it may cost.",
        settings_of(QuerySettings),
        question=(Annotated[str, StringConstraints(min_length=1, max_length=2000)], ...),
        epsilon=(_Epsilon, ...),
    )
