"""What ctrl-C does: a sweep ends, a release is made of the best so far."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import mahrem as mh
from mahrem.partition import Partitioner, build_method
from mahrem.pipeline.comparing import _compare

ROLES = {"quasi": ["age", "sex", "zip"], "sensitive": "diagnosis", "rest": "drop"}
LONG = {"seconds": 600.0}


@pytest.fixture
def interrupted() -> Iterator[None]:
    """Ctrl-C after two seconds, also where tests run in the background and Python was told to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    mh.anonymize(
        mh.demo_patients(100), method="kanonymeans*", k=3, options={"evaluations": 1}, **ROLES
    )  # loaded
    timer = threading.Timer(2.0, _thread.interrupt_main)
    timer.start()
    yield
    timer.cancel()
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupted")
def test_an_interrupted_release_is_the_best_so_far() -> None:
    begin = time.monotonic()
    patients = mh.demo_patients(400)  # some ages are missing: it comes in two parts
    release = mh.anonymize(patients, method="kanonymeans*", k=3, options=LONG, **ROLES)
    assert release.holds
    assert time.monotonic() - begin < 300


@pytest.mark.usefixtures("interrupted")
def test_an_interrupt_ends_the_sweep() -> None:
    with pytest.raises(KeyboardInterrupt):
        mh.compare(mh.demo_patients(400), methods=["kanonymeans*"], ks=[3], options=LONG, **ROLES)


def test_warming_up_does_not_take_the_time_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    def recording(name: str, **settings: Any) -> Partitioner:
        seen.append(settings["options"])
        return build_method(name, **settings)

    monkeypatch.setattr(_compare, "build_method", recording)
    mh.compare(mh.demo_patients(60), methods=["kanonymeans*"], ks=[3], options={"seconds": 0.1}, **ROLES)
    assert [(options["seconds"], options["evaluations"]) for options in seen] == [(None, 1)]
