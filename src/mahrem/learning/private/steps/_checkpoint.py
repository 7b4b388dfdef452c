"""Checkpoints of a private training: where it stood, which plan it follows, and which spend paid for it.

A checkpoint holds the key of the noise, so it is as secret as the data: it is readable by its owner alone and
removed when the training is done. Taking one up again draws the same batches and the same noise, so nothing
new is learnt about anybody and nothing is paid twice.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mahrem.dp import Ledger
from mahrem.dp.accounting import event_to_dict
from mahrem.errors import InvalidInput, InvalidParameter, OutputFailed, Tampered
from mahrem.files import appearing
from mahrem.learning.private._secret_stream import SecretStream, stream_from
from mahrem.learning.private.steps._example_gradients import torch_of
from mahrem.learning.private.steps._plan import TrainingPlan

FORMAT = "mahrem-training-1"


@dataclass(frozen=True)
class PaidTraining:
    """A training that was paid for: with which stream it runs, and from which state it goes on."""

    stream: SecretStream
    sequence: int
    what: str
    state: dict[str, Any] | None = None


@dataclass(frozen=True)
class Checkpoint:
    """The file of a training that may be interrupted.

    Args:
        path: Where it lies.
        settings: What else the training depends on, as plain data; another training is refused.
    """

    path: Path
    settings: Mapping[str, Any]

    def save(self, paid: PaidTraining, plan: TrainingPlan, state: dict[str, Any], digest: str) -> None:
        """Write it whole or not at all, for its owner alone."""
        torch = torch_of()
        content = {
            "format": FORMAT,
            "plan": plan.as_dict(),
            "settings": dict(self.settings),
            "stream": {"key": paid.stream.key.hex(), "seeded": paid.stream.seeded},
            "ledger": {"sequence": paid.sequence, "what": paid.what},
            "data": digest,
            "state": state,
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with appearing(self.path, durable=True) as stream:
                torch.save(content, stream)
        except OSError as error:
            raise OutputFailed(
                f"checkpoint={self.path.name!r} cannot be written: {error.strerror}"
            ) from error

    def load(self) -> dict[str, Any]:
        """Read it."""
        torch = torch_of()
        try:
            content: dict[str, object] = torch.load(self.path, map_location="cpu", weights_only=True)
            known = content["format"] == FORMAT
        except Exception as error:
            raise InvalidInput(f"checkpoint={self.path.name!r} cannot be read") from error
        if not known:
            raise InvalidInput(f"checkpoint={self.path.name!r} was written by another version")
        return content


def data_digest(stream: SecretStream, *arrays: Any) -> str:
    """Fingerprint rows with the secret key: the same noise on other rows would give people away."""
    digest = hmac.new(stream.key, digestmod=hashlib.sha256)
    for array in arrays:
        if array is not None:
            digest.update(f"{array.shape}{array.dtype}".encode())
            digest.update(memoryview(array).cast("B") if array.size else b"")
    return digest.hexdigest()


def pay_or_resume(
    ledger: Ledger,
    plan: TrainingPlan,
    *,
    what: str,
    stream: SecretStream,
    checkpoint: Checkpoint | None,
    arrays: tuple[Any, ...],
) -> PaidTraining:
    """Pay for all planned steps before the first one, or go on with a training that was paid for.

    Raises:
        BudgetExceeded: If the plan does not fit; nothing was computed.
        Tampered: If the checkpoint names a spend that this ledger does not hold.
        InvalidParameter: If the checkpoint belongs to another plan, other settings or other rows.
    """
    if checkpoint is None or not checkpoint.path.exists():
        title = f"{what} (run {secrets.token_hex(4)})"
        record = ledger.spend(plan.event, what=title, delta=plan.delta)
        return PaidTraining(stream, record.sequence, title)
    content = checkpoint.load()
    name = checkpoint.path.name
    if TrainingPlan.from_dict(content["plan"]) != plan or content["settings"] != dict(checkpoint.settings):
        raise InvalidParameter(
            f"checkpoint={name!r} belongs to a training with other settings; repeat those, or remove it "
            f"(what it paid stays paid)"
        )
    spend = content["ledger"]
    wanted = {**spend, "kind": "spend", "event": event_to_dict(plan.event)}
    if not any(all(line.get(key) == value for key, value in wanted.items()) for line in ledger.history()):
        raise Tampered(f"checkpoint={name!r} names a spend that is not in this ledger")
    saved_stream = stream_from(content["stream"])
    if data_digest(saved_stream, *arrays) != content["data"]:
        raise InvalidParameter(
            f"checkpoint={name!r} was made with other rows; the same noise on them would give people away"
        )
    return PaidTraining(saved_stream, spend["sequence"], spend["what"], content["state"])


def checkpoint_stream(path: str | Path) -> SecretStream | None:
    """Give the stream of a checkpoint; None if there is no such file."""
    file = Path(path)
    return stream_from(Checkpoint(file, {}).load()["stream"]) if file.exists() else None
