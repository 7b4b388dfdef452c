"""How good is private training on MNIST? Recipes are compared on images kept away; the best is tested.

    PYTHONPATH=src python benchmarks/bench_dp_sgd.py --data FOLDER --device cuda --epsilon 3 --sweep --runs 3

The folder holds the four gzipped files of MNIST. Torch, NumPy, ``src`` and ``dp_sgd_plans.json`` beside this
file are all it needs: the noise of every recipe was found by privacy loss distributions and stands there;
``--write-plans`` finds it again, with the extra ``dp``. ``--sweep`` trains every recipe on 50,000 images,
scores it on the 10,000 others of the training set, and trains the best on all 60,000; the test images are
looked at once. Choosing among recipes is not paid for.

Features are computed once for every shift of an image; a step looks up those it draws, so that it costs what
its linear layer or its small network costs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mahrem.learning.private._secret_stream import new_stream
from mahrem.learning.private.networks._scattering import CHANNELS, scattering_layer
from mahrem.learning.private.steps._descent import Augmentation, Compute, Descent
from mahrem.learning.private.steps._plan import TrainingPlan
from mahrem.learning.private.steps._private_steps import PrivateSteps, StepExamples

ROWS, KEPT = 60_000, 10_000
PLANS = Path(__file__).with_name("dp_sgd_plans.json")
MIDDLE, SPREAD = 0.1307, 0.3081
FEATURES = (CHANNELS, 7, 7)
nn = torch.nn


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A network and how it is trained; ``shift`` pixels in each direction, ``copies`` of each image."""

    network: str = "linear"
    batch: int = 8192
    epochs: float = 60
    clip: float = 0.1
    copies: int = 1
    shift: int = 0
    descent: Descent = field(default_factory=lambda: Descent(learning_rate=16, average=0.99))


def _recipe(network: str, batch: int, epochs: float, rate: float, more: dict[str, Any]) -> Recipe:
    own = {name: more[name] for name in ("clip", "copies", "shift") if name in more}
    steps = {name: more[name] for name in ("momentum", "average", "schedule") if name in more}
    descent = Descent(learning_rate=rate, **{"average": 0.99, "momentum": 0.9, **steps})
    return Recipe(network=network, batch=batch, epochs=epochs, descent=descent, **own)


FAR = {"copies": 16, "shift": 2}
NEAR = {"copies": 8, "shift": 1}
NETWORK = {"clip": 1.0, **NEAR}
RATES = (1.0, 3.0, 10.0, 30.0)
RECIPES = {
    **{f"linear, rate {rate:g}": _recipe("linear", 8192, 60, rate, {}) for rate in RATES},
    **{f"linear, near, rate {rate:g}": _recipe("linear", 8192, 60, rate, NEAR) for rate in RATES},
    "linear, far": _recipe("linear", 8192, 60, 3.0, FAR),
    "linear, near, longer": _recipe("linear", 8192, 120, 3.0, NEAR),
    **{
        f"small, near, rate {rate:g}": _recipe("small", 4096, 60, rate, NETWORK)
        for rate in (0.1, 0.3, 0.5, 1.0)
    },
    "small, as they are": _recipe("small", 4096, 60, 0.3, {"clip": 1.0}),
    "small, near, large batch": _recipe("small", 8192, 100, 0.3, NETWORK),
    **{f"wide, near, rate {rate:g}": _recipe("wide", 8192, 100, rate, NETWORK) for rate in (0.1, 0.3, 1.0)},
    "wide, far": _recipe("wide", 8192, 100, 0.3, {**NETWORK, **FAR}),
}


