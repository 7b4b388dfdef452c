"""``mahrem synthesize``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mahrem.cli._options import (
    DELTA,
    EPSILON,
    JSON,
    QUIET,
    RELEASE_FOLDER,
    SOURCE,
    SOURCE_ROWS,
    VerbSettings,
    option,
    speaks,
    spec_panels,
)
from mahrem.cli._print import print_json, print_table, stages, while_read
from mahrem.learning.synthesis import SynthesisSettings

if TYPE_CHECKING:
    from mahrem.pipeline import SyntheticRelease


def _speaks_synthesis(verb: Callable[..., None]) -> Callable[..., None]:
    panels = spec_panels(SynthesisSettings, "synthesize")
    panels["Output"].append(("force", bool | None, "--force", None, "Replace an earlier release there."))
    return speaks(verb, {**panels, "Table": SOURCE_ROWS})


@_speaks_synthesis
def synthesize(
    source: SOURCE,
    ledger: Annotated[Path, option("--ledger", "FILE", "The ledger that pays and knows the schema.")],
    epsilon: EPSILON,
    output: RELEASE_FOLDER,
    delta: DELTA = 1e-6,
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Make a synthetic table with differential privacy: no row belongs to a person.

    The schema comes from the ledger (bounds, declared values); nothing is read off the data unpaid.

    mahrem synthesize adult.csv --ledger adult.ledger --epsilon 1 --target income -o release/
    """
    from mahrem.pipeline import synthesize as verb

    with stages(quiet=quiet) as progress:
        release = verb(
            source,
            ledger=ledger,
            epsilon=epsilon,
            delta=delta,
            output=output,
            progress=progress,
            **settings,
        )
    with while_read():
        if json:
            figures = {} if release.quality is None else {"quality": release.quality.as_dict()}
            print_json({**release.report, "seconds": round(release.seconds, 3), **figures})
        elif not quiet:
            _show(release, output, settings)


def _show(release: SyntheticRelease, output: Path, settings: Mapping[str, Any]) -> None:
    synthesis, sheet = release.report["synthesis"], release.report["privacy_ledger"]
    typer.echo("holds")
    rows = [
        ("rows", f"{release.report['rows']:,}"),
        ("columns", str(len(release.report["columns"]))),
        ("spent", f"epsilon={synthesis['epsilon']:g}, delta={synthesis['delta']:g}"),
        ("left in the ledger", f"epsilon={sheet['remaining']['epsilon']:.4g}"),
        ("seconds", f"{release.seconds:.1f}"),
    ]
    if release.quality is not None:
        figures = release.quality
        if "synthetic_mean" in figures.pairs:  # one column alone makes no pair
            off = f"{figures.pairs['synthetic_mean']:.4f}"
            rows.append(("pairs of columns are off by (not private)", off))
        rows += [
            (f"{name}: accuracy, trained on synthetic / real (not private)", _both(scores))
            for name, scores in figures.learning.items()
        ]
    print_table(("figure", "value"), rows)
    typer.echo(f"\n{synthesis['guarantee']}")
    if synthesis["left_out"]:
        typer.echo(f"note: left out, for nothing public is known of them: {', '.join(synthesis['left_out'])}")
    drawn = settings.get("html", True)
    typer.echo(f"\nrelease: {output}" + (f"\nreport:  {output / 'report.html'}" if drawn else ""))
    if "quality" in settings:
        page = Path(settings["quality"]) / "quality.html"
        typer.echo(f"quality: {page} (reads real rows: do not publish)")


def _both(scores: Mapping[str, float]) -> str:
    return " / ".join(
        f"{scores[key]:.4f}" if key in scores else "-" for key in ("synthetic_accuracy", "real_accuracy")
    )
