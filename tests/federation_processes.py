"""Federations of real processes on loopback, and one end of Flower's wire for tests without any."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mahrem.federated.flower import Federation, FlowerNode
from mahrem.federated.flower._connection import need_flower
from mahrem.federated.flower._door import make_reply, pem_of
from mahrem.federated.runs import ClientSettings

PATIENCE = 120.0  # seconds, on a machine that has much else to do


def load_flower(missing_part: Callable[[str], None]) -> None:
    """Load Flower, or skip where it is not installed."""
    try:
        need_flower()
    except ImportError:
        missing_part("Flower is not installed")


@dataclass
class Processes:
    """A federation's folder and the processes that were started for it.

    Tables lie beside the folder, named after their clients; ``options`` are those of every client.
    """

    folder: Path
    names: tuple[str, ...]
    options: tuple[str, ...] = ()
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def federation(self) -> Federation:
        return Federation.read(self.folder / "federation.toml")

    def key(self, name: str) -> Path:
        return self.folder / "clients" / f"{name}.key"

    @property
    def consent(self) -> tuple[str, ...]:
        """What an owner says who agreed to the plan and has the others' keys from themselves."""
        return ("--yes", *(word for file in known_keys(self.folder) for word in ("--known", file)))

    def table(self, name: str) -> Path:
        return self.folder.parent / f"{name}.csv"

    def start(self, name: str, *arguments: object, first: Path | None = None) -> None:
        """Start a process; what lies in ``first`` is found before what is installed."""
        paths = [str(first)] if first else []
        found = os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])
        with self.log(name).open("wb") as file:
            self.running[name] = subprocess.Popen(
                [sys.executable, "-m", "mahrem", "federate", *map(str, arguments)],
                stderr=file,
                stdout=subprocess.DEVNULL,
                cwd=self.folder.parent,
                env={**os.environ, "PYTHONPATH": found},
            )

    def start_other_version(self, name: str, version: str) -> None:
        """Start a client on whose machine another version is installed."""
        first = self.folder.parent / "installed"
        about = first / f"mahrem-{version}.dist-info" / "METADATA"
        about.parent.mkdir(parents=True)
        about.write_text(f"Metadata-Version: 2.1\nName: mahrem\nVersion: {version}\n", encoding="utf-8")
        file, key = self.folder / "federation.toml", self.key(name)
        words = ("client", file, self.table(self.names[0]), "--key", key, *self.consent)
        self.start(name, *words, first=first)
        self.wait(name, "connected")

    def log(self, name: str) -> Path:
        return self.folder.parent / f"{name}.log"

    def wait(self, name: str, word: str) -> None:
        end = time.monotonic() + PATIENCE
        while word not in self.log(name).read_text():
            assert self.running[name].poll() is None, self.log(name).read_text()
            assert time.monotonic() < end, self.log(name).read_text()
            time.sleep(0.05)

    def served(self) -> None:
        if "server" not in self.running:
            self.start("server", "server", self.folder)
            self.wait("server", "listening")

    def everybody(self) -> None:
        """Start whoever does not run; some tests end processes."""
        self.served()
        missing = [name for name in self.names if name not in self.running]
        for name in missing:
            file = self.folder / "federation.toml"
            words = ("client", file, self.table(name), "--key", self.key(name), *self.consent)
            self.start(name, *words, *self.options)
        for name in missing:
            self.wait(name, "connected")

    def end(self, name: str, how: int = signal.SIGTERM) -> None:
        if name not in self.running:
            return
        process = self.running.pop(name)
        process.send_signal(how)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=10)

    def end_all(self) -> None:
        for process in self.running.values():
            process.terminate()
        for name in list(self.running):
            self.end(name)


def known_keys(folder: Path) -> tuple[str, ...]:
    """Name the public keys that were made with a federation."""
    return tuple(map(str, sorted((folder / "clients").glob("*.pub"))))


def agreeing(folder: Path, **more: Any) -> ClientSettings:
    """Give the settings of an owner who knows the members, and what is told without noise and twice."""
    return ClientSettings(known=known_keys(folder), despite=("exact", "noiseless", "pair", "asked"), **more)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Answering(threading.Thread):
    """A client in this process, to misbehave."""

    def __init__(self, node: FlowerNode) -> None:
        super().__init__(daemon=True)
        self.node = node

    def run(self) -> None:
        with suppress(SystemExit):
            self.node.run()

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_: object) -> None:
        self.node.stop()
        self.join(timeout=15)
        assert not self.is_alive()


@dataclass
class Wire:
    """Stands where Flower's server stands: takes questions, lets the nodes answer, gives the answers."""

    nodes: Mapping[str, FlowerNode]
    tamper: Callable[[Wire, str, Any], Any] = lambda _wire, _name, head: head
    answers: list[Any] = field(default_factory=list)
    older: dict[str, Any] = field(default_factory=dict)

    def ask(self, path: str, request: Any) -> Any:
        asked = {
            "runtime/get-nodes": self._nodes,
            "runtime/push-messages": self._push,
            "runtime/pull-messages": self._pull,
        }
        return asked[path](request)

    def _nodes(self, _: Any) -> Any:
        return SimpleNamespace(
            nodes=[
                SimpleNamespace(node_id=number, public_key=pem_of(node.key.public_key()))
                for number, node in enumerate(self.nodes.values(), 1)
            ]
        )

    def _push(self, request: Any) -> None:
        for head in request.messages_list:
            name = list(self.nodes)[head.metadata.dst_node_id - 1]
            answer = make_reply(head, self.nodes[name]._answered(head), time.time())
            self.answers.append(self.tamper(self, name, answer))

    def _pull(self, request: Any) -> Any:
        found = [head for head in self.answers if head.metadata.reply_to_message_id in request.message_ids]
        self.answers.clear()
        return SimpleNamespace(messages_list=found)
