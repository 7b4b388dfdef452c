"""A question that travels inside a step of a sum."""

from __future__ import annotations

from typing import Any

from mahrem.federated.wire import Message

_INNER = "q-"  # before the names of the question's own body; nothing else of a step begins so


class InnerQuestion(Message):
    """What a sum is about: the kind and body that each client counts by, whole inside another message."""

    def as_body(self) -> dict[str, Any]:
        """Give it as a part of a step's body."""
        return {"kind": self.kind, **{f"{_INNER}{name}": value for name, value in self.body.items()}}

    @classmethod
    def of(cls, question: Message) -> InnerQuestion:
        """Take the question of a sum."""
        return cls(question.kind, question.run, question.round, question.body)

    @classmethod
    def read(cls, step: Message) -> InnerQuestion:
        """Read it from a step, of whose run and round it is."""
        inner = {
            name.removeprefix(_INNER): value for name, value in step.body.items() if name.startswith(_INNER)
        }
        return cls(step.body["kind"], step.run, step.round, inner)
