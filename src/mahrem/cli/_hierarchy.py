"""``mahrem hierarchy``: make, show and check hierarchies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mahrem.cli._options import (
    JSON,
    QUIET,
    READING_ROWS,
    SOURCE,
    Row,
    VerbSettings,
    option,
    shared_rows,
    speaks,
    speaks_reading,
)
from mahrem.cli._print import print_json, print_table
from mahrem.errors import InvalidParameter
from mahrem.typed import listed, number, sizes

if TYPE_CHECKING:
    from rich.tree import Tree

    from mahrem.table.hierarchies import HierarchyFacts

hierarchy = typer.Typer(
    name="hierarchy",
    help="Make, show and check hierarchies: how values become ever coarser groups.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

FILE = Annotated[Path, typer.Argument(metavar="FILE", help="A hierarchy in ARX's CSV form.")]
_TEXT = str | None
_WAYS: Sequence[Row] = (
    ("intervals", _TEXT, "--intervals", "5,10,20", "Widths; each must divide the next."),
    ("cuts", _TEXT, "--cuts", "18,30,65/30", "Points to cut numbers at; / between levels."),
    ("groups", _TEXT, "--groups", "2,4", "Sizes of groups of neighbours; needs --order."),
    ("dates", _TEXT, "--dates", "month,year", "day, week, month, quarter, year, decade."),
    ("mask", _TEXT, "--mask", "SIDE", "Stars for characters, one by one, from right or left."),
    ("prefix", _TEXT, "--prefix", "3,2,1", "How many characters of a code to keep."),
    ("auto", _TEXT, "--auto", "TARGET", "Group values that foretell this column alike."),
)
_LEARNING: Sequence[Row] = (
    *shared_rows("rho", "smoothing", "minimum_count", "learn_from"),
    ("sample", int | None, "--sample", "N", "Learn from so many rows drawn at random."),
    ("seed", int | None, "--seed", "N", "Seed of the draw."),
)


def _speaks_ways(verb: Callable[..., None]) -> Callable[..., None]:
    panels = {
        "How (say one; without one the kind of the column decides)": _WAYS,
        "Learning (with --auto)": _LEARNING,
        "Table": READING_ROWS,
    }
    return speaks(verb, panels)


@hierarchy.command("make")
@_speaks_ways
def make(
    source: SOURCE,
    column: Annotated[str, option("--column -c", "NAME", "The column.")],
    output: Annotated[
        Path | None, option("-o --output", "FILE", "Where to write it; without it, it is printed.")
    ] = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    json: JSON = False,
    quiet: QUIET = False,
    policy: str | None = None,
    settings: VerbSettings,
) -> None:
    """Make a hierarchy over the values of a column, in ARX's CSV form.

    mahrem hierarchy make patients.csv --column age --intervals 5,10,20,40 -o age.csv

    mahrem hierarchy make patients.csv --column zip --mask right -o zip.csv

    mahrem hierarchy make adult.csv --column education --auto income --rho 5,10,25 -o education.csv

    Use it: mahrem anonymize patients.csv --hierarchy age=age.csv … The file lists the column's values: it is
    as private as they are.
    """
    from mahrem.pipeline import check_hierarchy, make_hierarchy

    if output is not None and output.exists() and not force:
        raise InvalidParameter(f"output={str(output)!r} is there already; say --force to write over it")
    ways = {name: read(name, settings.pop(name)) for name, read in _READERS.items() if name in settings}
    learnt = _learnt(**{name: settings.pop(name, None) for name in ("rho", "smoothing", "minimum_count")})
    tree = make_hierarchy(source, column, learnt=learnt, policy=policy, **ways, **settings)
    if output is not None:
        tree.write(output)
    facts = check_hierarchy(tree)
    if json:
        rows = {"rows": tree.rows()} if output is None else {"file": str(output)}
        print_json({"column": column, **_facts(facts), **rows})
    elif output is None:
        typer.echo(tree.text(), nl=False)
    elif not quiet:
        typer.echo(f"{output}: {_sizes(facts)}\nuse it with: --hierarchy {column}={output}")


@hierarchy.command("show")
def show(
    file: FILE,
    depth: Annotated[
        int | None, typer.Option("--depth", min=1, help="How many levels below the root.")
    ] = None,
    width: Annotated[int, typer.Option("--width", min=1, help="How many children of a node.")] = 10,
    *,
    json: JSON = False,
) -> None:
    """Print a hierarchy as a tree; behind a label, how many values are under it.

    mahrem hierarchy show age.csv --depth 2 --width 5
    """
    from mahrem.table import read_hierarchy
    from mahrem.table.hierarchies import hierarchy_facts, nested_hierarchy

    tree = read_hierarchy(file)
    if json:
        print_json({**_facts(hierarchy_facts(tree)), "tree": nested_hierarchy(tree, depth=depth)})
        return
    from rich.console import Console

    drawn = _draw(nested_hierarchy(tree, depth=depth, width=width))
    Console(highlight=False, soft_wrap=True).print(drawn, crop=False)


@hierarchy.command("check")
@speaks_reading
def check(
    file: FILE,
    data: Annotated[str | None, option("--data", "SOURCE", "The table the hierarchy is for.")] = None,
    column: Annotated[str | None, option("--column -c", "NAME", "The column the hierarchy is for.")] = None,
    *,
    json: JSON = False,
    quiet: QUIET = False,
    policy: str | None = None,
    settings: VerbSettings,
) -> None:
    """Check a hierarchy: is it a tree, are its labels true, does it know every value of a column?

    mahrem hierarchy check age.csv --data patients.csv --column age

    Only counts are printed. Exit 0: it fits; 1: values are unknown or a label is untrue; 2: no hierarchy.
    """
    from mahrem.pipeline import check_hierarchy

    facts = check_hierarchy(file, data, column, policy=policy, **settings)
    if json:
        print_json({"holds": facts.holds, **_facts(facts)})
    elif not quiet:
        typer.echo("fits" if facts.holds else "DOES NOT FIT")
        rows = [("levels", str(facts.levels)), ("leaves", f"{facts.leaves:,}")]
        rows += [("nodes per level", " ".join(map(str, facts.nodes)))]
        rows += [("values outside their label", f"{facts.misplaced:,}")]
        if facts.rows is not None:
            rows += [("rows", f"{facts.rows:,}"), ("rows without a value", f"{facts.missing:,}")]
            rows += [
                ("rows with an unknown value", f"{facts.unknown:,} ({facts.unknown_values:,} different)")
            ]
            rows += [("leaves no row has", f"{facts.unused:,}")]
        print_table(("figure", "value"), rows)
    raise typer.Exit(0 if facts.holds else 1)


def _facts(facts: HierarchyFacts) -> dict[str, object]:
    return {name: figure for name, figure in asdict(facts).items() if figure is not None}


def _sizes(facts: HierarchyFacts) -> str:
    return f"{facts.leaves:,} values, {facts.levels} levels ({' > '.join(f'{n:,}' for n in facts.nodes)})"


def _learnt(rho: str | None, smoothing: float | None, minimum_count: int | None) -> Any:
    from mahrem.table.hierarchies import LearntGroups

    settings: dict[str, Any] = {"smoothing": smoothing, "minimum_count": minimum_count}
    if rho is not None:
        settings["rho"] = tuple(number("rho", part) for part in rho.split(","))
    given = {name: value for name, value in settings.items() if value is not None}
    return LearntGroups(**given) if given else None


def _draw(node: dict[str, Any], onto: Tree | None = None) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    label = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in node["label"]
    )
    line = Text(label if "children" not in node and node["leaves"] == 1 else f"{label}  ({node['leaves']:,})")
    branch = Tree(line) if onto is None else onto.add(line)
    for child in node.get("children", ()):
        _draw(child, branch)
    if "more" in node:
        branch.add(Text(f"… {node['more']:,} more"))
    return branch


def _words(_: str, text: str) -> list[str]:
    return listed([text])


def _levels(name: str, text: str) -> list[list[str]]:
    return [_words(name, level) for level in text.split("/")]


_READERS: Mapping[str, Callable[[str, str], Any]] = {
    "intervals": _words,
    "cuts": _levels,
    "groups": sizes,
    "dates": _words,
    "prefix": sizes,
}
