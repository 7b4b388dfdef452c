from __future__ import annotations

import numpy as np

from mahrem.federated.sums._question import InnerQuestion
from mahrem.federated.wire import Message, digest_message


def test_a_question_comes_back_from_the_step_it_travelled_in() -> None:
    question = Message("counts", "run", 3, {"kind": "of cell", "names": [1], "sets": np.arange(3)})
    step = Message("sum-masked", "run", 3, {"names": ["a"], **InnerQuestion.of(question).as_body()})
    read = InnerQuestion.read(step)
    assert (read.kind, sorted(read.body)) == ("counts", ["kind", "names", "sets"])
    assert digest_message(read) == digest_message(question)
    assert step.body["names"] == ["a"]