def main() -> None:
    """Run what was asked for."""
    options = _options()
    chosen = {name: RECIPES[name] for name in (options.recipe or RECIPES)}
    chosen = {name: _changed(recipe, options.set) for name, recipe in chosen.items()}
    if options.write_plans:
        _write_plans(chosen, options)
        return
    plans = json.loads(Path(options.plans).read_text(encoding="utf-8"))
    most = max(recipe.shift for recipe in chosen.values())
    data = Digits.load(Path(options.data), options.device, most, options.images)
    best = None
    if options.sweep:
        scores = {}
        for name, recipe in chosen.items():
            scores[name] = _run(data.without_tested(KEPT), name, recipe, options, plans, "validation")
            print(json.dumps(scores[name]), flush=True)
        best = max(scores, key=lambda name: scores[name]["accuracy"])
        chosen = {best: chosen[best]}
    for name, recipe in chosen.items():
        found = [_run(data, name, recipe, options, plans, "test", seed=seed) for seed in range(options.runs)]
        for one in found:
            print(json.dumps(one), flush=True)
        mean = float(np.mean([one["accuracy"] for one in found]))
        print(json.dumps({"recipe": name, "runs": len(found), "mean test accuracy": mean}), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", required=True, help="folder with MNIST's gzipped files")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epsilon", type=float, default=3.0)
    parser.add_argument("--delta", type=float, default=1e-5)
    parser.add_argument("--sweep", action="store_true", help="choose on images kept away, then test the best")
    parser.add_argument("--recipe", action="append", choices=RECIPES, help="only these")
    parser.add_argument("--set", action="append", default=[], help="change a number: epochs=30, rate=2 …")
    parser.add_argument("--runs", type=int, default=1, help="runs of what is tested")
    parser.add_argument("--images", type=int, default=ROWS, help="use so many, to try the script out")
    parser.add_argument("--plans", default=PLANS, help="noise of the recipes, written by --write-plans")
    parser.add_argument("--write-plans", help="find the noise of the recipes and write it there")
    return parser.parse_args()


def _changed(recipe: Recipe, said: list[str]) -> Recipe:
    for one in said:
        name, _, value = one.partition("=")
        if name in {"rate", "momentum", "average"}:
            own = "learning_rate" if name == "rate" else name
            changed: dict[str, Any] = {own: float(value)}
            recipe = replace(recipe, descent=replace(recipe.descent, **changed))
        else:
            recipe = replace(recipe, **{name: type(getattr(recipe, name))(float(value))})
    return recipe


def _plan(rows: int, recipe: Recipe, options: argparse.Namespace, plans: dict[str, float]) -> TrainingPlan:
    """Make the plan with noise that was found before, or find it."""
    batch = min(recipe.batch, rows)
    known = plans.get(_key(rows, recipe, options))
    promise = {"epsilon": options.epsilon} if known is None else {"noise_multiplier": known}
    return TrainingPlan.make(
        rows=rows, batch=batch, epochs=recipe.epochs, clip=recipe.clip, delta=options.delta, **promise
    )


def _key(rows: int, recipe: Recipe, options: argparse.Namespace) -> str:
    return f"{rows} {recipe.batch} {recipe.epochs:g} {options.epsilon:g} {options.delta:g}"


def _write_plans(recipes: dict[str, Recipe], options: argparse.Namespace) -> None:
    found: dict[str, float] = {}
    for recipe in recipes.values():
        for rows in (ROWS, ROWS - KEPT):
            key = _key(rows, recipe, options)
            found.setdefault(key, _plan(rows, recipe, options, found).noise_multiplier)
    Path(options.write_plans).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Digits:
    """Features of every shift of every image: ``(images * shifts, *FEATURES)`` in half precision."""

    features: torch.Tensor
    labels: torch.Tensor
    tested: torch.Tensor  # features of unshifted images
    truth: torch.Tensor
    shifts: int

    @classmethod
    def load(cls, folder: Path, device: str, most: int, images: int) -> Digits:
        """Read MNIST and compute features."""
        start = time.perf_counter()
        steps = sorted(
            ((down, right) for down in range(-most, most + 1) for right in range(-most, most + 1)),
            key=lambda step: max(map(abs, step)),  # those within a smaller reach come first
        )
        layer = nn.Sequential(scattering_layer((1, 28, 28)), nn.GroupNorm(27, CHANNELS, affine=False))
        layer = layer.to(device).eval()
        sides: list[Any] = []
        for part, moves in (("train", steps), ("t10k", steps[:1])):
            pixels = _numbers(folder / f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)[:images]
            shades = torch.from_numpy(pixels.copy()).to(device).float().div_(255).sub_(MIDDLE).div_(SPREAD)
            labels = torch.from_numpy(_numbers(folder / f"{part}-labels-idx1-ubyte.gz", 8)[:images].copy())
            sides += [_features(layer, shades, moves), labels.long().to(device)]
        print(f"# features of {len(steps)} shifts: {time.perf_counter() - start:.0f} s", flush=True)
        return cls(sides[0], sides[1], sides[2], sides[3], len(steps))

    def without_tested(self, count: int) -> Digits:
        """Keep the last training images away, to be scored on."""
        count = min(count, len(self.labels) // 6)
        cut = (len(self.labels) - count) * self.shifts
        kept = self.features[cut :: self.shifts]
        return replace(
            self, features=self.features[:cut], labels=self.labels[:-count], tested=kept,
            truth=self.labels[-count:],
        )  # fmt: skip


def _numbers(path: Path, head: int) -> Any:
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=head)


@torch.no_grad()
def _features(layer: Any, shades: torch.Tensor, moves: list[tuple[int, int]]) -> torch.Tensor:
    found = torch.empty((len(shades), len(moves), *FEATURES), dtype=torch.float16, device=shades.device)
    padded = nn.functional.pad(shades, (4,) * 4, mode="replicate")
    part = 4096 if shades.is_cuda else 256
    for place, (down, right) in enumerate(moves):
        moved = padded[:, :, 4 + down : 32 + down, 4 + right : 32 + right]
        for start in range(0, len(shades), part):
            found[start : start + part, place] = layer(moved[start : start + part]).half()
    return found.flatten(0, 1)


class LookUp(nn.Module):
    """Gives the features of an image and shift by their number."""

    def __init__(self, features: torch.Tensor) -> None:
        super().__init__()
        self.features = features  # no buffer: nothing of it belongs to the model

    def forward(self, places: torch.Tensor) -> torch.Tensor:
        """Look them up."""
        return self.features[places[:, 0]].float()


@dataclass(frozen=True, kw_only=True)
class Shifts(Augmentation):
    """Copies of an image are its shifts, drawn at random by their number."""

    of: int = 1  # shifts that were computed
    within: int = 1  # those that are drawn from

    def refuse(self, shape: tuple[int, ...]) -> None:
        """Take numbers of images."""

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Draw the number of a shift for every copy."""
        places = rows.repeat_interleave(self.copies, 0) * self.of
        return places + torch.randint(0, self.within, places.shape, device=places.device)


def _network(kind: str) -> nn.Sequential:
    """Make what is trained on the features."""
    if kind == "linear":
        layer = nn.Linear(math.prod(FEATURES), 10)
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
        return nn.Sequential(nn.Flatten(), layer)
    wide = {"small": 32, "wide": 96}[kind]
    return nn.Sequential(
        nn.Conv2d(CHANNELS, wide, 3, padding=1),
        nn.Tanh(),
        nn.GroupNorm(wide // 8, wide),
        nn.Flatten(),
        nn.Linear(wide * 49, 10),
    )


def _losses(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(outputs, targets, reduction="none")


def _run(
    data: Digits,
    name: str,
    recipe: Recipe,
    options: argparse.Namespace,
    plans: dict[str, float],
    on: str,
    *,
    seed: int = 0,
) -> dict[str, Any]:
    start = time.perf_counter()
    rows = len(data.labels)
    plan = _plan(rows, recipe, options, plans)
    stream = new_stream(seed)  # so that a run repeats; a model that is handed out must not have one
    torch.manual_seed(stream.torch_seed("start"))
    network = _network(recipe.network)
    numbers = torch.arange(rows)[:, None]
    cuda = options.device != "cpu"
    steps = PrivateSteps(
        nn.Sequential(LookUp(data.features), network),
        plan,
        _losses,
        StepExamples(numbers, data.labels),
        stream=stream,
        descent=recipe.descent,
        compute=Compute(device=options.device, microbatch=16_384 if cuda else 1024),
        augmentation=Shifts(copies=recipe.copies, of=data.shifts, within=(2 * recipe.shift + 1) ** 2),
    )
    steps.run()
    with torch.no_grad():
        parts = [network(part.float()).argmax(1) for part in torch.split(data.tested, 2000)]
    right = float((torch.cat(parts) == data.truth).float().mean())
    return {
        "recipe": name,
        "on": on,
        "accuracy": right,
        "rows": rows,
        "epsilon": options.epsilon,
        "delta": plan.delta,
        "steps": plan.steps,
        "noise": round(plan.noise_multiplier, 4),
        "settings": repr(recipe),
        "seconds": round(time.perf_counter() - start, 1),
    }


if __name__ == "__main__":
    main()
