"""``mahrem attack`` with the folder of a model or of a federation, or with made-up rows and a hold-out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mahrem.errors import InvalidInput, InvalidParameter

if TYPE_CHECKING:
    from mahrem.attacks import RedTeam

_READING = ("delimiter", "encoding", "decimal", "null", "table", "query", "header", "names", "skip_rows")
_SHADOWS = "shadows: this belongs to a model folder (mahrem train -o DIR) or a run folder"
_REFERENCE = "reference: this belongs to made-up rows, which --holdout says they are"
Learnt: TypeAlias = Literal["run", "model", "made-up rows"]


def learnt_kind(folder: str, holdout: str | None) -> Learnt | None:
    """Say what was learnt from people's rows here; None for a release of the rows themselves."""
    from mahrem.pipeline import is_model

    if is_model(folder):
        return "model"
    if (Path(folder) / "state.json").is_file():  # only then is it worth loading that room
        from mahrem.federated import is_run

        if not is_run(folder):
            raise InvalidInput(
                f"release={Path(folder).name!r} is a run folder without a common model, so there is nothing "
                f"to attack; a run that was stopped before its first round leaves none, nor do shapes whose "
                f"parties keep a part each"
            )
        return "run"
    return None if holdout is None else "made-up rows"


def refuse_learnt_only(settings: Mapping[str, object]) -> None:
    """Refuse, for a release of real rows, what only learnt things can be attacked with."""
    if settings.get("shadows"):
        raise InvalidParameter(_SHADOWS)
    if settings.get("reference") is not None:
        raise InvalidParameter(_REFERENCE)


def attack_learnt(kind: Learnt, folder: str, settings: Mapping[str, Any], progress: Any) -> RedTeam:
    """Attack what was learnt from rows; what only a release of real rows needs is refused."""
    from mahrem.pipeline import attack_model, attack_synthetic
    from mahrem.table import Reading

    given = {name: value for name, value in settings.items() if value is not None}
    original, holdout, reference = (given.pop(name, None) for name in ("original", "holdout", "reference"))
    shadows = given.pop("shadows", 0)
    given.pop("trials", None)
    if shadows and kind == "made-up rows":
        raise InvalidParameter(_SHADOWS)
    if reference is not None and kind != "made-up rows":
        raise InvalidParameter(_REFERENCE)
    strange = next((name for name in given if name not in (*_READING, "seed")), None)
    if strange is not None:
        raise InvalidParameter(f"{strange}: this setting is for releases of real rows, without --holdout")
    if kind != "run" and (original is None or holdout is None):
        raise InvalidParameter(
            "models and made-up rows are attacked with --original (what they were made from) and --holdout "
            "(rows they never saw)"
        )
    known: dict[str, Any] = {
        "members": original,
        "holdout": holdout,
        "reading": Reading(**{name: given[name] for name in _READING if name in given}),
        "seed": given.get("seed", 0),
        "progress": progress,
    }
    if kind == "run":
        from mahrem.federated import attack_run

        return attack_run(folder, shadows=shadows, **known)
    if kind == "model":
        return attack_model(folder, shadows=shadows, **known)
    return attack_synthetic(folder, reference=reference, **known)
