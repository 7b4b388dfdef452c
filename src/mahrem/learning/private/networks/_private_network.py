"""What private networks share: settings first, then ``fit`` with a ledger, then outputs for free."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from mahrem.dp import Facts, Ledger, open_privately
from mahrem.errors import InvalidParameter
from mahrem.learning._estimator import Estimator
from mahrem.learning.private._paid_score import PaidScore
from mahrem.learning.private._secret_stream import SecretStream, new_stream
from mahrem.learning.private.inputs import (
    PublicInputs,
    declared_features,
    quiet_floats,
    read_rows,
    shaped_rows,
)
from mahrem.learning.private.networks._digest import network_digest
from mahrem.learning.private.networks._layers import network_maker, network_outputs
from mahrem.learning.private.networks._warm_start import WarmStart
from mahrem.learning.private.steps import (
    Augmentation,
    Checkpoint,
    Compute,
    Descent,
    PrivateSteps,
    StepExamples,
    TrainingPlan,
    checkpoint_stream,
    data_digest,
    declared_rows,
    pay_or_resume,
    torch_of,
)
from mahrem.table import Reading
from mahrem.types import Floats, Integers

Progress = Callable[[int, int, float], None]


@dataclass(kw_only=True)
class PrivateNetwork(PaidScore, Estimator):
    """What all private networks share; use one of its kinds.

    Args:
        network: A name of :data:`~mahrem.learning.private.NETWORKS`, or a function of the input
            shape and the number of outputs that makes a module.
        options: Settings of the network, such as ``{"hidden": (64, 32)}``.
        epsilon: What the training may cost; or ``noise_multiplier``.
        delta: The same; by default the ledger's.
        noise_multiplier: Noise in units of ``clip``.
        batch: Expected size of a batch.
        epochs: How often each unit is seen on average.
        clip: Largest norm of one unit's gradient.
        noise: ``gaussian``, or ``laplace`` (pure, and far noisier for more than a few weights).
        poisson: See :class:`~mahrem.learning.private.TrainingPlan`.
        accept_no_amplification: The same.
        descent: What is done with noisy gradients.
        augmentation: In which forms every image is shown at a step; one, as it is, by default.
        start: Public examples to learn from first; by default the weights begin at random.
        rows: The public number of units; by default the ledger's.
        features: Columns to learn from, if a table is fitted; all declared ones by default.
        target: The column to learn, if a table is fitted.
        shape: Shape of one row of features, such as ``(1, 28, 28)``; by default flat.
        device: ``auto``, ``cpu``, ``cuda`` …
        microbatch: So many examples at a time.
        checkpoint: A private file to go on from after an interruption.
        progress: Called with step, steps and the epsilon so far.
        ledger: Pays, where ``fit`` names none.
        seed: For tests only: the run repeats, and **nothing is private**; the guarantee says so.

    Attributes:
        model_: The trained module.
        plan_: The plan.
        guarantee_: The promise in words, with what it idealises.
        cost_: What it cost: epsilon and delta.
    """

    network: str | Callable[..., Any] = "dnn"
    options: Mapping[str, Any] = field(default_factory=dict)
    epsilon: float | None = None
    delta: float | None = None
    noise_multiplier: float | None = None
    batch: float = 256
    epochs: float = 10
    clip: float = 1.0
    noise: str = "gaussian"
    poisson: bool = True
    accept_no_amplification: bool = False
    descent: Descent = field(default_factory=Descent)
    augmentation: Augmentation = field(default_factory=Augmentation)
    start: WarmStart | None = None
    rows: int | None = None
    features: Sequence[str] | None = None
    target: str | None = None
    shape: Sequence[int] | None = None
    device: str = "auto"
    microbatch: int = 256
    checkpoint: str | Path | None = None
    progress: Progress | None = None
    ledger: Ledger | str | Path | None = field(default=None, repr=False)
    seed: int | None = None

    _estimator_type = "classifier"

    def fit(
        self,
        X: object,
        y: object = None,
        *,
        ledger: Ledger | str | Path | None = None,
        units: Integers | None = None,
    ) -> Self:
        """Pay for every planned step, then train; batches and noise come from a fresh secret key.

        Args:
            X: A table the ledger was made for, or ``(n, ...)`` numbers scaled by public constants.
            y: ``(n,)`` targets beside numbers; nothing beside a table.
            ledger: Pays; what does not fit is refused and nothing is computed.
            units: ``(n,)`` whose row it is, beside numbers, where the ledger protects people.

        Raises:
            BudgetExceeded: If it does not fit.
        """
        return self._fit(X, y, Ledger.paying(self.ledger, ledger), units=units)

    def _fit(
        self,
        X: object,
        y: object,
        book: Ledger,
        *,
        units: Integers | None = None,
        stream: SecretStream | None = None,
    ) -> Self:
        """Pay and train; a stream is nobody's to give twice, so it comes from this package alone."""
        self._begin(book.facts, table=y is None and not isinstance(X, np.ndarray))
        plan = self.plan(book)
        inputs, targets, units = self._read(X, y, book, units)
        arrays = (inputs, targets, units)
        # Whatever can be refused is refused before anything is paid.
        if stream is None and self.checkpoint is not None:
            stream = checkpoint_stream(self.checkpoint)  # weights that are not trained come from it again
        steps = self._steps(plan, stream or new_stream(self.seed), *arrays)
        checkpoint = self._checkpoint(inputs.shape[1:], steps.model)
        paid = pay_or_resume(
            book, plan, what=self._title(), stream=steps.stream, checkpoint=checkpoint, arrays=arrays
        )
        steps.stream = stream = paid.stream
        if paid.state is not None:
            steps.load(paid.state)
        digest = data_digest(stream, *arrays) if checkpoint is not None else ""

        def after(now: PrivateSteps) -> None:
            last = now.step == plan.steps
            epoch = max(1, round(plan.rows / plan.batch))
            if checkpoint is not None and (last or now.step % epoch == 0):
                checkpoint.save(paid, plan, now.state(), digest)
            if self.progress is not None and (last or now.step % max(1, min(epoch, plan.steps // 100)) == 0):
                self.progress(now.step, plan.steps, plan.epsilon_after(now.step))

        if checkpoint is not None and paid.state is None:
            checkpoint.save(paid, plan, steps.state(), digest)
        self.model_ = steps.run(after)
        self.plan_, self.shape_ = plan, tuple(inputs.shape[1:])
        self.cost_ = (plan.epsilon, plan.delta)
        self.guarantee_ = plan.guarantee(seeded=stream.seeded) + self._more_words(book)
        return self

    def _trained(self, X: object, y: object, ledger: Ledger, stream: SecretStream) -> Self:
        """Give a trained copy without paying: for who has paid for it in another way."""
        model = replace(self)
        model._begin(ledger.facts, table=False)  # noqa: SLF001 - a copy of this one
        plan = self.plan(ledger)
        arrays = model._read(X, y, ledger, None)  # noqa: SLF001 - the same
        model.model_ = model._steps(plan, stream, *arrays).run()  # noqa: SLF001 - the same
        model.plan_, model.shape_ = plan, tuple(arrays[0].shape[1:])
        return model

    def with_noise(self, noise_multiplier: float) -> Self:
        """Give a copy, untrained, with this noise."""
        return replace(self, epsilon=None, noise_multiplier=noise_multiplier)

    def tried(self, X: object, y: object, ledger: Ledger) -> None:
        """Refuse what a training of these numbers would refuse; nothing is trained or spent."""
        model = replace(self)
        model._begin(ledger.facts, table=False)  # noqa: SLF001 - a copy of this one
        model._steps(self.plan(ledger), new_stream(0), *model._read(X, y, ledger, None))  # noqa: SLF001

    def plan(self, ledger: Ledger) -> TrainingPlan:
        """Make the plan from settings and the ledger's public facts; nothing is spent."""
        rows = declared_rows(self.rows if self.rows is not None else ledger.facts.rows)
        usual = 0.0 if self.noise == "laplace" else ledger.delta
        return TrainingPlan.make(
            rows=rows,
            batch=min(self.batch, rows),
            epochs=self.epochs,
            clip=self.clip,
            noise_multiplier=self.noise_multiplier,
            epsilon=self.epsilon,
            delta=usual if self.delta is None else self.delta,
            noise=self.noise,
            relation=ledger.relation,
            rows_per_person=ledger.unit.rows,
            poisson=self.poisson,
            accept_no_amplification=self.accept_no_amplification,
        )

    def forget(self) -> None:
        """Remove the checkpoint, and the key of the noise with it; call it when the model is safely kept."""
        if self.checkpoint is not None:
            Path(self.checkpoint).unlink(missing_ok=True)

    def outputs(self, X: object) -> Floats:
        """Give the raw outputs of the network."""
        self.refuse_unfitted("model_")
        return network_outputs(self.model_, self._inputs(X))

    def _begin(self, facts: Facts, *, table: bool) -> None:
        self._encoder = (
            PublicInputs(facts=facts, features=declared_features(facts, self.target, self.features))
            if table
            else None
        )

    def _read(
        self, X: object, y: object, book: Ledger, units: Integers | None
    ) -> tuple[Floats, Any, Integers | None]:
        if self._encoder is None:
            if (book.unit.subject is None) != (units is None):
                raise InvalidParameter(
                    f"units: must be given beside numbers exactly where the ledger protects people "
                    f"(subject={book.unit.subject!r})"
                )
            inputs = shaped_rows(quiet_floats(X), self.shape)
            targets = self._targets(inputs, y)
            keep = self._whole(targets)
            return inputs[keep], targets[keep], None if units is None else units[keep]
        source = open_privately(X, book.facts)
        book.refuse_other(X, Reading(), source.columns)
        rows, target, units = read_rows(source, self._encoder, self.target, book.unit.subject)
        inputs = shaped_rows(rows, self.shape)
        targets = self._declared_targets(inputs, target)
        keep = self._whole(targets) & (True if units is None else units > 0)
        return inputs[keep], targets[keep], None if units is None else units[keep]

    def _inputs(self, X: object) -> Floats:
        if self._encoder is not None and not isinstance(X, np.ndarray):
            return shaped_rows(self._encoder(X), self.shape)
        return shaped_rows(quiet_floats(X), self.shape)

    def _module(self, shape: Sequence[int], stream: SecretStream) -> Any:
        torch = torch_of()
        make = network_maker(self.network)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stream.torch_seed("start"))
            module = make(tuple(shape), self._width(shape), **self.options)
            if self.start is not None:
                self._warm_up(self.start, module, tuple(shape))
            return module

    def _warm_up(self, start: WarmStart, module: Any, shape: tuple[int, ...]) -> None:
        torch = torch_of()
        inputs = shaped_rows(quiet_floats(start.inputs), self.shape)
        if inputs.shape[1:] != shape:
            raise InvalidParameter(f"start: its rows have shape {inputs.shape[1:]}, not {shape}")
        targets = self._targets(inputs, start.targets)
        keep = self._whole(targets)
        start(module, self._losses, torch.from_numpy(inputs[keep]), torch.from_numpy(targets[keep]))

    def _steps(
        self, plan: TrainingPlan, stream: SecretStream, inputs: Floats, targets: Any, units: Any
    ) -> PrivateSteps:
        torch = torch_of()
        return self._step_maker(plan)(
            self._module(inputs.shape[1:], stream),
            plan,
            self._losses,
            StepExamples(torch.from_numpy(inputs), torch.from_numpy(targets), units),
            stream=stream,
            descent=self.descent,
            compute=Compute(device=self.device, microbatch=self.microbatch),
            augmentation=self.augmentation,
        )

    def _step_maker(self, plan: TrainingPlan) -> Callable[..., PrivateSteps]:  # noqa: ARG002 - for other kinds
        """Say how steps are made; a kind of network may draw its examples in another way."""
        return PrivateSteps

    def _more_words(self, ledger: Ledger) -> str:  # noqa: ARG002 - for other kinds
        """Say what else the promise means for this kind of network."""
        return ""

    def _checkpoint(self, shape: Sequence[int], module: Any) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        settings = {
            "network": network_digest(self.network, module),
            "options": repr(sorted(self.options.items())),
            "descent": repr(self.descent),
            "augmentation": repr(self.augmentation),
            "start": None if self.start is None else self.start.digest,
            "shape": list(shape),
            "kind": type(self).__name__,
        }
        return Checkpoint(Path(self.checkpoint), settings)

    def _title(self) -> str:
        name = self.network if isinstance(self.network, str) else "own network"
        return f"private training: {name}"

    @abstractmethod
    def _width(self, shape: Sequence[int]) -> int:
        """Say how many outputs the network has."""

    @abstractmethod
    def _losses(self, outputs: Any, targets: Any) -> Any:
        """Give the loss of each example."""

    @abstractmethod
    def _targets(self, inputs: Floats, y: object) -> Any:
        """Read targets that came beside numbers."""

    @abstractmethod
    def _declared_targets(self, inputs: Floats, cells: Floats | None) -> Any:
        """Read targets from the cells of a declared column."""

    @abstractmethod
    def _whole(self, targets: Any) -> Any:
        """Say which rows have a target that can be learnt."""
