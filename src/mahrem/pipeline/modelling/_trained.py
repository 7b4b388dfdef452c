"""A trained private model: what it promises, cost and is good for; kept in a folder and read again."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem.attacks.on_models import AuditedBound
from mahrem.dp import Ledger
from mahrem.dp.accounting import Event
from mahrem.errors import InvalidInput, InvalidParameter, in_our_words
from mahrem.learning.private import BoostedTrees, PrivateNetwork, PrivateSearch, PublicInputs
from mahrem.learning.training import can_rebuild, model_settings, model_weights, rebuild_model
from mahrem.release.folders import check_hashes, staged_release
from mahrem.table import Reading

if TYPE_CHECKING:
    from altair.typing import ChartType

FORMAT = "mahrem-model-1"


@dataclass(kw_only=True)
class TrainedModel:
    """A private model and its papers.

    Attributes:
        model: Its name.
        how: Where the noise went.
        target: The column it foretells.
        estimator: The fitted estimator; takes numbers.
        inputs: How a table becomes those numbers, by public facts alone.
        ledger: What paid.
        event: What it reveals.
        fits: Whether the ledger covers it.
        chosen: The settings that a search has chosen; None where there was none.
        metrics: What was measured on rows kept away from training; ``private`` says whether noise was added.
        audit: What an audit shows epsilon to be at least, if one was asked for.
        folder: Where it was kept.
        seconds: How long it took.
    """

    model: str
    how: str
    target: str | None
    estimator: Any = field(repr=False)
    inputs: PublicInputs = field(repr=False)
    ledger: Ledger = field(repr=False)
    event: Event | None = None
    fits: bool = True
    chosen: dict[str, Any] | None = None
    metrics: dict[str, Any] | None = None
    audit: AuditedBound | None = None
    folder: Path | None = None
    seconds: float | None = None

    @property
    def fitted(self) -> bool:
        """Whether it was trained; a plan was not."""
        return hasattr(self.estimator, "cost_")

    @property
    def epsilon(self) -> float:
        """What the training cost, or would."""
        return float(self.estimator.cost_[0] if self.fitted else self._planned()[0])

    @property
    def delta(self) -> float:
        """The delta of the training."""
        return float(self.estimator.cost_[1] if self.fitted else self._planned()[1])

    @property
    def guarantee(self) -> str:
        """The promise in words."""
        if self.fitted:
            return str(self.estimator.guarantee_)
        plan = self._plan()
        return f"would be ({self.epsilon:.4g}, {self.delta:g})-DP" if plan is None else plan.guarantee()

    def predict(self, table: object, reading: Reading | None = None) -> Any:
        """Foretell the target of every row of a table; costs nothing."""
        return self.estimator.predict(self._numbers(table, reading))

    def predict_proba(self, table: object, reading: Reading | None = None) -> Any:
        """Give the probabilities of the declared classes; costs nothing."""
        return self.estimator.predict_proba(self._numbers(table, reading))

    def plot(self, *, language: str = "en") -> ChartType:
        """Draw what was measured on held-out rows and what an audit shows, as a chart of Altair.

        A figure that was measured without noise says under its title that it is not to be published.
        """
        from mahrem.charts import as_chart, draw_model

        return as_chart(draw_model(self.as_dict(), language))

    def as_dict(self) -> dict[str, Any]:
        """Give what may be told, as plain data."""
        plan = self._plan()
        return {
            "model": self.model,
            "how": self.how,
            "target": self.target,
            "features": list(self.inputs.features),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": str(self.ledger.relation),
            "unit": self.ledger.unit.as_dict(),
            "guarantee": self.guarantee,
            "plan": None if plan is None else plan.as_dict(),
            "spent": self.fitted,
            "fits": self.fits,
            "chosen": self.chosen,
            "metrics": self.metrics,
            "audit": self._audited(),
            "remaining": {"epsilon": self.ledger.remaining().epsilon},
            "folder": None if self.folder is None else str(self.folder),
            "seconds": self.seconds,
        }

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Keep model, plan and data sheet in a folder that appears whole or not at all."""
        if not self.fitted:
            raise InvalidParameter("this model is only planned; there is nothing to keep")
        target = Path(folder)
        self.folder = target
        with staged_release(target, force=force) as stage:
            with (stage / "model.npz").open("wb") as file:
                np.savez(file, **model_weights(self.estimator))
            _write(stage / "plan.json", self._settings())
            _write(stage / "sheet.json", {**self.ledger.data_sheet(), "audit": self._audited()})
            # How long it took and what was measured openly depend on the rows, without noise: they stay here.
            private = {"seconds", "folder"}
            if self.metrics is not None and not self.metrics["private"]:
                private.add("metrics")
            kept = {name: value for name, value in self.as_dict().items() if name not in private}
            _write(stage / "report.json", kept)
            (stage / "guarantee.txt").write_text(self.guarantee + "\n", encoding="utf-8")
        return target

    def _audited(self) -> dict[str, Any] | None:
        """Put the claim and what an audit shows of it side by side."""
        return None if self.audit is None else {"claimed": self.epsilon, **self.audit.as_dict()}

    def _planned(self) -> tuple[float, float]:
        promise = self._plan() or self.estimator
        return promise.epsilon, promise.delta

    def _plan(self) -> Any:
        model: Any = self.estimator
        if not isinstance(model, PrivateNetwork | BoostedTrees | PrivateSearch):
            return None
        estimator: Any = model  # what is fitted is never a search
        return estimator.plan_ if self.fitted else estimator.plan(self.ledger)

    def _numbers(self, table: object, reading: Reading | None) -> Any:
        if not self.fitted:
            raise InvalidParameter("this model is only planned; train it first")
        return self.inputs(table, reading)

    def _settings(self) -> dict[str, Any]:
        """Write down what is needed to use the model again; public facts only."""
        stored = model_settings(self.estimator)
        return {
            "format": FORMAT,
            "kind": stored["kind"],
            "model": self.model,
            "how": self.how,
            "target": self.target,
            "inputs": self.inputs.as_dict(),
            "classes": stored["classes"],
            "guarantee": self.guarantee,
            "cost": [self.epsilon, self.delta],
            **stored,
        }


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


