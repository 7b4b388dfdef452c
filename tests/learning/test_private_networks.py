"""Private networks as estimators: they learn, pay first, refuse, and go on after an interruption."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch")

from mahrem.dp import Ledger  # noqa: E402 - after the extra was found
from mahrem.errors import BudgetExceeded, InvalidParameter, Tampered  # noqa: E402
from mahrem.learning.private import (  # noqa: E402
    Augmentation,
    PrivateAutoencoder,
    PrivateClassifier,
    PrivateRegressor,
    PublicInputs,
    WarmStart,
)
from mahrem.learning.private.networks._digest import network_digest  # noqa: E402
from mahrem.learning.private.steps import Descent  # noqa: E402

torch.set_num_threads(1)
ROWS = 600
FACTS: dict[str, dict[str, Any]] = {
    "x": {"lower": -3, "upper": 3, "missing": 0},
    "kind": {"categories": ["a", "b"]},
    "y": {"categories": ["no", "yes"]},
    "z": {"lower": -10, "upper": 10},
}


def numbers() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(ROWS, 3)).astype(np.float32)
    return rows, np.where(rows[:, 0] + rows[:, 1] > 0, "yes", "no")


def frame() -> pl.DataFrame:
    rows, labels = numbers()
    kinds = np.where(rows[:, 2] > 0, "a", "b")
    return pl.DataFrame({"x": rows[:, 0] + rows[:, 1], "kind": kinds, "y": labels, "z": 3 * rows[:, 0]})


def book(**said: Any) -> Ledger:
    return Ledger.temporary(**{"epsilon": 8.0, "delta": 1e-5, "rows": ROWS, **said})


def classifier(**said: Any) -> PrivateClassifier:
    given = {"noise_multiplier": 1.0, "batch": 100, "epochs": 4, "classes": ("no", "yes"), "device": "cpu"}
    return PrivateClassifier(**{**given, **said})


def test_a_private_classifier_learns_and_says_what_it_cost() -> None:
    rows, labels = numbers()
    ledger = book()
    model = classifier(network="dnn", options={"hidden": (8,)}, descent=Descent(learning_rate=1.0)).fit(
        rows, labels, ledger=ledger
    )
    assert model.score(rows, labels, openly=True) > 0.85
    assert model.cost_ == (model.plan_.epsilon, 1e-5)
    assert ledger.spent().epsilon == pytest.approx(model.cost_[0], rel=1e-6)
    assert model.predict_proba(rows).sum(axis=1) == pytest.approx(1)
    assert "differentially private" in model.guarantee_
    assert not model.guarantee_.startswith("NOT")


def test_a_table_is_read_by_its_public_facts() -> None:
    model = classifier(network="logistic", target="y", classes=None, features=["x", "kind"])
    model.fit(frame(), ledger=book(columns=FACTS))
    assert model.classes_ == ("no", "yes")
    assert model.score(frame(), frame()["y"].to_numpy(), openly=True) > 0.8
    assert model.predict(frame().with_columns(kind=pl.lit("never seen"), x=None)).shape == (ROWS,)


def test_numbers_and_series_and_rows_can_be_learnt_too() -> None:
    rng = np.random.default_rng(2)
    series = rng.uniform(-1, 1, (ROWS, 4, 2)).astype(np.float32)
    common: dict[str, Any] = {"noise_multiplier": 1.0, "batch": 100, "epochs": 3, "device": "cpu"}
    foretold = PrivateRegressor(network="lstm", options={"hidden": 4}, lower=-1, upper=1, **common)
    foretold.fit(series, series[:, -1, 0], ledger=book())
    assert np.abs(foretold.predict(series)).max() <= 1
    images = rng.normal(size=(200, 1, 16, 16)).astype(np.float32)
    seen = PrivateClassifier(network="cnn", classes=(0, 1), **{**common, "epochs": 0.5})
    seen.fit(images, (images.mean(axis=(1, 2, 3)) > 0).astype(int), ledger=book())
    assert seen.predict(images).shape == (200,)
    squeezed = PrivateAutoencoder(options={"code": 2, "hidden": (4,)}, **common)
    squeezed.fit(series.reshape(ROWS, 8), ledger=book())
    assert squeezed.transform(series.reshape(ROWS, 8)).shape == (ROWS, 2)
    assert squeezed.score(series.reshape(ROWS, 8), openly=True) > -1


def test_what_does_not_fit_is_refused_before_anything_is_computed() -> None:
    rows, labels = numbers()
    ledger = book(epsilon=0.5)
    with pytest.raises(BudgetExceeded):
        classifier().fit(rows, labels, ledger=ledger)
    assert ledger.spent().epsilon == 0
    pure = book(delta=0.0)
    with pytest.raises(BudgetExceeded):
        classifier(delta=1e-5).fit(rows, labels, ledger=pure)


def test_nothing_is_paid_for_a_model_that_is_refused() -> None:
    rows, labels = numbers()
    ledger = book()

    def mixing(shape: tuple[int, ...], outputs: int) -> Any:
        return torch.nn.Sequential(
            torch.nn.Linear(shape[0], 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, outputs)
        )

    with pytest.raises(InvalidParameter, match="BatchNorm1d"):
        classifier(network=mixing).fit(rows, labels, ledger=ledger)
    assert ledger.history() == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"classes": None}, "classes"),
        ({"classes": ("yes",)}, "classes"),
        ({"network": "oracle"}, "network"),
        ({"noise_multiplier": None}, "noise_multiplier"),
        ({"poisson": False}, "accept_no_amplification"),
        ({"shape": (2, 2)}, "shape"),
        ({"device": "toaster"}, "device"),
    ],
)
def test_settings_that_cannot_be_are_refused(said: dict[str, Any], words: str) -> None:
    rows, labels = numbers()
    with pytest.raises(InvalidParameter, match=words):
        classifier(**said).fit(rows, labels, ledger=book())


def test_the_number_of_rows_is_never_counted() -> None:
    rows, labels = numbers()
    with pytest.raises(InvalidParameter, match="never counted"):
        classifier().fit(rows, labels, ledger=book(rows=None))
    said = classifier().fit(rows[:300], labels[:300], ledger=book())
    assert said.plan_.rows == ROWS


def test_a_column_without_public_facts_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="declared"):
        PublicInputs(facts=book(columns=FACTS).facts, features=("secret",))


def test_a_seed_is_marked_as_not_private() -> None:
    rows, labels = numbers()
    one, two = (classifier(seed=7).fit(rows, labels, ledger=book()) for _ in range(2))
    assert one.guarantee_.startswith("NOT PRIVATE")
    assert np.array_equal(one.outputs(rows), two.outputs(rows))


def test_progress_tells_a_growing_epsilon() -> None:
    rows, labels = numbers()
    told: list[tuple[int, int, float]] = []
    model = classifier(progress=lambda *said: told.append(said)).fit(rows, labels, ledger=book())
    assert told[-1][:2] == (24, 24)
    assert told[-1][2] == pytest.approx(model.cost_[0])
    assert [one[2] for one in told] == sorted(one[2] for one in told)


def test_laplace_noise_trains_a_small_model_with_pure_privacy() -> None:
    rows, labels = numbers()
    model = classifier(network="logistic", noise="laplace", noise_multiplier=4.0)
    model.fit(rows, labels, ledger=book(delta=0.0))
    assert model.cost_[1] == 0


class Stop(Exception):
    """What stands for a crash."""


def interrupted(path: Path, ledger: Ledger, after: int) -> None:
    rows, labels = numbers()

    def progress(step: int, steps: int, epsilon: float) -> None:  # noqa: ARG001 - the form of progress
        if step >= after:
            raise Stop

    with pytest.raises(Stop):
        classifier(checkpoint=path, progress=progress).fit(rows, labels, ledger=ledger)


def test_a_training_goes_on_after_a_crash_and_pays_once(tmp_path: Path) -> None:
    rows, labels = numbers()
    ledger, path = book(), tmp_path / "run.checkpoint"
    interrupted(path, ledger, 13)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    paid = ledger.spent().epsilon
    copies = []
    for _ in range(2):
        steps: list[int] = []
        model = classifier(checkpoint=path, progress=lambda step, *_, seen=steps: seen.append(step))
        model.fit(rows, labels, ledger=ledger)
        copies.append(model.outputs(rows))
        assert not steps or steps[0] > 12
    assert ledger.spent().epsilon == paid == pytest.approx(model.cost_[0], rel=1e-6)
    assert np.array_equal(copies[0], copies[1])
    model.forget()
    assert not path.exists()


def test_a_checkpoint_of_another_training_ledger_or_table_is_refused(tmp_path: Path) -> None:
    rows, labels = numbers()
    ledger, path = book(), tmp_path / "run.checkpoint"
    interrupted(path, ledger, 13)
    with pytest.raises(InvalidParameter, match="other settings"):
        classifier(checkpoint=path, epochs=5).fit(rows, labels, ledger=ledger)
    with pytest.raises(InvalidParameter, match="other rows"):
        classifier(checkpoint=path).fit(rows[:-1], labels[:-1], ledger=ledger)
    with pytest.raises(Tampered):
        classifier(checkpoint=path).fit(rows, labels, ledger=book())


def own_network(bend: float) -> Any:
    """A network of one's own; another bend is another body under the same name."""

    def net(shape: Any, width: int) -> Any:
        layer = torch.nn.Linear(int(np.prod(shape)), width)

        class Own(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = layer

            def forward(self, rows: Any) -> Any:
                return self.layer(rows.flatten(1)) * bend

        return Own()

    return net


def test_a_checkpoint_knows_a_network_of_ones_own_by_its_body(tmp_path: Path) -> None:
    rows, labels = numbers()
    ledger, path = book(), tmp_path / "run.checkpoint"
    first = classifier(network=own_network(1.0), checkpoint=path).fit(rows, labels, ledger=ledger)
    again = classifier(network=own_network(1.0), checkpoint=path).fit(rows, labels, ledger=ledger)
    assert np.array_equal(first.outputs(rows), again.outputs(rows))
    for other in (own_network(2.0), "logistic"):
        with pytest.raises(InvalidParameter, match="other settings"):
            classifier(network=other, checkpoint=path).fit(rows, labels, ledger=ledger)


class Bent(torch.nn.Module):
    """A network whose weights look the same whatever bends its answers."""

    def __init__(self, bend: Any) -> None:
        super().__init__()
        self.layer, self.bend = torch.nn.Linear(2, 2), bend

    @property
    def bent(self) -> Any:
        return self.bend

    def forward(self, rows: Any) -> Any:
        return self.layer(rows) * self.bent


class Maker:
    """Makes networks when it is called, or by its method."""

    def __init__(self, bend: float) -> None:
        self.bend = bend

    def __call__(self, *_: object) -> Any:
        return torch.nn.Linear(2, 2)

    make = __call__


def with_property(bend: float) -> Any:
    kept = {"bend": bend}
    return type("Bent", (Bent,), {"bent": property(lambda _: kept["bend"])})


def with_module(bend: float) -> Any:
    helpers = ModuleType("helpers")
    exec(f"def bent(rows): return rows * {bend}", vars(helpers))  # noqa: S102 - as an import does
    return FunctionType(compile("helpers.bent(3)", "", "eval"), {"helpers": helpers})


MADE_OF: dict[str, Callable[[float], tuple[object, Any]]] = {
    "an argument": lambda bend: (partial(Bent, bend=bend), Bent(1.0)),
    "an object that is called": lambda bend: (Maker(bend), torch.nn.Linear(2, 2)),
    "a method": lambda bend: (Maker(bend).make, torch.nn.Linear(2, 2)),
    "an attribute": lambda bend: (Bent, Bent(bend)),
    "a function of torch": lambda bend: (Bent, Bent(torch.tanh if bend > 1 else torch.relu)),
    "a tensor": lambda bend: (Bent, Bent(torch.tensor([bend, 2.0]))),
    "an object": lambda bend: (Bent, Bent(Maker(bend))),
    "objects in a list": lambda bend: (Bent, Bent([1.0, {"bend": (1.0, bend, 1.0)}])),
    "a property": lambda bend: (with_property(bend), with_property(bend)(1.0)),
    "a function of another module": lambda bend: (with_module(bend), torch.nn.Linear(2, 2)),
    "a body": lambda bend: (own_network(bend), own_network(bend)((2,), 2)),
}


@pytest.mark.parametrize("what", MADE_OF)
def test_whatever_a_network_is_made_of_tells_it_from_another(what: str) -> None:
    one, again, other = (network_digest(*MADE_OF[what](bend)) for bend in (1.0, 1.0, 2.0))
    assert one == again
    assert one != other


def test_nothing_public_trains_without_paying() -> None:
    for name in dir(PrivateClassifier):
        assert name.startswith("_") or name not in {"trained", "train"}


def test_a_killed_process_leaves_a_training_that_is_paid_for_and_goes_on(tmp_path: Path) -> None:
    data, home, path = tmp_path / "t.csv", tmp_path / "L", tmp_path / "c"
    frame().write_csv(data)
    Ledger.create(home, data, epsilon=8, delta=1e-5, rows=ROWS, columns=FACTS)
    script = textwrap.dedent(f"""
        import os, signal, torch
        from mahrem.learning.private import PrivateClassifier
        torch.set_num_threads(1)
        def progress(step, steps, epsilon):
            if step > 8:
                os.kill(os.getpid(), signal.SIGKILL)
        PrivateClassifier(network="logistic", target="y", features=["x"], noise_multiplier=1.0, batch=100,
            epochs=4, device="cpu", checkpoint={str(path)!r}, progress=progress,
        ).fit({str(data)!r}, ledger={str(home)!r})
    """)
    done = subprocess.run([sys.executable, "-c", script], env=os.environ, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-500:]
    before = Ledger.open(home).spent().epsilon
    assert before > 0
    model = PrivateClassifier(
        network="logistic",
        target="y",
        features=["x"],
        noise_multiplier=1.0,
        batch=100,
        epochs=4,
        device="cpu",
        checkpoint=path,
    ).fit(data, ledger=home)
    assert Ledger.open(home).spent().epsilon == before
    assert model.score(data, frame()["y"].to_numpy(), openly=True) > 0.7


def test_people_with_several_rows_are_protected_as_one() -> None:
    people = frame().with_columns(who=pl.int_range(ROWS) // 3)
    ledger = book(rows=200, subject="who", rows_per_person=2, columns=FACTS)
    model = classifier(target="y", classes=None, features=["x"], batch=50).fit(people, ledger=ledger)
    assert model.plan_.rows_per_person == 2
    assert "one person with 2 rows" in model.guarantee_
    with pytest.raises(InvalidParameter, match="units"):
        classifier().fit(*numbers(), ledger=ledger)


def test_rows_that_are_not_finite_harm_nobody() -> None:
    rows, labels = numbers()
    rows[5] = np.nan
    rows[6, 1] = np.inf
    model = classifier(network="dnn", options={"hidden": (8,)}).fit(rows, labels, ledger=book())
    assert all(bool(torch.isfinite(one).all()) for one in model.model_.parameters())


def test_a_training_taken_up_again_has_the_same_weights_that_are_not_trained(tmp_path: Path) -> None:
    def half_frozen(shape: tuple[int, ...], outputs: int) -> Any:
        below = torch.nn.Linear(shape[0], 6).requires_grad_(requires_grad=False)
        return torch.nn.Sequential(below, torch.nn.Tanh(), torch.nn.Linear(6, outputs))

    rows, labels = numbers()
    ledger = book()
    models = [
        classifier(network=half_frozen, checkpoint=tmp_path / "c").fit(rows, labels, ledger=ledger)
        for _ in range(2)
    ]
    assert np.array_equal(models[0].outputs(rows), models[1].outputs(rows))
    assert len(ledger.history()) == 1


def test_nothing_is_paid_for_a_model_that_cannot_run() -> None:
    rows, labels = numbers()
    ledger = book()
    with pytest.raises(InvalidParameter, match="rows of shape"):
        classifier(network=lambda _, outputs: torch.nn.Linear(9, outputs)).fit(rows, labels, ledger=ledger)
    with pytest.raises(InvalidParameter, match=r"add up|in-place"):
        classifier(
            network=lambda shape, outputs: torch.nn.Sequential(
                torch.nn.Linear(shape[0], 4), torch.nn.ReLU(inplace=True), torch.nn.Linear(4, outputs)
            )
        ).fit(rows, labels, ledger=ledger)
    assert ledger.history() == []


def test_a_number_too_large_for_the_network_raises_no_warning() -> None:
    rows, labels = numbers()
    wild = rows.astype(np.float64)
    wild[3] = 1e300
    model = classifier(network="logistic", epochs=1).fit(wild, labels, ledger=book())
    assert np.isfinite(model.outputs(rows)).all()


def test_scattering_features_are_those_of_plain_convolutions() -> None:
    from mahrem.learning.private.networks._scattering import _bell, _morlet, scattering_layer

    size, pad = 16, 4
    picture = np.random.default_rng(1).normal(size=(size, size))
    wide = np.pad(picture, pad, mode="reflect")

    def blurred(image: Any) -> Any:
        bell = _bell(*wide.shape, 1.6, 0.0, 1.0)
        found = np.real(np.fft.ifft2(np.fft.fft2(image) * np.fft.fft2(bell / bell.sum())))
        return found[pad : pad + size : 4, pad : pad + size : 4]

    def waves(image: Any, scale: int, turn: int) -> Any:
        wavelet = _morlet(*wide.shape, scale, np.pi * turn / 8)
        return np.abs(np.fft.ifft2(np.fft.fft2(image) * np.fft.fft2(wavelet)))

    layer = scattering_layer((1, size, size))
    found = layer(torch.tensor(picture, dtype=torch.float32)[None, None])[0].numpy()
    assert np.allclose(found[0], blurred(wide), atol=1e-5)
    assert np.allclose(found[3], blurred(waves(wide, 0, 2)), atol=1e-5)
    # Coarse wavelets are taken at every second pixel, so their averages are off by a little.
    assert np.allclose(found[12], blurred(waves(wide, 1, 3)), atol=0.02)
    assert np.allclose(found[17 + 8 * 2 + 5], blurred(waves(waves(wide, 0, 2), 1, 5)), atol=0.02)
    with pytest.raises(InvalidParameter, match="multiples"):
        scattering_layer((1, 15, 16))


def test_scattering_features_and_shifted_copies_are_trained_privately() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 300)
    images = 0.3 * rng.normal(size=(300, 1, 8, 8)).astype(np.float32)
    images[labels == 1, :, ::2] += 1
    model = classifier(
        network="scattering",
        classes=(0, 1),
        clip=0.1,
        descent=Descent(learning_rate=3.0, average=0.5),
        augmentation=Augmentation(copies=2, shift=1),
        rows=300,
    )
    assert model.fit(images, labels, ledger=book(epsilon=20)).score(images, labels, openly=True) > 0.9


def test_a_checkpoint_knows_what_a_network_started_from(tmp_path: Path) -> None:
    rows, labels = numbers()
    ledger, path = book(), tmp_path / "run.checkpoint"
    start = WarmStart(inputs=rows[:100], targets=labels[:100], epochs=1)
    classifier(checkpoint=path, start=start).fit(rows, labels, ledger=ledger)
    other = WarmStart(inputs=rows[:101], targets=labels[:101], epochs=1)
    for wrong in (other, None):
        with pytest.raises(InvalidParameter, match="other settings"):
            classifier(checkpoint=path, start=wrong).fit(rows, labels, ledger=ledger)
    with pytest.raises(InvalidParameter, match="start"):
        narrow = WarmStart(inputs=rows[:, :2], targets=labels)
        classifier(start=narrow).fit(rows, labels, ledger=book())
