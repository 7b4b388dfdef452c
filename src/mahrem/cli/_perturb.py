"""``mahrem perturb``."""

from __future__ import annotations

from collections.abc import Callable

import typer

from mahrem.cli._options import FORCE, JSON, QUIET, RELEASE_FOLDER, SOURCE, VerbSettings, speaks, spec_panels
from mahrem.cli._print import print_json, print_table
from mahrem.cli._suppress import MASKING_ROWS


def _speaks_perturbation(verb: Callable[..., None]) -> Callable[..., None]:
    from mahrem.perturbation import PERTURBATIONS
    from mahrem.pipeline.masking import PerturbationSettings

    verb.__doc__ = str(verb.__doc__).format(methods=", ".join(PERTURBATIONS))
    return speaks(verb, {**spec_panels(PerturbationSettings, "perturb"), **MASKING_ROWS})


@_speaks_perturbation
def perturb(
    source: SOURCE,
    output: RELEASE_FOLDER,
    *,
    force: FORCE = False,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Change values by noise, swaps or chance. k is not promised: what is given away is measured.

    Methods: {methods}.

    mahrem perturb survey.csv --step income,tax=noise:share=0.2,kind=correlated --step sex=pram:keep=0.9
    --qi income,tax,sex --rest drop -o release/
    """
    from mahrem.pipeline import perturb as verb

    release = verb(source, output=output, force=force, **settings)
    if json:
        print_json(release.report)
    elif not quiet:
        measures = release.report["measures"]
        rows = [(name, f"{value}") for name, value in measures.items() if not isinstance(value, dict)]
        rows += [
            (f"changed: {name}", f"{value}") for name, value in measures.get("changed_share", {}).items()
        ]
        print_table(("figure", "value"), rows)
        for warning in release.report["warnings"]:
            typer.echo(f"\n{warning}")