@in_our_words
def load_model(folder: str | Path) -> LoadedModel:
    """Read a model folder; its hashes are checked, and nothing in it is run.

    Args:
        folder: What ``train(output=...)`` wrote.

    Raises:
        Tampered: If the folder does not hold what was written.
    """
    home = Path(folder)
    if not (home / "plan.json").is_file():
        raise InvalidInput(f"folder={home.name!r} holds no model")
    check_hashes(home)
    stored = json.loads((home / "plan.json").read_text(encoding="utf-8"))
    if stored.get("format") != FORMAT or not can_rebuild(stored):
        raise InvalidInput(f"folder={home.name!r} was written by another version")
    with np.load(home / "model.npz", allow_pickle=False) as kept:
        weights = {name: kept[name] for name in kept.files}
    return LoadedModel(
        target=stored["target"],
        inputs=PublicInputs.from_dict(stored["inputs"]),
        estimator=rebuild_model(stored, weights),
        guarantee=stored["guarantee"],
        cost=(stored["cost"][0], stored["cost"][1]),
        audit=_read_audit(home),
    )


def _read_audit(home: Path) -> AuditedBound | None:
    kept = json.loads((home / "report.json").read_text(encoding="utf-8"))["audit"]
    return None if kept is None else AuditedBound(**{key: kept[key] for key in kept if key != "claimed"})


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A private model read from its folder: it foretells, says what it promises and what an audit showed."""

    target: str | None
    inputs: PublicInputs = field(repr=False)
    estimator: Any = field(repr=False)
    guarantee: str
    cost: tuple[float, float]
    audit: AuditedBound | None = None

    def predict(self, table: object, reading: Reading | None = None) -> Any:
        """Foretell the target of every row of a table; costs nothing."""
        return self.estimator.predict(self.inputs(table, reading))

    def predict_proba(self, table: object, reading: Reading | None = None) -> Any:
        """Give the probabilities of the declared classes; costs nothing."""
        return self.estimator.predict_proba(self.inputs(table, reading))
